//! Scenarios in tests.

mod single_run;

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use picklock_algorithms::Recipe;
use picklock_checker::outcome::{ScenarioOutcome, Standing};
use picklock_reports::style::Style;
use picklock_reports::terminal;
use picklock_scenarios::runner::{RunOptions, Stopped, run_seeds};
use picklock_scenarios::shard::Seeds;
use picklock_scenarios::shrink::{Unasked, conclude};
use picklock_scenarios::{Case, Catalogue, Diagnostic, Scenario, parse, program};

use crate::{sources, watchdog};

pub use single_run::{SingleRun, SmallestRun};

/// Runs a scenario with these seeds: a file, a folder, a text of several lines, or a name from the
/// library.
///
/// # Errors
///
/// The mistakes in the scenario.
pub fn check(scenario: &str, seeds: Range<u64>) -> Result<Report, CheckError> {
    Harness::new().with_seeds(seeds).check(scenario)
}

/// Runs a scenario as [`check`] does, and panics with the report unless everything came as the
/// scenario expects.
///
/// # Panics
///
/// If anything did not, or could not be told, or if the scenario has mistakes.
#[track_caller]
pub fn assert_as_expected(scenario: &str, seeds: Range<u64>) {
    Harness::new()
        .with_seeds(seeds)
        .assert_as_expected(scenario);
}

/// Scenarios, the algorithms that they may name, and the seeds that they run with.
///
/// An algorithm of your own is a [`Recipe`]; scenarios call it by its name. See the recipes of
/// [`picklock_algorithms::zookeeper`] for what they look like.
///
/// ```
/// use picklock::Harness;
/// use picklock::algorithms::{Recipe, registry};
///
/// let ours = Recipe {
///     name: "our-lock",
///     ..*registry::find("zk-hardened").unwrap()
/// };
/// Harness::new().with_recipe(ours).with_seeds(0..5).assert_as_expected(
///     r#"
///     claim = "Our lock survives a cut."
///     because = "Its session outlives the connection."
///     source = "ours"
///     [workload]
///     contenders = 3
///     [[fault]]
///     when.acquired = { by = "contender-1" }
///     inject.cut = { target = "contender-1" }
///     [[case]]
///     algorithm = "our-lock"
///     "#,
/// );
/// ```
#[derive(Clone)]
pub struct Harness {
    recipes: Vec<Recipe>,
    case: Option<String>,
    seeds: Range<u64>,
    verify_determinism: bool,
}

impl Harness {
    /// All algorithms that picklock knows, and the seeds from 0 to 99.
    pub fn new() -> Self {
        Self {
            recipes: program::algorithms().to_vec(),
            case: None,
            seeds: 0..100,
            verify_determinism: false,
        }
    }

    /// The same with one more algorithm. It takes the place of another of its name.
    #[must_use]
    pub fn with_recipe(mut self, recipe: Recipe) -> Self {
        self.recipes.retain(|other| other.name != recipe.name);
        self.recipes.push(recipe);
        self
    }

    /// The same, of each scenario with the case of this name alone.
    #[must_use]
    pub fn with_case(mut self, case: &str) -> Self {
        self.case = Some(case.to_owned());
        self
    }

