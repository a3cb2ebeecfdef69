//! The commands that show a run again, ready for a shell.

use std::borrow::Cow;

use picklock_sim::watchdog::{Job, Replay};

use crate::program;
use crate::scenario::{Case, Scenario};

/// The folder that a command names for what it is to keep.
pub const KEPT_IN: &str = "regressions";

/// A run, as commands name it.
#[derive(Clone, Copy, Debug)]
pub struct ReplayCommand<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// One of its cases.
    pub case: &'a Case,
    /// The seed.
    pub seed: u64,
    /// The hash of the run. With it, a command says so if the run has become another one.
    pub hash: Option<u64>,
}

impl ReplayCommand<'_> {
    /// The command that tells its story.
    pub fn replay(self) -> String {
        format!("{} replay {}{}", program::command(), self.run(), self.was())
    }

    /// The command that tells how it violates a promise, whatever its case expects of that.
    pub fn replay_of(self, invariant: &str) -> String {
        self.about("replay", invariant)
    }

    /// The command that says why it violates a promise.
    pub fn why(self, invariant: &str) -> String {
        self.about("why", invariant)
    }

    /// The command that writes down the smallest run that violates a promise as this one does.
    pub fn shrink(self, invariant: &str) -> String {
        let (run, was) = (self.run(), self.was());
        let program = program::command();
        format!("{program} shrink {run} --invariant {invariant} --out {KEPT_IN}{was}")
    }

    fn about(self, command: &str, invariant: &str) -> String {
        let (run, was) = (self.run(), self.was());
        let program = program::command();
        format!("{program} {command} {run} --invariant {invariant}{was}")
    }

    /// Which run. One that was recorded is alone in its file.
    fn run(self) -> String {
        let (path, name) = (quoted(&self.scenario.path), quoted(&self.case.name));
        match &self.case.recorded {
            Some(_) => path,
            None => format!("{path} --case {name} --seed {}", self.seed),
        }
    }

    /// Which run it was. A file with a recorded run knows that.
    fn was(self) -> String {
        match (&self.case.recorded, self.hash) {
            (None, Some(hash)) => format!(" --was {}:{hash:016x}", env!("CARGO_PKG_VERSION")),
            (Some(_), _) | (None, None) => String::new(),
        }
    }
}

/// What the runs of a case are called while they run.
pub fn job(scenario: &Scenario, case: &Case) -> Job {
    let (path, name) = (quoted(&scenario.path), quoted(&case.name));
    let (program, mut known) = (program::command(), program::algorithms().iter());
    let is_known = known.any(|recipe| recipe.name == case.algorithm.name);
    let replay = match &case.recorded {
        _ if !is_known => Replay::Test,
        None => Replay::Seeded(format!("{program} replay {path} --case {name}")),
        Some(_) => Replay::Command(format!("{program} replay {path}")),
    };
    Job {
        scenario: scenario.name.clone(),
        case: case.name.clone(),
        replay,
    }
}

/// A word as a shell takes it for one word.
pub fn quoted(word: &str) -> String {
    // The only error is a NUL, which no argument of a program can hold.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}
