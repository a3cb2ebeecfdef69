//! Failures that look alike, told once: what there is to look into, and the shortest run that shows it.

use std::collections::BTreeMap;

use picklock_checker::outcome::{CaseOutcome, ScenarioOutcome, Standing, Violation};

use crate::words::{count, hanging, harmless};

/// What failures have in common: the invariant, the algorithm, and what is left of the argument and of the plan without
/// names and numbers.
type Signature<'a> = (&'a str, &'a str, &'a str, &'a str);

/// One way in which a case fails.
struct Failed<'a> {
    case: &'a CaseOutcome,
    seed: u64,
    /// The events up to the violation, if it was made small.
    events: u32,
    /// How many seeds have the argument, and whether others of them fail by another plan.
    seeds: (u64, bool),
    /// The command that shows it.
    shown: String,
}

/// The kinds of failures, if there is more than one failure: how many cases and seeds each has, and the shortest of
/// them. Empty otherwise.
pub(crate) fn triage(outcomes: &[ScenarioOutcome]) -> String {
    let mut kinds: BTreeMap<Signature, Vec<Failed>> = BTreeMap::new();
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    for case in cases.filter(|case| case.standing == Standing::Fail) {
        for violation in case.violations.iter().filter(|it| !it.expected) {
            let (invariant, algorithm) = (violation.invariant.as_str(), case.algorithm.as_str());
            for (argument, plan, failed) in ways(case, violation) {
                let signature = (invariant, algorithm, argument, plan);
                kinds.entry(signature).or_default().push(failed);
            }
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
    for ((invariant, algorithm, _, _), mut failed) in kinds {
        failed.sort_by_key(|failed| (failed.events, failed.seed));
        let shortest = &failed[0];
        let first = format!("    {invariant}, {algorithm}: ");
        let seeds = count(failed.iter().map(|failed| failed.seeds.0).sum(), "seed");
        let seeds = match failed.iter().any(|failed| failed.seeds.1) {
            true => format!("some of {seeds}"),
            false => seeds,
        };
        let cases = count(failed.len() as u64, "case");
        let at = (&shortest.case.scenario, shortest.seed);
        let line = format!("{cases}, {seeds}, shortest in {} at seed {}", at.0, at.1);
        text.push_str(&hanging(&first, &harmless(&line)));
        text.push_str(&format!("\n      {}\n", harmless(&shortest.shown)));
    }
    text
}

/// The ways in which a case violates a promise: by what was made small, or else by the arguments alone.
fn ways<'a>(
    case: &'a CaseOutcome,
    violation: &'a Violation,
) -> Vec<(&'a str, &'a str, Failed<'a>)> {
    let small = violation.ways.iter().map(|way| {
        let failed = Failed {
            case,
            seed: way.seed,
            events: way.smaller.events,
            seeds: (way.seeds, way.some),
            shown: way.replay.clone(),
        };
        (way.argument.as_str(), way.smaller.shape.as_str(), failed)
    });
    let small: Vec<_> = small.collect();
    let told = |argument: &str| small.iter().any(|(known, ..)| *known == argument);
    let others = violation.alike.iter().filter(|(it, _)| !told(it));
    let others = others.filter_map(|(argument, alike)| {
        let seed = *alike.first.first()?;
        let failed = Failed {
            case,
            seed,
            events: u32::MAX,
            seeds: (alike.seeds, false),
            shown: again(case, seed),
        };
        Some((argument.as_str(), "", failed))
    });
    let others: Vec<_> = others.collect();
    small.into_iter().chain(others).collect()
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
mod tests;
