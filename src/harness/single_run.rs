//! One run of a case: told, shrunk, and kept as a file; and the search for runs that break a promise.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use picklock_checker::Witness;
use picklock_checker::invariants::{self, Invariant};
use picklock_checker::outcome::{SeedOutcome, Story};
use picklock_reports::files;
use picklock_reports::story::story;
use picklock_reports::timeline::Detail;
use picklock_scenarios::replay_command::job;
use picklock_scenarios::runner::{self, wanted};
use picklock_scenarios::search::findings::{Cause, shrunk};
use picklock_scenarios::search::hunt::{Bounds, hunt};
use picklock_scenarios::search::portfolio::SearchStrategy;
use picklock_scenarios::shrink::{self, Budget, SearchLimit, Unasked, broken_off, reproduction};
use picklock_scenarios::{Case, Scenario, Want, write};
use picklock_sim::plan::FaultKind;
use picklock_sim::watchdog::Named;

use super::{CheckError, Harness, PLAIN};
use crate::{free_file_name, watchdog};

/// A run, and what it shows. It shows itself as `picklock replay` tells it, without colours.
#[derive(Clone, Debug)]
pub struct SingleRun {
    /// What it says of each promise.
    pub outcome: SeedOutcome,
    /// Its story.
    pub story: Story,
}

/// The smallest run that was found to break a promise in the same way, as a scenario that runs it again. It shows
/// itself as `picklock shrink` tells it, without colours.
#[derive(Clone, Debug)]
pub struct SmallestRun {
    /// The promise; `None` if the run broke off.
    pub invariant: Option<&'static str>,
    /// How it breaks it; `None` if the run broke off.
    pub cause: Option<Cause>,
    /// How many other runs of a hunt fell under it.
    pub more: u64,
    /// Its story.
    pub story: Story,
    scenario: Scenario,
}

impl SmallestRun {
    /// The scenario file.
    pub fn text(&self) -> String {
        write(&self.scenario, &self.scenario.cases[0])
    }
}

/// How a story that a test tells is seen again.
const KEEP: &str = "Harness::keep writes it to a file, and Harness::replay runs that file";

impl Harness {
    /// Runs one seed of the only case of a scenario, and tells its story. A file with a recorded run is that run,
    /// whatever the seed.
    ///
    /// # Errors
    ///
    /// The mistakes in the scenario, or that it has several cases: see [`with_case`](Self::with_case).
    pub fn replay(&self, scenario: &str, seed: u64) -> Result<SingleRun, CheckError> {
        let (scenario, case) = self.one_case(scenario)?;
        let case = case.settled(seed);
        let _named = Named::new(&Arc::new(job(&scenario, &case)), seed);
        let simulated = runner::told(&case, seed);
        let outcome = runner::judge(&case, seed, &simulated);
        let violated = first_violation(&case, &outcome);
        let violated = violated.map(|(row, witness)| (row.name.to_owned(), witness));
        let mut story = runner::story(&scenario, &case, simulated, &outcome, violated);
        story.replay = format!("the same test, replay with seed {seed}");
        story.why = None;
        Ok(SingleRun { outcome, story })
    }

    /// Shrinks the run of one seed of the only case of a scenario: what comes out is the smallest that was found to
    /// break the same promise in the same way. `None` if the run breaks no promise.
    ///
    /// # Errors
    ///
    /// As of [`replay`](Self::replay).
    pub fn shrink(&self, scenario: &str, seed: u64) -> Result<Option<SmallestRun>, CheckError> {
        let (scenario, case) = self.one_case(scenario)?;
        let case = case.settled(seed);
        let _named = Named::new(&Arc::new(job(&scenario, &case)), seed);
        let simulated = runner::simulated(&case, seed);
        let outcome = runner::judge(&case, seed, &simulated);
        let Some((invariant, _)) = first_violation(&case, &outcome) else {
            return Ok(None);
        };
        let no_stop = AtomicBool::new(false);
        let watch = SearchLimit::until(&no_stop);
        let choices = simulated.choices;
        let shrunk = shrink::shrink_choices(&case, choices, invariant, Budget::default(), &watch);
        Ok(shrunk.map(|shrunk| {
            let mut story = shrink::story(&scenario, &case, seed, &shrunk);
            in_a_test(&mut story);
            SmallestRun {
                invariant: Some(invariant.name),
                cause: Some(Cause::of(&shrunk.mechanism)),
                more: 0,
                story,
                scenario: reproduction(&scenario, &case, seed, &shrunk),
            }
        }))
    }

