//! `[[contender]]`: what one contender does otherwise than the workload says.

use std::collections::BTreeMap;

use picklock_sim::plan::{ContenderName, ContenderSettings, Conversion, LockName};

use super::choice::choose;
use super::participants::Participants;
use super::permits::permits_per_acquire;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};
use super::sampled_parameters::{is_range, ranges, whole};
use super::workload::{MOST_ROUNDS, fixed_hold, reads};
use crate::sampled_parameters::{SampledContender, SampledParameters};

/// What names no contender: each seed draws one.
const ANY: &str = "any";

/// Reads every `[[contender]]`; what is left to the seeds goes to `open`.
pub(super) fn contenders(
    file: &mut Fields,
    participants: Participants,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> BTreeMap<ContenderName, ContenderSettings> {
    let mut all = BTreeMap::new();
    let Some(items) = file
        .get("contender")
        .and_then(|item| item.list("tables that begin with [[contender]]", mistakes))
    else {
        return all;
    };
    for item in items {
        let Some(mut fields) = item.table("a table, [[contender]]", mistakes) else {
            continue;
        };
        let Some(name) = fields.need("name", "name = \"contender-1\"") else {
            settings(&mut fields, participants, open, mistakes);
            fields.finish(mistakes);
            continue;
        };
        if name.as_text() == Some(ANY) {
            any(&mut fields, &name, open, mistakes);
        } else {
            one(&mut fields, &name, (participants, open), &mut all, mistakes);
        }
        fields.finish(mistakes);
    }
    all
}

/// One contender, or several that do the same.
fn one(
    fields: &mut Fields,
    name: &Item,
    (participants, open): (Participants, &SampledParameters),
    all: &mut BTreeMap<ContenderName, ContenderSettings>,
    mistakes: &mut Mistakes,
) {
    let names = match name.as_list() {
        Some(names) => names,
        None => vec![name.clone()],
    };
    let settings = settings(fields, participants, open, mistakes);
    if settings == ContenderSettings::default() && mistakes.is_empty() {
        let mistake = Mistake::new("nothing is said of this contender");
        mistakes.add(name.span.clone(), mistake.help(WANTED));
    }
    for item in names {
        let Some(name) = participants.contender(&item, mistakes) else {
            continue;
        };
        if all.insert(name, settings.clone()).is_some() {
            let mistake = Mistake::new(format!("contender-{} is described twice", name.0 + 1));
            mistakes.add(
                item.span,
                mistake.help("say all of it in one [[contender]]"),
            );
        }
    }
}

const WANTED: &str = "say how it differs: `hold`, `rounds`, `reads`, `conversion`, `permits-per-acquire`, `locks`, \
    `think`, `processing`, `acquire-timeout`, `latency`, or `clock-offset`";

fn settings(
    fields: &mut Fields,
    participants: Participants,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) -> ContenderSettings {
    let hold = fields.get("hold");
    let hold = hold.and_then(|item| match is_range(&item) {
        true => {
            let mistake = Mistake::new("the hold of this contender is a range")
                .help("say one time, or name = \"any\": then each seed draws one");
            mistakes.add(item.span, mistake);
            None
        }
        false => fixed_hold(&item, mistakes),
    });
    let rounds = fields.count("rounds", 1..=MOST_ROUNDS, mistakes);
    let reads = reads(fields, mistakes);
    let locks = fields.get("locks");
    let locks = locks.and_then(|item| locks_of(&item, participants, open, mistakes));
    let think = fields.get("think").and_then(|item| item.range(mistakes));
    let processing = fields.get("processing");
    let processing = processing.and_then(|item| item.range(mistakes));
    let acquire_timeout = fields.duration("acquire-timeout", Zero::Allowed, mistakes);
    let conversion = fields.get("conversion");
    let conversion = conversion.and_then(|item| {
        let chosen = choose(&item, "conversion", &Conversion::NAMED, mistakes)?;
        chosen.bare(mistakes);
        Some(chosen.kind)
    });
    let permits_per_acquire = permits_per_acquire(fields, mistakes);
    let latency = fields.get("latency").and_then(|item| item.range(mistakes));
    let offset = fields.get("clock-offset");
    let offset = offset.and_then(|item| item.signed_millis(mistakes));
    ContenderSettings {
        hold,
        rounds,
        reads,
        conversion,
        permits_per_acquire,
        locks: locks.unwrap_or_default(),
        think,
        processing,
        acquire_timeout,
        latency,
        clock_offset_millis: offset.unwrap_or_default(),
    }
}

/// The locks that a contender takes, in turn.
fn locks_of(
    item: &Item,
    participants: Participants,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) -> Option<Vec<LockName>> {
    let wrong = |mistakes: &mut Mistakes, message: &str, help: &str| {
        mistakes.add(item.span.clone(), Mistake::new(message).help(help));
    };
    if open.locks.is_some() {
        let help = "say one number of locks in [workload], or leave `locks` of the contender out";
        wrong(mistakes, "how many locks there are is drawn", help);
        return None;
    }
    let names = item.as_list().unwrap_or_else(|| vec![item.clone()]);
    if names.is_empty() {
        let help = "name those that it takes, as in [\"lock-a\"], or leave `locks` out";
        wrong(mistakes, "this contender takes no lock", help);
        return None;
    }
    let locks = names.iter().map(|item| participants.lock(item, mistakes));
    let locks: Vec<Option<LockName>> = locks.collect();
    locks.into_iter().collect()
}

/// One that each seed draws, or nobody.
fn any(fields: &mut Fields, name: &Item, open: &mut SampledParameters, mistakes: &mut Mistakes) {
    let range = |fields: &mut Fields, key, mistakes: &mut Mistakes| {
        fields.get(key).and_then(|item| item.range(mistakes))
    };
    if let Some(item) = fields.get("locks") {
        let mistake = Mistake::new("the locks of a contender that each seed draws")
            .help("it takes those that the others do: leave `locks` out, or name the contender");
        mistakes.add(item.span, mistake);
    }
    let rounds = fields.get("rounds");
    let list = |item: Item, mistakes: &mut Mistakes| {
        let several = ranges(&item, mistakes)?;
        Some(match several.choices.is_empty() {
            true => vec![several.first],
            false => several.choices,
        })
    };
    let any = SampledContender {
        hold: range(fields, "hold", mistakes),
        rounds: rounds.and_then(|item| whole(&item, 1..=MOST_ROUNDS, mistakes)),
        reads: reads(fields, mistakes),
        think: fields
            .get("think")
            .and_then(|item| list(item, mistakes))
            .unwrap_or_default(),
        processing: fields
            .get("processing")
            .and_then(|item| list(item, mistakes))
            .unwrap_or_default(),
        acquire_timeout: range(fields, "acquire-timeout", mistakes),
        latency: fields
            .get("latency")
            .and_then(|item| list(item, mistakes))
            .unwrap_or_default(),
        clock_offset_millis: fields
            .get("clock-offset")
            .and_then(|item| item.signed_millis_range(mistakes)),
    };
    if any == SampledContender::default() && mistakes.is_empty() {
        let mistake = Mistake::new("nothing is said of this contender");
        mistakes.add(name.span.clone(), mistake.help(WANTED));
    }
    if open.contender.replace(any).is_some() {
        let mistake = Mistake::new("there are two that any contender may be");
        mistakes.add(
            name.span.clone(),
            mistake.help("say all of it in one [[contender]]"),
        );
    }
}