    /// The same with other seeds.
    #[must_use]
    pub fn with_seeds(mut self, seeds: Range<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// The same, with every seed run twice, and not only one of many: an algorithm that reads a real clock or draws
    /// numbers of its own is found out.
    #[must_use]
    pub fn verifying_determinism(mut self) -> Self {
        self.verify_determinism = true;
        self
    }

    /// Runs a scenario: a file, a folder, a text of several lines, or a name from the library.
    ///
    /// An algorithm that panics, or that never waits for anything, ends its run and no other: its case stands as
    /// [`Standing::Broken`]. Two things end the whole test program, and name the run before, on standard error: code
    /// that never returns and calls nothing of picklock (see [`watchdog`]), and a destructor that panics while
    /// another panic is being cleaned up behind.
    ///
    /// # Errors
    ///
    /// The mistakes in the scenario; or that two runs of a seed differ: the first seed of each case runs twice, and
    /// every [`SAMPLED`](picklock_scenarios::runner::SAMPLED)-th after it, or all of them if that is asked for.
    pub fn check(&self, scenario: &str) -> Result<Report, CheckError> {
        watchdog::start();
        let is_text = scenario.contains('\n');
        let mut outcomes = Vec::new();
        for scenario in self.scenarios(scenario)? {
            outcomes.push(self.run(&scenario, is_text)?);
        }
        Ok(Report { outcomes })
    }

    /// The scenarios that a text, a file, a folder, or a name means, with the cases that are wanted of them.
    fn scenarios(&self, scenario: &str) -> Result<Vec<Scenario>, CheckError> {
        let catalogue = Catalogue {
            algorithms: &self.recipes,
            ..Catalogue::EVERYTHING
        };
        let scenarios = if scenario.contains('\n') {
            parse("scenario", scenario, &catalogue).map(|scenario| vec![scenario])
        } else {
            sources::find(Path::new(scenario), &catalogue)
        };
        let mut scenarios = scenarios.map_err(CheckError::Mistakes)?;
        if let Some(case) = &self.case {
            let is_wanted = |own: &Case| own.name == *case;
            let mut cases = scenarios.iter().flat_map(|scenario| &scenario.cases);
            if !cases.any(is_wanted) {
                return Err(CheckError::NoCase(case.clone()));
            }
            for scenario in &mut scenarios {
                scenario.cases.retain(is_wanted);
            }
            scenarios.retain(|scenario| !scenario.cases.is_empty());
        }
        Ok(scenarios)
    }

    /// Runs a scenario as [`check`](Self::check) does, and panics with the report unless everything
    /// came as the scenario expects.
    ///
    /// # Panics
    ///
    /// If anything did not, or could not be told, or if the scenario has mistakes.
    #[track_caller]
    pub fn assert_as_expected(&self, scenario: &str) {
        match self.check(scenario) {
            Ok(report) if report.as_expected() => {}
            Ok(report) => panic!("not as expected\n\n{report}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn run(&self, scenario: &Scenario, is_text: bool) -> Result<ScenarioOutcome, CheckError> {
        let settings = RunOptions {
            seeds: Seeds::all(self.seeds.clone()),
            verify_determinism: self.verify_determinism,
        };
        let no_stop = AtomicBool::new(false);
        let mut cases = Vec::new();
        let mut unasked = Unasked::new(&no_stop, &|_, _, _| {});
        for case in &scenario.cases {
            let tally = run_seeds(scenario, case, &settings, &no_stop, &|| {});
            let tally = tally.map_err(|why| CheckError::Stopped {
                scenario: scenario.name.clone(),
                case: case.name.clone(),
                why,
            })?;
            let mut outcome = conclude(scenario, case, &tally, Some(&mut unasked));
            let unknown = program::algorithms()
                .iter()
                .all(|known| known.name != case.algorithm.name);
            if let Some(story) = &mut outcome.story
                && (is_text || unknown)
            {
                // The program knows neither the text nor the algorithm.
                let again = |seed| format!("the same test, with_seeds({seed}..{})", seed + 1);
                story.replay = again(story.seed);
                story.why = None;
                for violation in &mut outcome.violations {
                    for way in &mut violation.ways {
                        way.replay = again(way.seed);
                    }
                    for (argument, replay) in &mut violation.replays {
                        let first = violation
                            .alike
                            .get(argument)
                            .and_then(|alike| alike.first.first());
                        *replay = again(first.map_or(violation.seed, |first| first.seed));
                    }
                }
                if let Some(smaller) = &mut story.smaller {
                    smaller.keep = None;
                }
            }
            cases.push(outcome);
        }
        Ok(ScenarioOutcome {
            name: scenario.name.clone(),
            claim: scenario.claim.clone(),
            cases,
        })
    }
}

impl Default for Harness {
    fn default() -> Self {
        Self::new()
    }
}

/// What came of a check. It shows itself as `picklock run` would, without colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// One per scenario.
    pub outcomes: Vec<ScenarioOutcome>,
}

impl Report {
    /// How the worst case stands. Where nothing ran, nothing was found out.
    pub fn standing(&self) -> Standing {
        let cases = self.outcomes.iter().flat_map(|outcome| &outcome.cases);
        let worst = cases.map(|case| case.standing).max();
        worst.unwrap_or(Standing::Undecided)
    }

    /// Whether everything came as the scenarios expect it. What cannot be told did not.
    pub fn as_expected(&self) -> bool {
        match self.standing() {
            Standing::Holds | Standing::AsExpected => true,
            Standing::Skipped | Standing::Undecided | Standing::Fail | Standing::Broken => false,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = |outcome| terminal::scenario(outcome, &PLAIN);
        let blocks: Vec<_> = self.outcomes.iter().map(block).collect();
        f.write_str(&blocks.join("\n"))
    }
}

/// How a test shows what it has found.
const PLAIN: Style = Style::IN_A_FILE;

/// What mostly makes two runs of one seed differ.
pub const CAUSES: &str = "a static, a clock, a thread, the order of a HashMap, a file: a recipe may go by its handle \
    and its Env alone";

/// Why a check has no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The scenario has mistakes.
    Mistakes(Vec<Diagnostic>),
    /// No scenario has a case of this name.
    NoCase(String),
    /// There are several cases, or none, where one is wanted.
    NotOne {
        /// What they are called.
        cases: Vec<String>,
    },
    /// A file could not be written, and why.
    File(String),
    /// A case was stopped.
    Stopped {
        /// The scenario.
        scenario: String,
        /// The case.
        case: String,
        /// The reason.
        why: Stopped,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mistakes(mistakes) => {
                for (index, mistake) in mistakes.iter().enumerate() {
                    let space = if index == 0 { "" } else { "\n\n" };
                    write!(f, "{space}{mistake}")?;
                }
                Ok(())
            }
            Self::NoCase(case) => write!(f, "there is no case `{case}`"),
            Self::NotOne { cases } => {
                let (number, cases) = (cases.len(), cases.join(", "));
                write!(
                    f,
                    "there are {number} cases; name one of them, using with_case: {cases}"
                )
            }
            Self::File(why) => f.write_str(why),
            Self::Stopped {
                scenario,
                case,
                why,
            } => match why {
                Stopped::NotDeterministic { seed, hashes } => {
                    let (first, second) = hashes;
                    let hashes = format!("{first:016x}, {second:016x}");
                    write!(
                        f,
                        "{scenario}, {case}: two runs of seed {seed} differ: {hashes}\n{CAUSES}"
                    )
                }
                Stopped::Interrupted => write!(f, "{scenario}, {case}: stopped"),
            },
        }
    }
}

impl Error for CheckError {}
