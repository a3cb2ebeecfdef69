//! Whether a run of the library has come through everything that it ought to.

use std::collections::BTreeSet;

use picklock_checker::SOMETIMES;
use picklock_checker::outcome::ScenarioOutcome;

use crate::format::parse;
use crate::library::BUILT_IN;
use crate::scenario::Catalogue;

/// The moments that no seed came through, if every case of the library has run. Nobody can say of less that it
/// ought to come through all of them.
pub fn never_reached(outcomes: &[ScenarioOutcome]) -> Vec<&'static str> {
    if !BUILT_IN
        .iter()
        .all(|(name, text)| has_run(name, text, outcomes))
    {
        return Vec::new();
    }
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let reached: BTreeSet<&String> = cases.flat_map(|case| case.reached.keys()).collect();
    let never = SOMETIMES.iter().map(|moment| moment.name);
    never
        .filter(|name| !reached.contains(&(*name).to_owned()))
        .collect()
}

/// Whether every case of a scenario of the library has run.
fn has_run(name: &str, text: &str, outcomes: &[ScenarioOutcome]) -> bool {
    let Some(outcome) = outcomes.iter().find(|outcome| outcome.name == name) else {
        return false;
    };
    let Ok(scenario) = parse(name, text, &Catalogue::EVERYTHING) else {
        return false;
    };
    let mut cases = scenario.cases.iter();
    cases.all(|case| outcome.cases.iter().any(|ran| ran.case == case.name))
}

/// What to say of them.
pub fn said(never: &[&str]) -> String {
    format!(
        "  The library never came through {}: what it says of that is nothing.\n",
        never.join(", ")
    )
}
