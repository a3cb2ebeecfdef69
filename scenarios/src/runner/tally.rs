//! What has been seen of a case, and how that compares with what was expected.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::outcome::{CaseOutcome, Finding, SeedOutcome, Standing, Story, Violation};
use picklock_checker::{Counts, Verdict, Witness, invariants, metrics};
use picklock_sim::RollingHash;

use super::wanted;
use crate::scenario::{Case, Expectation, Measure, Scenario, Want};

/// What has been seen of a case so far.
#[derive(Default)]
pub(super) struct Tally {
    seeds: u64,
    hash: RollingHash,
    counts: Counts,
    /// Why runs as a whole say nothing: how many seeds gave each reason.
    vacuous: BTreeMap<String, u64>,
    /// By invariant: how many seeds left it undecided, and why the first did.
    unknown: BTreeMap<&'static str, Unknown>,
    /// By invariant: in how many seeds it was not looked at because of the faults that were drawn.
    excused: BTreeMap<&'static str, u64>,
    /// By invariant: how many seeds say nothing of it, for whatever reason.
    silent: BTreeMap<&'static str, u64>,
    /// Seeds that say nothing of anything.
    idle: u64,
    violated: BTreeMap<&'static str, Seen>,
}

struct Unknown {
    seeds: u64,
    reason: String,
}

/// The first violation of an invariant, and how often it was seen.
struct Seen {
    seed: u64,
    found_after: u64,
    seeds: u64,
    witness: Witness,
}

impl Tally {
    /// Adds the outcome of the next seed.
    pub(super) fn add(&mut self, outcome: SeedOutcome) {
        self.seeds += 1;
        self.hash.mix(outcome.hash);
        self.counts.add(&outcome.counts);
        let idle = outcome.vacuous.is_some();
        self.idle += u64::from(idle);
        for invariant in outcome.excused {
            *self.excused.entry(invariant).or_default() += 1;
            *self.silent.entry(invariant).or_default() += u64::from(!idle);
        }
        if let Some(reason) = outcome.vacuous {
            *self.vacuous.entry(reason).or_default() += 1;
        }
        for (invariant, verdict) in outcome.verdicts {
            match verdict {
                Verdict::Holds => {}
                Verdict::Undecided(reason) => {
                    *self.silent.entry(invariant).or_default() += u64::from(!idle);
                    let unknown = Unknown { seeds: 0, reason };
                    self.unknown.entry(invariant).or_insert(unknown).seeds += 1;
                }
                Verdict::Violated(witness) => {
                    let seen = self.violated.entry(invariant).or_insert(Seen {
                        seed: outcome.seed,
                        found_after: self.seeds,
                        seeds: 0,
                        witness: *witness,
                    });
                    seen.seeds += 1;
                }
            }
        }
    }

    /// The violation whose story is to be told: the first that was not expected, or else the first.
    pub(super) fn told(&self, case: &Case) -> Option<Violation> {
        let violations = self.violations(case);
        let unexpected = violations.iter().find(|violation| !violation.expected);
        unexpected.or(violations.first()).cloned()
    }

    /// The outcome of all seeds that were added.
    pub(super) fn outcome(
        self,
        scenario: &Scenario,
        case: &Case,
        story: Option<Story>,
        took: Duration,
    ) -> CaseOutcome {
        let metrics: BTreeMap<String, f64> = metrics::METRICS
            .iter()
            .filter_map(|metric| Some((metric.name.to_owned(), (metric.value)(&self.counts)?)))
            .collect();
        let findings = self.findings(case, &metrics);
        let standing = findings.iter().map(|finding| finding.standing).max();
        let violations = self.violations(case);
        let mut undecided = self.vacuous;
        for (invariant, Unknown { seeds, reason }) in self.unknown {
            let reason = format!("{invariant}: {reason}");
            *undecided.entry(reason).or_default() += seeds;
        }
        CaseOutcome {
            scenario: scenario.name.clone(),
            case: case.name.clone(),
            algorithm: case.algorithm.name.to_owned(),
            // Where nothing is looked at, nothing is found out.
            standing: standing.unwrap_or(Standing::Undecided),
            findings,
            violations,
            seeds: self.seeds,
            undecided,
            hash: self.hash.value(),
            metrics,
            took,
            story: story.map(Box::new),
        }
    }

    /// First violations, in the order of the registry.
    fn violations(&self, case: &Case) -> Vec<Violation> {
        invariants::INVARIANTS
            .iter()
            .filter_map(|invariant| {
                let seen = self.violated.get(invariant.name)?;
                let want = wanted(case, invariant.name);
                Some(Violation {
                    invariant: invariant.name.to_owned(),
                    seed: seen.seed,
                    found_after: seen.found_after,
                    seeds: seen.seeds,
                    expected: matches!(want, Some(Want::Violated { .. })),
                    witness: seen.witness.clone(),
                })
            })
            .collect()
    }

    /// How every expectation stands. What leaves several of them undecided alike is said once.
    pub(super) fn findings(&self, case: &Case, metrics: &BTreeMap<String, f64>) -> Vec<Finding> {
        let promises = case.expectations.iter().filter_map(|it| self.promise(it, case.open.is_some()));
        let measures = case.measures.iter().map(|it| self.measure(it, metrics, case.open.is_some()));
        let mut findings: Vec<Finding> = Vec::new();
        for finding in promises.chain(measures) {
            if findings.iter().all(|other| other.line != finding.line) {
                findings.push(finding);
            }
        }
        findings
    }

