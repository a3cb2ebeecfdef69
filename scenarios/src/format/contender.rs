//! `[[contender]]`: what one contender does otherwise than the workload says.

use std::collections::BTreeMap;

use picklock_sim::plan::{ContenderName, ContenderSettings, LockName};

use super::participants::Participants;
use super::reader::{Fields, Item, Mistake, Mistakes};
use super::value::Given;
use crate::listed::listed;
use crate::sampled_parameters::{Drawn, SampledContender, SampledParameters};

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
        mistakes.add(name.span.clone(), mistake.help(wanted()));
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

/// What may be said of a contender.
fn wanted() -> String {
    let keys = ContenderSettings::KEYS.iter().map(|key| key.name);
    let keys: Vec<String> = keys
        .chain(["locks"])
        .map(|key| format!("`{key}`"))
        .collect();
    format!("say how it differs: {}", listed(&keys))
}

fn settings(
    fields: &mut Fields,
    participants: Participants,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) -> ContenderSettings {
    let given = Given::read(fields, ContenderSettings::KEYS, &[], mistakes);
    for (key, item, drawn) in given.drawn() {
        let what = match drawn {
            Drawn::OneOf(_) => "list",
            Drawn::Only(_) | Drawn::Between(..) => "range",
        };
        let mistake = Mistake::new(format!("the {key} of this contender is a {what}"))
            .help("say one value, or name = \"any\": then each seed draws one");
        mistakes.add(item.span.clone(), mistake);
    }
    let mut settings = ContenderSettings::default();
    given.set(&mut settings);
    let locks = fields.get("locks");
    let locks = locks.and_then(|item| locks_of(&item, participants, open, mistakes));
    settings.locks = locks.unwrap_or_default();
    settings
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

/// One that each seed draws, or none.
fn any(fields: &mut Fields, name: &Item, open: &mut SampledParameters, mistakes: &mut Mistakes) {
    if let Some(item) = fields.get("locks") {
        let mistake = Mistake::new("the locks of a contender that each seed draws")
            .help("it takes those that the others do: leave `locks` out, or name the contender");
        mistakes.add(item.span, mistake);
    }
    let keys = ContenderSettings::KEYS.iter();
    let keys = keys.filter(|key| SampledContender::KEYS.contains(&key.name));
    let given = Given::read(fields, keys, &[], mistakes);
    let mut any = SampledContender::default();
    for (key, drawn) in given.each() {
        any.set_drawn(key, drawn);
    }
    if any == SampledContender::default() && mistakes.is_empty() {
        let mistake = Mistake::new("nothing is said of this contender");
        mistakes.add(name.span.clone(), mistake.help(wanted()));
    }
    if open.contender.replace(any).is_some() {
        let mistake = Mistake::new("there are two that any contender may be");
        mistakes.add(
            name.span.clone(),
            mistake.help("say all of it in one [[contender]]"),
        );
    }
}
