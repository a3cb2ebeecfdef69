//! Reproductions: a shrunk run as a scenario file, with everything spelled out, so that it outlives its seed.

use picklock_checker::vacuity::vacuous_evidence;
use picklock_checker::{Evidence, Step, Verdict, invariants};

use super::Shrunk;
use super::search::read_back;
use crate::describe::one_line;
use crate::scenario::{
    Case, Expectation, Recorded, RecordedRun, SavedPlan, Scenario, VIOLATES, Want,
};
use crate::search::cause::Cause;
use crate::search::counterexample::BrokenRun;

/// A scenario with one case that is this run, as it was found with a seed of a case of another scenario. It expects
/// what the run does; [`write`](crate::write) makes a file of it.
///
/// # Panics
///
/// If the plan cannot be written as a scenario file, which shrinking does not let happen to one that could be.
pub fn reproduction(scenario: &Scenario, case: &Case, seed: u64, shrunk: &Shrunk) -> Scenario {
    let version = env!("CARGO_PKG_VERSION");
    let Shrunk {
        invariant, witness, ..
    } = shrunk;
    let found_by = match &case.recorded {
        Some(_) => "the recorded run".to_owned(),
        None => format!("seed {seed}"),
    };
    let argument = witness.argument.iter().map(|step| match step {
        Step::Then(sentence) => sentence.clone(),
        Step::However(sentence) => format!("However, {sentence}"),
    });
    let argument: Vec<String> = argument.collect();
    let because = if argument.is_empty() {
        sentence(&witness.summary)
    } else {
        argument.join("\n")
    };
    Scenario {
        name: file_name(scenario, case, invariant),
        path: String::new(),
        claim: one_line(&format!(
            "{}{VIOLATES}{invariant}: {}",
            case.algorithm.name,
            sentence(&witness.summary)
        )),
        because,
        source: one_line(&format!(
            "found by {found_by} of {}, case {}, picklock {version}; {}",
            scenario.name,
            case.name,
            shrunk.sizes()
        )),
        cases: vec![Case {
            name: case.algorithm.name.to_owned(),
            line: None,
            algorithm: case.algorithm,
            plan: shrunk.plan.clone(),
            open: None,
            drawn: false,
            expectations: expectations(case, shrunk),
            sometimes: Vec::new(),
            measures: Vec::new(),
            recorded: Some(Recorded {
                choices: shrunk.choices.clone(),
                was: RecordedRun {
                    hash: Some(shrunk.simulated.hash),
                    picklock: Some(version.to_owned()),
                },
            }),
            saved: None,
            seeds_at_most: None,
        }],
    }
}

/// Whether a text is a file that was written of a reproduction, and not by hand.
pub fn is_reproduction(text: &str) -> bool {
    let begins = |with: &str| text.lines().any(|line| line.starts_with(with));
    begins("source = \"found by ") && begins("[replay]")
}

/// A scenario with one case that is a run that a hunt from this seed on has found.
///
/// # Panics
///
/// As [`reproduction`].
pub fn found_by_hunt(scenario: &Scenario, case: &Case, seed: u64, shrunk: &Shrunk) -> Scenario {
    let mut small = reproduction(scenario, case, seed, shrunk);
    // One promise may be broken for several reasons, and each has a file of its own.
    let cause = Cause::of(&shrunk.mechanism).slug();
    small.name = file_name(scenario, case, &format!("{}-{cause}", shrunk.invariant));
    // It was found by no seed of the case.
    let by_seed = format!("found by seed {seed} of");
    small.source = small.source.replacen(&by_seed, "found by a hunt in", 1);
    small
}

/// A scenario with one case that is a run that broke off: its plan, and its seed.
pub fn broken_off(scenario: &Scenario, hunt: u64, broken: &BrokenRun) -> Scenario {
    let version = env!("CARGO_PKG_VERSION");
    let (case, why) = (&broken.case, broken.why.to_string());
    let name = case.algorithm.name;
    Scenario {
        name: file_name(scenario, case, "broken"),
        path: String::new(),
        claim: one_line(&format!("{name} does not panic, and comes to an end.")),
        because: one_line(&format!("A run broke off: {}", sentence(&why))),
        source: one_line(&format!(
            "found by a hunt in {} from seed {hunt} on, case {}, picklock {version}",
            scenario.name, case.name
        )),
        cases: vec![Case {
            name: name.to_owned(),
            line: None,
            open: None,
            drawn: false,
            recorded: None,
            saved: Some(SavedPlan {
                seed: broken.seed,
                drawn: false,
                was: RecordedRun {
                    hash: Some(broken.simulated.hash),
                    picklock: Some(version.to_owned()),
                },
            }),
            ..case.clone()
        }],
    }
}

/// A name for the file, without `.toml`: `waiter-death-zk-no-recheck-mutual-exclusion`.
pub fn file_name(scenario: &Scenario, case: &Case, invariant: &str) -> String {
    let last = scenario.name.rsplit('/').next().unwrap_or_default();
    let name = format!("{last}-{}-{invariant}", case.name);
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter,
        '.' | '_' => letter,
        // Whatever a file system or a shell may take for something else.
        _ => '-',
    };
    let name: String = name.chars().map(plain).collect();
    name.trim_start_matches(['.', '-']).to_owned()
}

/// What the run does: each promise is to be broken or kept as it is in this run, so that the file says when that
/// changes.
fn expectations(case: &Case, shrunk: &Shrunk) -> Vec<Expectation> {
    let (_, read) = read_back(case, &shrunk.plan).expect("every plan that was kept can be written");
    let by_default = read.cases.into_iter().flat_map(|case| case.expectations);
    let mut promised: Vec<&str> = by_default.map(|invariant| invariant.invariant).collect();
    promised.push(shrunk.invariant);
    let evidence = Evidence::of(&shrunk.simulated.run);
    let vacuous = vacuous_evidence(&evidence);
    let promised = invariants::INVARIANTS
        .iter()
        .filter(|invariant| promised.contains(&invariant.name));
    let expectation = promised.map(|invariant| {
        let want = match ((invariant.check)(&evidence), &vacuous) {
            (Verdict::Violated(witness), _) => Want::Violated {
                because: one_line(&witness.summary),
                within_seeds: 1,
            },
            (Verdict::Undecided(reason), None) => Want::Undecided {
                because: one_line(&reason),
            },
            (Verdict::Holds | Verdict::Undecided(_), Some(reason)) => Want::Unchecked {
                because: Some(one_line(reason)),
            },
            (Verdict::Holds, None) => Want::Holds,
        };
        Expectation {
            invariant: invariant.name,
            want,
        }
    });
    expectation.collect()
}

fn sentence(text: &str) -> String {
    format!("{}.", text.trim().trim_end_matches('.'))
}