    /// Aims faults at the only case of a scenario, in place of those that it has, for so many runs, or until each
    /// promise is broken in so many ways as are kept ([`Bounds::FINDINGS`]). The first run of each cause is shrunk; a
    /// run that broke off is not. The first seed is that of the harness.
    ///
    /// # Errors
    ///
    /// As of [`replay`](Self::replay).
    pub fn hunt(&self, scenario: &str, runs: u64) -> Result<Vec<SmallestRun>, CheckError> {
        let (scenario, case) = self.one_case(scenario)?;
        let first = self.seeds.start;
        let _named = Named::new(&Arc::new(job(&scenario, &case)), first);
        let mut kinds = FaultKind::unasked();
        kinds.retain(|kind| kind.is_outlived(&case.plan.service));
        let no_stop = AtomicBool::new(false);
        let hunted = hunt(
            &case,
            (&kinds, &SearchStrategy::ALL),
            first,
            Bounds::runs(runs),
            &no_stop,
            &|| (),
        );
        let all = hunted.found.len();
        let mut unasked = Unasked::of_found(all, &no_stop, &|_, _, _| {});
        let mut found = Vec::new();
        for finding in shrunk(&hunted.found, first, &mut unasked) {
            let (case, shrunk) = (&finding.found.case, &finding.shrunk);
            let mut story = shrink::story(&scenario, case, first, shrunk);
            in_a_test(&mut story);
            found.push(SmallestRun {
                invariant: Some(shrunk.invariant),
                cause: Some(finding.cause),
                more: finding.more,
                story,
                scenario: shrink::found_by_hunt(&scenario, case, first, shrunk),
            });
        }
        if let Some(broken) = &hunted.broken {
            let (case, simulated) = (&broken.case, broken.simulated.clone());
            let outcome = runner::judge(case, broken.seed, &simulated);
            let mut story = runner::story(&scenario, case, simulated, &outcome, None);
            in_a_test(&mut story);
            found.push(SmallestRun {
                invariant: None,
                cause: None,
                more: broken.runs - 1,
                story,
                scenario: broken_off(&scenario, first, broken),
            });
        }
        Ok(found)
    }

    /// Writes such a run to a file in a folder, which is made if it is not there. A file that was edited is not written
    /// over. Answers its path: [`check`](Self::check) and [`replay`](Self::replay) take it.
    ///
    /// # Errors
    ///
    /// [`CheckError::File`], if it cannot be written.
    pub fn keep(&self, run: &SmallestRun, folder: impl AsRef<Path>) -> Result<PathBuf, CheckError> {
        let folder = folder.as_ref();
        std::fs::create_dir_all(folder).map_err(|error| {
            let folder = folder.display();
            CheckError::File(format!("cannot make the folder {folder}: {error}"))
        })?;
        let text = run.text();
        let file = free_file_name::free(&folder.join(format!("{}.toml", run.scenario.name)), &text);
        files::write_whole(&file, text.as_bytes())
            .map_err(|error| CheckError::File(error.to_string()))?;
        Ok(file)
    }

    fn one_case(&self, scenario: &str) -> Result<(Scenario, Case), CheckError> {
        watchdog::start();
        let mut scenarios = self.scenarios(scenario)?;
        let cases = scenarios.iter().flat_map(|scenario| &scenario.cases);
        let names: Vec<String> = cases.map(|case| case.name.clone()).collect();
        if names.len() != 1 {
            return Err(CheckError::NotOne { cases: names });
        }
        scenarios.retain(|scenario| !scenario.cases.is_empty());
        let scenario = scenarios.remove(0);
        let case = scenario.cases[0].clone();
        Ok((scenario, case))
    }
}

/// What a run breaks; first what the scenario does not expect.
fn first_violation(case: &Case, outcome: &SeedOutcome) -> Option<(&'static Invariant, Witness)> {
    let violations = outcome.verdicts.iter();
    let violations = violations.filter_map(|(name, verdict)| Some((*name, verdict.witness()?)));
    let is_expected = |name: &str| matches!(wanted(case, name), Some(Want::Violated { .. }));
    let (name, witness) = violations.min_by_key(|(name, _)| is_expected(name))?;
    Some((invariants::find(name)?, witness.clone()))
}

/// No command knows the run.
fn in_a_test(story: &mut Story) {
    story.replay = KEEP.to_owned();
    story.why = None;
    if let Some(smaller) = &mut story.smaller {
        smaller.keep = None;
    }
}

impl fmt::Display for SingleRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&story(&self.story, Detail::Essential, &PLAIN))
    }
}

impl fmt::Display for SmallestRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&story(&self.story, Detail::Essential, &PLAIN))
    }
}
