//! Why a command could not do what it was asked to.

use std::fmt::Write as _;

use crate::checker::Broken;
use crate::harness::CAUSES;
use crate::reports::files::FileError;
use crate::reports::words::{count, harmless};
use crate::scenarios::replay_command::{ReplayCommand, job};
use crate::scenarios::runner::Stopped;
use crate::scenarios::{Case, Diagnostic, Scenario, nearest, program, what_there_is};

use crate::cli::exit;

/// Why a command could not do what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for what there is not: what is wrong, and what would be right.
    Usage {
        /// What is wrong, in one line.
        problem: String,
        /// What would be right, one line each.
        hints: Vec<String>,
    },
    /// Scenario files have mistakes, so nothing was run.
    Mistakes(Vec<Diagnostic>),
    /// Scenario files have mistakes, and they were only to be checked.
    Invalid(Vec<Diagnostic>),
    /// A report could not be written.
    Report(FileError),
    /// A chart could not be drawn, for this reason.
    Chart(String),
    /// Standard output could not be written to.
    Output(std::io::Error),
    /// Standard output has no reader any more.
    NobodyReads,
    /// Two runs of one seed differ: what to tell about it.
    NotDeterministic(String),
    /// A run broke off, and there is nothing else to tell: what to tell about it.
    Broken(String),
    /// The command was interrupted, and has reported what was done.
    Interrupted,
}

impl Failure {
    /// A command line that asks for what there is not.
    pub fn usage<const N: usize>(problem: impl Into<String>, hints: [String; N]) -> Self {
        Self::Usage {
            problem: problem.into(),
            hints: hints.into(),
        }
    }

    /// A name that nothing has: what there is, and what comes nearest.
    pub fn unknown(what: &str, name: &str, names: &[&str]) -> Self {
        let near = nearest(name, names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`?"));
        let all = what_there_is(what, name, names, program::command());
        Self::Usage {
            problem: format!("there is no {what} `{name}`"),
            hints: near.into_iter().chain(all).collect(),
        }
    }

    /// A case that was stopped before it had an outcome.
    pub fn stopped(scenario: &Scenario, case: &Case, why: Stopped) -> Self {
        match why {
            Stopped::Interrupted => Self::Interrupted,
            Stopped::NotDeterministic { seed, hashes } => {
                let (first, second) = hashes;
                let (scenario_name, case_name) = (&scenario.name, &case.name);
                let again = ReplayCommand {
                    scenario,
                    case,
                    seed,
                    hash: None,
                };
                let again = again.replay();
                Self::NotDeterministic(format!(
                    "two runs of one seed differ, so no seed of this case means anything\n  \
                     scenario {scenario_name}, case {case_name}, seed {seed}\n  \
                     hashes   {first:016x} and {second:016x}\n  \
                     cause    {CAUSES}\n  \
                     replay   {again}"
                ))
            }
        }
    }

    /// A run broke off.
    pub fn broken(scenario: &Scenario, case: &Case, seed: u64, why: &Broken) -> Self {
        let told = job(scenario, case).location(seed);
        Self::Broken(format!("the run broke off: {why}\n{told}"))
    }

    /// The exit code.
    pub fn exit(&self) -> u8 {
        match self {
            Self::Usage { .. }
            | Self::Mistakes(_)
            | Self::Invalid(_)
            | Self::Report(_)
            | Self::Chart(_)
            | Self::Output(_) => exit::BAD_INPUT,
            Self::NobodyReads => exit::AS_EXPECTED,
            Self::NotDeterministic(_) => exit::NOT_DETERMINISTIC,
            Self::Broken(_) => exit::BROKEN,
            Self::Interrupted => exit::INTERRUPTED,
        }
    }

    /// What to tell about it, if anything: lines that end with a line break.
    pub fn message(&self, color: bool) -> Option<String> {
        let mut text = match self {
            Self::Usage { problem, hints } => {
                let mut text = format!("picklock: {}", harmless(problem));
                for hint in hints {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\n  = help: {}", harmless(hint));
                }
                text
            }
            Self::Mistakes(mistakes) => described(mistakes, "nothing was run because of ", color),
            Self::Invalid(mistakes) => described(mistakes, "", color),
            Self::Report(error) => format!("picklock: {error}"),
            Self::Chart(reason) => format!("picklock: cannot draw a chart: {reason}"),
            Self::Output(error) => {
                format!("picklock: cannot write to standard output: {error}")
            }
            Self::NotDeterministic(message) | Self::Broken(message) => {
                let lines: Vec<String> = message.lines().map(harmless).collect();
                format!("picklock: {}", lines.join("\n"))
            }
            Self::NobodyReads | Self::Interrupted => return None,
        };
        text.push('\n');
        Some(text)
    }
}

/// How many mistakes there are, and each with its place.
fn described(mistakes: &[Diagnostic], because: &str, color: bool) -> String {
    let number = mistakes.iter().map(Diagnostic::number).sum::<usize>();
    let number = count(number as u64, "mistake");
    let mut text = format!("picklock: {because}{number}");
    for mistake in mistakes {
        text.push_str("\n\n");
        text.push_str(&mistake.render(color));
    }
    text
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(mistakes: Vec<Diagnostic>) -> Self {
        Self::Mistakes(mistakes)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Report(error)
    }
}