    /// How an expectation stands; `None` for one that is not looked at.
    fn promise(&self, expected: &Expectation, open: bool) -> Option<Finding> {
        let name = expected.invariant;
        let (standing, line) = match &expected.want {
            Want::Unchecked { .. } => return None,
            Want::Holds => self.to_hold(name, open),
            Want::Violated {
                because,
                within_seeds,
            } => self.to_be_violated(name, because, *within_seeds, open),
        };
        Some(Finding {
            name: name.to_owned(),
            standing,
            line,
        })
    }

    fn to_hold(&self, name: &str, open: bool) -> (Standing, String) {
        if let Some(seen) = self.violated.get(name) {
            let (seed, summary) = (seen.seed, &seen.witness.summary);
            let line = format!("{name} violated at seed {seed}: {summary}");
            return (Standing::Fail, line);
        }
        if let Some(doubt) = self.in_doubt(name, open) {
            return (Standing::Undecided, doubt);
        }
        let line = match self.telling(name) {
            all if all == self.seeds => format!("{name} holds"),
            some => format!("{name} holds ({} can tell)", self.of_all(some)),
        };
        (Standing::Holds, line)
    }

    fn to_be_violated(
        &self,
        name: &str,
        because: &str,
        within: u64,
        open: bool,
    ) -> (Standing, String) {
        if let Some(seen) = self.violated.get(name) {
            if seen.found_after <= within {
                let because = because.split_whitespace().collect::<Vec<_>>().join(" ");
                let line = format!("{name} violated at seed {}: {because}", seen.seed);
                return (Standing::AsExpected, line);
            }
            let (within, after) = (seeds(within), seen.found_after);
            let line = format!("{name} was to be violated within {within}, and was after {after}");
            return (Standing::Fail, line);
        }
        if let Some(doubt) = self.in_doubt(name, open) {
            return (Standing::Undecided, doubt);
        }
        if self.seeds < within {
            let (within, ran) = (seeds(within), self.seeds);
            let line = format!("{name} is to be violated within {within}, and only {ran} ran");
            return (Standing::Undecided, line);
        }
        let within = seeds(within);
        let line = format!("{name} was to be violated within {within}, and held");
        (Standing::Fail, line)
    }

    fn measure(
        &self,
        measure: &Measure,
        metrics: &BTreeMap<String, f64>,
        open: bool,
    ) -> Finding {
        let name = measure.metric;
        let (standing, line) = match metrics.get(name) {
            None => (Standing::Undecided, format!("{name}: nothing was counted")),
            Some(value) => {
                let too_low = measure.at_least.filter(|least| value < least);
                let too_high = measure.at_most.filter(|most| value > most);
                match (too_low, too_high, self.says_nothing(open)) {
                    (Some(least), _, _) => {
                        let line = format!("{name} {value:.2}, expected at least {least}");
                        (Standing::Fail, line)
                    }
                    (None, Some(most), _) => {
                        let line = format!("{name} {value:.2}, expected at most {most}");
                        (Standing::Fail, line)
                    }
                    (None, None, Some(doubt)) => (Standing::Undecided, doubt),
                    (None, None, None) => (Standing::Holds, format!("{name} {value:.2}")),
                }
            }
        };
        Finding {
            name: name.to_owned(),
            standing,
            line,
        }
    }

    /// Why nothing can be said of an invariant, if so. Where plans are drawn, one that says nothing is no reason to
    /// doubt the others; where the file has written the plan, it is.
    fn in_doubt(&self, invariant: &str, open: bool) -> Option<String> {
        if let Some(doubt) = self.says_nothing(open) {
            return Some(doubt);
        }
        if open && self.telling(invariant) > 0 {
            return None;
        }
        if let Some(Unknown { seeds, reason }) = self.unknown.get(invariant) {
            return Some(format!("{invariant}: {reason} ({})", self.of_all(*seeds)));
        }
        let excused = self.excused.get(invariant)?;
        let of_all = self.of_all(*excused);
        Some(format!("{invariant}: no lock could keep it under the faults drawn ({of_all})"))
    }

    /// How many seeds can tell whether an invariant holds.
    fn telling(&self, invariant: &str) -> u64 {
        let silent = self.silent.get(invariant).copied().unwrap_or_default();
        self.seeds.saturating_sub(self.idle + silent)
    }

    /// Why nothing can be said of anything, if so.
    fn says_nothing(&self, open: bool) -> Option<String> {
        if open && self.idle < self.seeds {
            return None;
        }
        let (reason, seeds) = self.vacuous.iter().max_by_key(|(_, seeds)| **seeds)?;
        Some(format!("{reason} ({})", self.of_all(*seeds)))
    }

    fn of_all(&self, some: u64) -> String {
        format!("{some} of {}", seeds(self.seeds))
    }
}

fn seeds(number: u64) -> String {
    if number == 1 {
        "1 seed".to_owned()
    } else {
        format!("{number} seeds")
    }
}
