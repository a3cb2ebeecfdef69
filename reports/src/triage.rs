//! Failures that look alike, told once: what there is to look into, and the shortest run that shows it.

use std::collections::{BTreeMap, BTreeSet};

use picklock_checker::outcome::{
    CaseOutcome, DistinctFailure, ScenarioOutcome, Standing, Violation,
};

use crate::commands::command_after;
use crate::style::Style;
use crate::words::{count, hanging, harmless};

/// What failures have in common beside the invariant and the algorithm.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Alike<'a> {
    /// The kinds of faults that the smallest plans have.
    Needs(&'a [String]),
    /// Nothing was made small: the argument without names and numbers.
    Argues(&'a str),
    /// Others were made small, these were not: what they have in common is unknown.
    NotLookedInto,
}

/// One way in which a case fails.
struct Failed<'a> {
    case: &'a CaseOutcome,
    seed: u64,
    /// The events up to the violation, if it was made small.
    events: u32,
    share: Share,
    /// The command that shows it.
    shown: &'a str,
}

/// How many seeds fail so.
#[derive(Clone, Copy, Default)]
pub(crate) struct Share {
    /// Seeds whose argument it is.
    seeds: u64,
    /// How many of these were looked into, and how many of those fail so.
    looked_into: (u64, u64),
}

impl Share {
    /// That of one way.
    pub(crate) fn of(way: &DistinctFailure) -> Self {
        Self {
            seeds: way.seeds,
            looked_into: (way.looked_into, way.need_these),
        }
    }

    /// That of seeds of which nothing is known but the argument.
    fn all(seeds: u64) -> Self {
        Self {
            seeds,
            looked_into: (0, 0),
        }
    }

    fn add(self, other: Self) -> Self {
        let ((all, some), (more, of_those)) = (self.looked_into, other.looked_into);
        Self {
            seeds: self.seeds + other.seeds,
            looked_into: (all + more, some + of_those),
        }
    }

    /// `30 seeds`, or `2 of 4 looked into, of 30 seeds`.
    pub(crate) fn describe(self) -> String {
        let seeds = count(self.seeds, "seed");
        match self.looked_into {
            (all, some) if all == some => seeds,
            (all, some) => format!("{some} of {all} looked into, of {seeds}"),
        }
    }
}

/// The kinds of failures, if there is more than one failure: how many cases and seeds each has, and the shortest of
/// them. Empty otherwise.
///
/// Failures are of one kind if they break the same promise of the same algorithm, and the same kinds of faults are left
/// of the smallest plans that do. Whether a fault strikes at this moment or the next, and how many stand by, makes no
/// other bug of it.
pub(crate) fn triage(outcomes: &[ScenarioOutcome], style: &Style) -> String {
    let mut kinds: BTreeMap<(&str, &str, Alike), Vec<Failed>> = BTreeMap::new();
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    for case in cases.filter(|case| case.standing == Standing::Fail) {
        for violation in case
            .violations
            .iter()
            .filter(|violation| !violation.expected)
        {
            let (invariant, algorithm) = (violation.invariant.as_str(), case.algorithm.as_str());
            for (alike, failed) in ways(case, violation) {
                let signature = (invariant, algorithm, alike);
                kinds.entry(signature).or_default().push(failed);
            }
        }
    }
    let failures: usize = kinds.values().map(Vec::len).sum();
    if failures < 2 {
        return String::new();
    }
    let known = kinds.keys();
    let known = known.filter(|(_, _, alike)| *alike != Alike::NotLookedInto);
    let mut text = format!(
        "  {} of {}, each with its shortest run:\n",
        count(failures as u64, "failure"),
        count(known.count() as u64, "kind")
    );
    for ((invariant, algorithm, alike), mut failed) in kinds {
        failed.sort_by_key(|failed| (failed.events, failed.seed));
        let shortest = &failed[0];
        let first = format!("    {invariant}, {algorithm}{}: ", alike.describe());
        let shares = failed.iter().map(|failed| failed.share);
        let seeds = shares.fold(Share::default(), Share::add).describe();
        let cases = failed
            .iter()
            .map(|failed| (&failed.case.scenario, &failed.case.case));
        let cases: BTreeSet<_> = cases.collect();
        let cases = count(cases.len() as u64, "case");
        let line = format!("{cases}, {seeds}");
        text.push_str(&hanging(&first, &harmless(&line), style.columns()));
        text.push('\n');
        text.push_str(&command_after("      ", shortest.shown, style));
    }
    text
}

impl Alike<'_> {
    fn describe(&self) -> String {
        match self {
            Self::Needs([]) => ", without a fault".to_owned(),
            Self::Needs(kinds) => format!(", {}", kinds.join(" and ")),
            Self::Argues(_) => String::new(),
            Self::NotLookedInto => ", not looked into".to_owned(),
        }
    }
}

/// The ways in which a case violates a promise: by what was made small, or else by the arguments alone.
fn ways<'a>(
    case: &'a CaseOutcome,
    violation: &'a Violation,
) -> impl Iterator<Item = (Alike<'a>, Failed<'a>)> {
    let small = violation.ways.iter().map(move |way| {
        let failed = Failed {
            case,
            seed: way.seed,
            events: way.smaller.events,
            share: Share::of(way),
            shown: &way.replay,
        };
        (Alike::Needs(&way.smaller.shape), failed)
    });
    let told = |argument: &String| violation.ways.iter().any(|way| way.argument == *argument);
    let others = violation
        .alike
        .iter()
        .filter(move |(argument, _)| !told(argument));
    let others = others.filter_map(move |(argument, alike)| {
        let failed = Failed {
            case,
            seed: alike.first.first()?.seed,
            events: u32::MAX,
            share: Share::all(alike.seeds),
            shown: violation.replays.get(argument)?,
        };
        let alike = match violation.ways.is_empty() {
            true => Alike::Argues(argument),
            false => Alike::NotLookedInto,
        };
        Some((alike, failed))
    });
    small.chain(others)
}

#[cfg(test)]
mod tests;
