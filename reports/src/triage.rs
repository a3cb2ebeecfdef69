//! Failures that look alike, told once: what there is to look into, and the shortest run that shows it.

use std::collections::BTreeMap;

use picklock_checker::outcome::{CaseOutcome, ScenarioOutcome, Standing, Violation};

use crate::words::{count, hanging, harmless};

/// What failures have in common: the invariant, the algorithm, and what is left of the argument and of the plan without
/// names and numbers.
type Signature<'a> = (&'a str, &'a str, String);

/// One failure of a kind.
struct Failed<'a> {
    case: &'a CaseOutcome,
    /// The events of its argument, and its seed.
    length: (usize, u64),
    shown: String,
}

/// The kinds of failures, if there is more than one failure: how many cases each has, and the shortest of them. Empty
/// otherwise.
pub(crate) fn triage(outcomes: &[ScenarioOutcome]) -> String {
    let mut kinds: BTreeMap<Signature, Vec<Failed>> = BTreeMap::new();
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    for case in cases.filter(|case| case.standing == Standing::Fail) {
        for violation in case.violations.iter().filter(|it| !it.expected) {
            let signature = (
                violation.invariant.as_str(),
                case.algorithm.as_str(),
                kind(violation),
            );
            kinds.entry(signature).or_default().push(Failed {
                case,
                length: (events(violation), violation.seed),
                shown: again(case, violation.seed),
            });
        }
    }
    let failures: usize = kinds.values().map(Vec::len).sum();
    if failures < 2 {
        return String::new();
    }
    let mut text = format!(
        "  {} of {}:\n",
        count(failures as u64, "failure"),
        count(kinds.len() as u64, "kind")
    );
    for ((invariant, algorithm, _), mut failed) in kinds {
        failed.sort_by_key(|failed| failed.length);
        let shortest = &failed[0];
        let first = format!("    {invariant}, {algorithm}: ");
        let number = count(failed.len() as u64, "case");
        let at = (&shortest.case.scenario, shortest.length.1);
        let line = format!("{number}, shortest in {} at seed {}", at.0, at.1);
        text.push_str(&hanging(&first, &harmless(&line)));
        text.push_str(&format!("\n      {}\n", harmless(&shortest.shown)));
    }
    text
}

/// The argument, and the plan if it was made as small as it can be.
fn kind(violation: &Violation) -> String {
    let plan = violation.smaller.as_ref().map(|it| it.shape.as_str());
    format!("{}\n{}", violation.witness.kind(), plan.unwrap_or_default())
}

fn events(violation: &Violation) -> usize {
    let shown = || violation.witness.events.len();
    violation
        .smaller
        .as_ref()
        .map_or_else(shown, |smaller| smaller.events as usize)
}

/// The command that shows a seed of a case again. It is that of the story, which knows where the scenario is.
fn again(case: &CaseOutcome, seed: u64) -> String {
    let told = case.story.as_ref().map(|story| (story.seed, &story.replay));
    match told {
        Some((of, replay)) if of == seed => replay.clone(),
        Some((_, replay)) if replay.contains(" --seed ") => {
            let (before, _) = replay.rsplit_once(" --seed ").unwrap_or((replay, ""));
            format!("{before} --seed {seed}")
        }
        Some(_) | None => {
            let (scenario, case) = (&case.scenario, &case.case);
            format!("picklock replay {scenario} --case {case} --seed {seed}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use picklock_checker::outcome::Smaller;
    use picklock_checker::{Step, VirtualTime, Witness};

    fn case(scenario: &str, who: &str, events: usize, seed: u64) -> ScenarioOutcome {
        let argument = vec![
            Step::Then(format!("{who} is inside from {}.012 s.", seed + 1)),
            Step::However("It is not the owner.".to_owned()),
        ];
        let violation = Violation {
            invariant: "mutual-exclusion".to_owned(),
            seed,
            found_after: 1,
            seeds: 1,
            expected: false,
            witness: Witness {
                summary: String::new(),
                at: VirtualTime::ZERO,
                overlap: None,
                events: (0..events).collect(),
                argument,
            },
            smaller: None,
        };
        let case = CaseOutcome {
            scenario: scenario.to_owned(),
            path: scenario.to_owned(),
            case: "zk-x".to_owned(),
            algorithm: "zk-x".to_owned(),
            standing: Standing::Fail,
            findings: Vec::new(),
            violations: vec![violation],
            seeds: 1,
            ran: Vec::new(),
            undecided: BTreeMap::new(),
            reached: BTreeMap::new(),
            nearest: BTreeMap::new(),
            hash: 0,
            metrics: BTreeMap::new(),
            took: std::time::Duration::ZERO,
            story: None,
        };
        ScenarioOutcome {
            name: scenario.to_owned(),
            claim: String::new(),
            cases: vec![case],
        }
    }

    #[test]
    fn failures_that_differ_in_names_and_numbers_are_of_one_kind_and_the_shortest_is_kept() {
        let alike = [
            case("a", "contender-1", 9, 4),
            case("b", "contender-2", 7, 1_200),
        ];
        assert_eq!(
            triage(&alike),
            "  2 failures of 1 kind:\n    \
             mutual-exclusion, zk-x: 2 cases, shortest in b at seed 1200\n      \
             picklock replay b --case zk-x --seed 1200\n"
        );
        let mut shrunk = alike;
        let plans = ["crash # when # waits", "expire-session # when # waits"];
        for ((outcome, shape), events) in shrunk.iter_mut().zip(plans).zip([3, 5]) {
            outcome.cases[0].violations[0].smaller = Some(Smaller {
                sizes: String::new(),
                keep: None,
                events,
                shape: shape.to_owned(),
                needs: Vec::new(),
            });
        }
        assert!(triage(&shrunk).starts_with("  2 failures of 2 kinds:\n"));
        let other = [case("a", "contender-1", 9, 4), case("b", "Nobody", 7, 5)];
        assert!(triage(&other).starts_with("  2 failures of 2 kinds:\n"));
    }

    #[test]
    fn one_failure_needs_no_order() {
        assert_eq!(triage(&[case("a", "contender-1", 9, 4)]), "");
    }
}
