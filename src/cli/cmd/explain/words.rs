//! Words that stand in no list: those of the matrix, of searches, of arrivals, and of events, and keys of scenarios.

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use super::super::list::faults::{circumstances, timing};
use super::shown_by;
use super::subjects::Subject;
use crate::checker::{EventKind, ServiceEventKind};
use crate::scenarios::keys::reference::{tables, without};
use crate::scenarios::matrix::Word;

/// What a cell of the matrix says.
pub(super) fn of_matrix() -> impl Iterator<Item = Subject> {
    let words = Word::ALL.into_iter();
    words.map(|word| of(word.name(), "a word of the matrix", word.meaning()))
}

/// The ways to search, and how chance is drawn, as `hunt`, `yield`, and stories name them.
const SEARCHES: &[(&str, &str, &str)] = &[
    ("file", "a way of `yield`", "runs the scenario as it stands"),
    (
        "aimed",
        "a way to search",
        "a run without faults teaches which moments there are, and faults are tried at them",
    ),
    (
        "nearer",
        "a way to search",
        "plans like those whose runs came nearest to an overlap are tried",
    ),
    (
        "drawn",
        "a way to search",
        "faults are drawn for each run, with each strategy of chance in turn",
    ),
    (
        "hunt",
        "a way of `yield`",
        "all ways of a hunt, which share the runs",
    ),
    ("even", "a strategy of chance", "every choice has even odds"),
    (
        "extremes",
        "a strategy of chance",
        "of each choice the least or the greatest comes, nothing between",
    ),
    (
        "delays",
        "a strategy of chance",
        "everything is as fast as it can be, but for so many choices that are as slow as can be",
    ),
    (
        "priorities",
        "a strategy of chance",
        "each link has a speed of its own, which changes so many times in a run",
    ),
    (
        "orders",
        "a strategy of chance",
        "of the orders in which messages can arrive at a place each has even odds",
    ),
];

/// Those of searches.
pub(super) fn of_searches() -> impl Iterator<Item = Subject> {
    SEARCHES
        .iter()
        .map(|(name, what, meaning)| of(name, what, meaning))
}

/// How contenders arrive: `arrive` of a scenario.
const ARRIVALS: &[(&str, &str)] = &[
    ("together", "all contenders arrive at once"),
    (
        "in-order",
        "each arrives when the one before it holds the lock or waits for it",
    ),
    (
        "behind-holder",
        "the first takes the lock and keeps it until all others wait",
    ),
    (
        "in-order-behind-holder",
        "the same as `behind-holder`, and the others set out in their order",
    ),
];

/// Those of arrivals.
pub(super) fn of_arrivals() -> impl Iterator<Item = Subject> {
    ARRIVALS
        .iter()
        .map(|(name, meaning)| of(name, "an arrival of contenders", meaning))
}

/// What histories say, as `--json` writes it.
pub(super) fn of_events() -> impl Iterator<Item = Subject> {
    let events = documented::<EventKind>().into_iter();
    let events = events.map(|(name, meaning)| of(&name, "an event of a history", &meaning));
    let service = documented::<ServiceEventKind>().into_iter();
    events.chain(service.map(|(name, meaning)| of(&name, "what a server did or found", &meaning)))
}

/// The keys of scenario files, but for those that are listed beside faults.
pub(super) fn of_keys() -> Vec<Subject> {
    let listed = timing().into_iter().chain(circumstances());
    let listed: Vec<&str> = listed.map(|row| row.name).collect();
    let mut keys = Vec::new();
    for table in tables() {
        let what = match table.title {
            "The head" => "a key at the head of a scenario file".to_owned(),
            title => format!("a key of {title}"),
        };
        for key in table.keys().filter(|key| !listed.contains(&key.name)) {
            let without = Some(without(key)).filter(|without| !without.is_empty());
            let without = without.map(|without| format!("without it: {}", unlinked(&without)));
            keys.push(of(key.name, &what, &unlinked(key.means)).with(without));
        }
    }
    keys
}

/// The text without the addresses of its links.
fn unlinked(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("](") {
        let (ahead, words) = before.rsplit_once('[').unwrap_or(("", before));
        plain.push_str(ahead);
        plain.push_str(words);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

fn of(name: &str, what: &str, meaning: &str) -> Subject {
    Subject::of(name, what, meaning, shown_by::nothing())
}

/// The variants of a type, each with its first sentence.
fn documented<T: JsonSchema>() -> Vec<(String, String)> {
    let schema = schema_for!(T).to_value();
    let variants = schema.get("oneOf").and_then(Value::as_array);
    let variants = variants.into_iter().flatten();
    let named = variants.filter_map(|variant| {
        let meaning = variant.get("description").and_then(Value::as_str)?;
        let one = variant.get("const").and_then(Value::as_str);
        let of_fields = || {
            let fields = variant.get("required").and_then(Value::as_array)?;
            fields.first().and_then(Value::as_str)
        };
        let name = one.or_else(of_fields)?;
        Some((name.to_owned(), meaning.replace('\n', " ")))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios::search::detection_rate::PlanSource;
    use crate::scenarios::search::portfolio::{SearchStrategy, strategy_name};

    #[test]
    fn every_way_strategy_and_arrival_has_its_row() {
        let rows: Vec<&str> = SEARCHES.iter().map(|search| search.0).collect();
        for way in PlanSource::ALL.iter().filter(|way| way.name() != "swarm") {
            assert!(rows.contains(&way.name()), "{}", way.name());
        }
        for way in SearchStrategy::ALL {
            assert!(rows.contains(&way.name()), "{}", way.name());
            if let SearchStrategy::Drawn(strategy) = way {
                let name = strategy_name(strategy);
                let word = name.split(' ').next().unwrap_or_default();
                assert!(rows.contains(&word), "{name}");
            }
        }
    }

    #[test]
    fn every_event_of_a_history_has_a_name_and_a_meaning() {
        assert!(documented::<EventKind>().len() > 30);
        assert!(documented::<ServiceEventKind>().len() > 10);
    }
}
