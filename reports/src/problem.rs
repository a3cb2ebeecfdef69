//! What is not as expected, one thing at a time: what reports for other programs are made of.

use picklock_checker::outcome::{CaseOutcome, ScenarioOutcome, Standing, Violation};

use crate::words::harmless;

/// What a command is that shows one run again, and one that runs all seeds again.
const REPLAY: &str = "Replay";
const AGAIN: &str = "Again";

/// What is not as expected of a run as a whole, and of no case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it is about, in a word.
    pub about: String,
    /// What is wrong, in one line.
    pub text: String,
}

/// One thing that is not as expected of a case, or undecided.
pub(crate) struct Problem<'a> {
    pub(crate) case: &'a CaseOutcome,
    /// The invariant, metric, or moment that it is about.
    pub(crate) rule: &'a str,
    pub(crate) standing: Standing,
    /// One line.
    pub(crate) line: String,
    /// The command that shows it again, and what that is: `Replay` of one run, or all seeds `Again`.
    pub(crate) command: String,
    pub(crate) again: &'static str,
    /// The first seed that shows it, if one does.
    pub(crate) seed: Option<u64>,
}

/// What is not as expected of these scenarios, and what is undecided, in their order.
pub(crate) fn problems(outcomes: &[ScenarioOutcome]) -> impl Iterator<Item = Problem<'_>> {
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    cases.flat_map(of_case)
}

/// Those of one case.
pub(crate) fn of_case(case: &CaseOutcome) -> Vec<Problem<'_>> {
    let told = case
        .findings
        .iter()
        .filter(|finding| is_problem(finding.standing));
    let told = told.map(|finding| {
        let mut violations = case.violations.iter();
        let violation =
            violations.find(|violation| violation.invariant == finding.name && !violation.expected);
        let (again, command) = command(case, violation, finding.standing);
        Problem {
            case,
            rule: &finding.name,
            standing: finding.standing,
            line: harmless(&finding.line),
            command: harmless(&command),
            again,
            seed: violation.map(|violation| violation.seed),
        }
    });
    let told: Vec<_> = told.collect();
    if !told.is_empty() || !is_problem(case.standing) {
        return told;
    }
    // Nothing was looked at.
    vec![Problem {
        case,
        rule: "undecided",
        standing: case.standing,
        line: "nothing was found out".to_owned(),
        command: harmless(&run_again(case)),
        again: AGAIN,
        seed: None,
    }]
}

fn is_problem(standing: Standing) -> bool {
    match standing {
        Standing::Holds | Standing::AsExpected | Standing::Skipped => false,
        Standing::Undecided | Standing::Fail | Standing::Broken => true,
    }
}

/// The command that shows a violation again, or else the run that a story is about, or else all seeds.
fn command(
    case: &CaseOutcome,
    violation: Option<&Violation>,
    standing: Standing,
) -> (&'static str, String) {
    let first = violation.and_then(|violation| {
        let mut alike = violation.alike.iter();
        let first = |entry: &&(&String, _)| is_of(entry.1, violation.seed);
        let (argument, _) = alike.find(|entry| first(&entry))?;
        violation.replays.get(argument)
    });
    let story = case.story.as_ref().map(|story| &story.replay);
    match (first, story, standing) {
        (Some(replay), _, _) => (REPLAY, replay.clone()),
        (None, Some(replay), Standing::Fail | Standing::Broken) => (REPLAY, replay.clone()),
        (None, _, _) => (AGAIN, run_again(case)),
    }
}

fn is_of(alike: &picklock_checker::outcome::SimilarSeeds, seed: u64) -> bool {
    alike
        .first
        .first()
        .is_some_and(|sample| sample.seed == seed)
}

/// The command that runs the same seeds of a case again.
fn run_again(case: &CaseOutcome) -> String {
    format!(
        "picklock run {} --case {} --seeds {}",
        case.path,
        case.case,
        seeds(case)
    )
}

/// The seeds that ran, as a command line says them.
pub(crate) fn seeds(case: &CaseOutcome) -> String {
    match case.ran[..] {
        [ran] => format!("{}..{}", ran.from, ran.to),
        [] | [..] => case.seeds.to_string(),
    }
}
