//! The rows of keys beside the parser: it knows the same keys, bounds, words, and defaults. The reference of the format
//! and the schema for editors are made of these rows.

use std::collections::BTreeSet;

use picklock_scenarios::keys::{Holds, default_value};
use picklock_scenarios::{Catalogue, Diagnostic, parse, write};

use crate::common::key_tables::{context, each, freed, line};

fn read(text: &str) -> Result<String, Vec<Diagnostic>> {
    let scenario = parse("test", text, &Catalogue::EVERYTHING)?;
    Ok(scenario
        .cases
        .iter()
        .map(|case| write(&scenario, case))
        .collect())
}

/// What the parser says of a table with this line in it.
fn told(place: &str, line: &str) -> Vec<Diagnostic> {
    read(&place.replace('@', line)).err().unwrap_or_default()
}

/// The names in backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_parser_knows_the_keys_that_are_listed_and_no_others() {
    for (table, place) in each() {
        assert!(read(&place.replace('@', "")).is_ok(), "{place}");
        let mistakes = told(&place, "zzzz = 1");
        let unknown = mistakes
            .iter()
            .find(|mistake| mistake.message == "unknown key `zzzz`");
        let unknown = unknown.unwrap_or_else(|| panic!("{}: {mistakes:?}", table.title));
        let listed: BTreeSet<&str> = table.keys().map(|key| key.name).collect();
        // The nearest are shown, and each that is listed is known.
        let nearest = quoted(&unknown.help[0]);
        assert!(
            !nearest.is_empty() && nearest.is_subset(&listed),
            "{nearest:?}"
        );
        for key in table.keys() {
            let said = told(&freed(&place, key), &line(&table, key, "zzzz = []"));
            let unknown = format!("unknown key `{}`", key.name);
            assert!(!said.iter().any(|mistake| mistake.message == unknown));
        }
        assert_eq!(listed.len(), table.keys().count(), "{}", table.title);
    }
}

#[test]
fn keys_that_are_needed_are_missed() {
    for (table, place) in each() {
        for key in table.keys().filter(|key| key.is_needed) {
            let is_it = |line: &str| {
                let said = line.strip_prefix(key.name);
                let said = said.is_some_and(|rest| rest.starts_with([' ', '.']));
                said || key.name == "case"
                    && ["[[case]]", "algorithm"]
                        .iter()
                        .any(|word| line.starts_with(word))
            };
            let without = place.lines().filter(|line| !is_it(line));
            let text = without.collect::<Vec<_>>().join("\n");
            let missing = format!("`{}` is missing", key.name);
            let told = told(&text, "");
            assert!(
                told.iter().any(|mistake| mistake.message == missing),
                "{}: {told:?}",
                table.title
            );
        }
    }
}

#[test]
fn numbers_have_the_bounds_that_are_listed() {
    let mut bounds = 0;
    for (table, place) in each() {
        for key in table.keys() {
            let (least, most) = match key.holds {
                Holds::Whole(least, most) | Holds::WholeOrRange(least, most) => (least, most),
                Holds::OneOrList(Holds::Whole(least, most)) => (*least, *most),
                _ => continue,
            };
            bounds += 1;
            let value = match least.checked_sub(1) {
                Some(less) if least > i64::MIN => less.to_string(),
                _ => unreachable!("nothing is listed from the least number that there is"),
            };
            let told = told(&freed(&place, key), &line(&table, key, &value));
            // The table says three; that there may be fewer is told in words of its own.
            let expected = match (table.title, key.name) {
                ("cluster of [service.redis]", "primaries") => format!("from {least} to {most}"),
                _ => format!("a whole number from {least} to {most}"),
            };
            let says =
                |mistake: &Diagnostic| mistake.help.iter().any(|help| help.contains(&expected));
            assert!(
                told.iter().any(says),
                "{} {}: {expected}: {told:?}",
                table.title,
                key.name
            );
        }
    }
    assert!(bounds > 25, "{bounds}");
}

#[test]
fn names_are_those_that_are_listed() {
    let mut seen = 0;
    for (table, place) in each() {
        for key in table.keys() {
            let listed: BTreeSet<&str> = match &key.holds {
                Holds::Words(words)
                | Holds::OneOrList(Holds::Words(words))
                | Holds::List(Holds::Words(words)) => (words.names)().into_iter().collect(),
                Holds::Variants(_, variants) | Holds::OneOrList(Holds::Variants(_, variants)) => {
                    variants.iter().map(|variant| variant.name).collect()
                }
                _ => continue,
            };
            seen += 1;
            let value = match key.holds {
                Holds::List(_) => "[\"zzzz\"]",
                _ => "\"zzzz\"",
            };
            let told = told(&freed(&place, key), &line(&table, key, value));
            let unknown = |mistake: &Diagnostic| {
                let of_name =
                    mistake.message.starts_with("unknown ") && mistake.message.ends_with("`zzzz`");
                let is_part = |help: &String| {
                    let nearest = quoted(help);
                    !nearest.is_empty() && nearest.is_subset(&listed)
                };
                of_name && mistake.help.iter().any(is_part)
            };
            assert!(
                told.iter().any(unknown),
                "{} {}: {told:?}",
                table.title,
                key.name
            );
        }
    }
    assert!(seen > 15, "{seen}");
}

#[test]
fn defaults_are_what_is_so_without_the_key() {
    let mut seen = 0;
    for (table, place) in each() {
        for key in table.keys() {
            let Some(value) = default_value(key) else {
                continue;
            };
            seen += 1;
            let place = freed(&place, key);
            let context = context(&table, key);
            // What only several can have is said of one: it takes others to say it of.
            let without = read(&place.replace('@', context));
            let with = read(&place.replace('@', &line(&table, key, &value)));
            let what = format!("{} {} = {value}", table.title, key.name);
            let with = with.unwrap_or_else(|told| panic!("{what}: {}", told[0]));
            assert_eq!(with, without.unwrap_or_default(), "{what}");
        }
    }
    assert!(seen > 45, "{seen}");
}
