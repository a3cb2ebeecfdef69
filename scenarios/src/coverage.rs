//! Coverage: whether a run of the library came through every moment that it should.

use std::collections::BTreeSet;

use picklock_algorithms::clients::ServiceKind;
use picklock_checker::SOMETIMES;
use picklock_checker::outcome::ScenarioOutcome;
use picklock_sim::plan::{Service, TriggerKind};

use crate::case_statistics::ENOUGH_SEEDS;
use crate::library::BUILT_IN;
use crate::scenario::Scenario;

/// Moments that no seed of a whole folder of the library came through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuous {
    /// The folder.
    pub folder: &'static str,
    /// The moments, in the order of [`SOMETIMES`].
    pub never: Vec<&'static str>,
    /// With how many seeds its cases have run.
    pub seeds: u64,
}

impl Vacuous {
    /// Whether more seeds ought to come through them: then nothing is wrong yet.
    pub fn needs_more_seeds(&self) -> bool {
        self.seeds < ENOUGH_SEEDS
    }
}

/// Which moments every folder of the library owes and never came through, if all cases of all its scenarios have run;
/// each is about the service of its name. Less than a folder need not come through all of them; a scenario says itself
/// through which it ought to.
pub fn vacuous(scenarios: &[Scenario], outcomes: &[ScenarioOutcome]) -> Vec<Vacuous> {
    let folders = ServiceKind::ALL.into_iter().filter_map(|service| {
        let folder = service.name();
        let settings = Service::from(service);
        let queues =
            settings.session_tick().is_some() && settings.row().happens(TriggerKind::Queued);
        let is_connected = settings.row().happens(TriggerKind::Reconnected);
        let names = BUILT_IN.iter().map(|(name, _)| *name);
        let mut names = names.filter(|name| is_in(name, folder));
        if !names.all(|name| has_run(name, scenarios, outcomes)) {
            return None;
        }
        let ran = outcomes.iter().filter(|ran| is_in(&ran.name, folder));
        let cases = ran.flat_map(|outcome| &outcome.cases);
        let seeds = cases.clone().map(|case| case.seeds).max().unwrap_or(0);
        let reached: BTreeSet<&str> = cases
            .flat_map(|case| case.reached.keys().map(String::as_str))
            .collect();
        let row = settings.row();
        let comes_through = |name: &str| row.never_through.iter().all(|(never, _)| *never != name);
        let owed = SOMETIMES.iter().filter(|sometimes| {
            comes_through(sometimes.name)
                && (queues || !sometimes.in_a_queue)
                && (is_connected || !sometimes.on_a_connection)
        });
        let never = owed
            .map(|moment| moment.name)
            .filter(|name| !reached.contains(name));
        let never: Vec<_> = never.collect();
        (!never.is_empty()).then_some(Vacuous {
            folder,
            never,
            seeds,
        })
    });
    folders.collect()
}

/// Whether a scenario is in a folder, by its name.
fn is_in(name: &str, folder: &str) -> bool {
    name.split_once('/').is_some_and(|(of, _)| of == folder)
}

/// Whether every case of the scenarios of a name has run, and there is one.
fn has_run(name: &str, scenarios: &[Scenario], outcomes: &[ScenarioOutcome]) -> bool {
    let Some(outcome) = outcomes.iter().find(|outcome| outcome.name == name) else {
        return false;
    };
    let ran = |name: &str| outcome.cases.iter().any(|ran| ran.case == name);
    let named = scenarios.iter().filter(|scenario| scenario.name == name);
    let mut cases = named.flat_map(|scenario| &scenario.cases);
    cases.all(|case| ran(&case.name))
}

/// Describes them, a line each.
pub fn describe(vacuous: &[Vacuous]) -> String {
    let lines = vacuous.iter().map(|vacuous| {
        let never = vacuous.never.join(", ");
        if vacuous.needs_more_seeds() {
            return format!(
                "  Few seeds: no run of {}/ reached {never}; {ENOUGH_SEEDS} seeds should.\n",
                vacuous.folder
            );
        }
        format!(
            "  Vacuous: no run of {}/ reached {never}: what holds there was not tried by it.\n",
            vacuous.folder
        )
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
