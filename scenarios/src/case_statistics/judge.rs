//! Compares the statistics of a case with what its scenario expects.

use std::collections::BTreeMap;

use picklock_checker::outcome::{
    CaseLocation, CaseOutcome, Finding, SimilarSeeds, Standing, Violation,
};
use picklock_checker::{Witness, invariants, metrics};

use super::doubt::nothing_judged;
use super::phrases::{seeds, share};
use super::{ENOUGH_SEEDS, Tally, Unknown, ViolationCount, mixed};
use crate::describe::one_line;
use crate::library::BUILT_IN;
use crate::matrix;
use crate::replay_command::{ReplayCommand, quoted};
use crate::runner::wanted;
use crate::scenario::{Case, Expectation, Measure, Scenario, Want};

impl Tally {
    /// The seed whose story is to be told, and what it violates: the first that broke off, or else violates something
    /// that was not expected, or else violates something.
    pub(crate) fn run_to_explain(
        &self,
        scenario: &Scenario,
        case: &Case,
    ) -> Option<(u64, Option<(String, Witness)>)> {
        if let Some(broken) = &self.broken {
            return Some((broken.seed, None));
        }
        let violations = self.violations(scenario, case);
        let unexpected = violations.iter().find(|violation| !violation.expected);
        let told = unexpected.or(violations.first())?;
        let violated = (told.invariant.clone(), told.witness.clone());
        Some((told.seed, Some(violated)))
    }

    /// The outcome of all seeds that were added, and no story yet.
    pub(crate) fn outcome(&self, scenario: &Scenario, case: &Case) -> CaseOutcome {
        let metrics: BTreeMap<String, f64> = metrics::METRICS
            .iter()
            .filter_map(|metric| Some((metric.name.to_owned(), (metric.value)(&self.counts)?)))
            .collect();
        let in_matrix = matrix::names().contains(&scenario.path);
        let mut findings = self.findings(case, &metrics, in_matrix);
        if let Some(kept_for) = scenario.kept_for(case) {
            findings.sort_by_key(|finding| finding.name != kept_for.name);
        }
        let standing = findings.iter().map(|finding| finding.standing).max();
        let mut violations = self.violations(scenario, case);
        for violation in &mut violations {
            violation.replays = replays(scenario, case, &violation.alike);
        }
        let mut undecided = self.vacuous.clone();
        for (invariant, Unknown { seeds, reason, .. }) in &self.unknown {
            let reason = format!("{invariant}: {reason}");
            *undecided.entry(reason).or_default() += seeds;
        }
        CaseOutcome {
            scenario: scenario.name.clone(),
            path: quoted(&scenario.path),
            case: case.name.clone(),
            written: CaseLocation {
                file: scenario.path.clone(),
                built_in: BUILT_IN.iter().any(|(name, _)| *name == scenario.path),
                line: case.line,
            },
            algorithm: case.algorithm.name.to_owned(),
            standing: standing.unwrap_or(Standing::Undecided),
            findings,
            violations,
            broken: self.broken.clone(),
            seeds: self.seeds(),
            seeds_at_most: case.seeds_at_most.filter(|_| self.left_out),
            ran: self.ran(),
            undecided,
            reached: self.reached.clone(),
            nearest: self.nearest.clone(),
            hash: self.hash,
            metrics,
            took: self.took,
            story: None,
        }
    }

    /// First violations, in the order of the registry: before all others that for which the run was kept.
    fn violations(&self, scenario: &Scenario, case: &Case) -> Vec<Violation> {
        let kept_for = scenario.kept_for(case);
        let first = kept_for.into_iter();
        let others = invariants::INVARIANTS.iter();
        let others = others.filter(|row| kept_for.is_none_or(|first| first.name != row.name));
        first
            .chain(others)
            .filter_map(|invariant| {
                let seen = self.violated.get(invariant.name)?;
                let want = wanted(case, invariant.name);
                Some(Violation {
                    invariant: invariant.name.to_owned(),
                    seed: seen.seed,
                    found_after: self.found_after(seen),
                    seeds: seen.seeds,
                    expected: matches!(want, Some(Want::Violated { .. })),
                    witness: seen.witness.clone(),
                    alike: seen.alike.clone(),
                    replays: BTreeMap::new(),
                    ways: Vec::new(),
                    looked_into: 0,
                })
            })
            .collect()
    }

    /// How every expectation stands. What leaves several of them undecided alike is said once.
    fn findings(
        &self,
        case: &Case,
        metrics: &BTreeMap<String, f64>,
        in_matrix: bool,
    ) -> Vec<Finding> {
        let open = case.differs_by_seed();
        let expected = case.expectations.iter();
        let promises = expected.filter_map(|expected| self.promise(expected, open, in_matrix));
        let measures = case.measures.iter();
        let measures = measures.map(|measure| self.measure(measure, metrics, open));
        let mut findings: Vec<Finding> = Vec::new();
        for finding in (self.breakage().into_iter())
            .chain(promises)
            .chain(measures)
            .chain(self.recorded(case))
            .chain(self.came_through(case))
        {
            if findings.iter().all(|other| other.line != finding.line) {
                findings.push(finding);
            }
        }
        if findings.is_empty() && self.seeds() > 0 {
            findings.push(nothing_judged(case, in_matrix));
        }
        findings
    }

    /// How an expectation stands; `None` for one that is not looked at.
    fn promise(&self, expected: &Expectation, open: bool, in_matrix: bool) -> Option<Finding> {
        let name = expected.invariant;
        let (standing, line) = match &expected.want {
            Want::Unchecked { .. } => return None,
            Want::Excused { .. } => self.not_beyond_its_excuse(name)?,
            Want::Holds if self.is_moot(name) => return None,
            Want::Holds => match self.to_hold(name, open) {
                // A class of the matrix may be one under which no lock keeps a promise.
                (Standing::Undecided, line) if in_matrix && self.is_always_excused(name) => {
                    (Standing::AsExpected, line)
                }
                standing => standing,
            },
            Want::Undecided { because } => self.to_be_undecided(name, because, open),
            Want::Violated {
                because,
                within_seeds,
            } => self.to_be_violated(name, because, *within_seeds, open),
        };
        Some(Finding {
            name: name.to_owned(),
            standing,
            line,
            can_tell: Some(self.deciding_seeds(name)),
        })
    }

    fn to_hold(&self, name: &str, open: bool) -> (Standing, String) {
        if let Some(seen) = self.violated.get(name) {
            let (first, summary) = (self.first_of(seen), &seen.witness.summary);
            let line = format!("{name} violated at {first}: {summary}");
            return (Standing::Fail, line);
        }
        if let Some(doubt) = self.in_doubt(name, open) {
            return self.undecided_or_for_want_of_seeds(name, doubt, open);
        }
        let line = match self.deciding_seeds(name) {
            all if all == self.seeds() => format!("{name} holds"),
            some => format!("{name} holds (decided in {})", self.of_all(some)),
        };
        (Standing::Holds, line)
    }

    /// Of what is excused, only a violation that nothing excuses is worth a word.
    fn not_beyond_its_excuse(&self, name: &str) -> Option<(Standing, String)> {
        let seen = self.violated.get(name)?;
        let (first, summary) = (self.first_of(seen), &seen.witness.summary);
        let line = format!("{name} violated at {first}, and nothing excuses that: {summary}");
        Some((Standing::Fail, line))
    }

    /// One seed that cannot tell is enough: in the others, what is gone for good may have gone too late to matter.
    fn to_be_undecided(&self, name: &str, because: &str, open: bool) -> (Standing, String) {
        if let Some(seen) = self.violated.get(name) {
            let (first, summary) = (self.first_of(seen), &seen.witness.summary);
            let line = format!("{name} was to be undecided, and is violated at {first}: {summary}");
            return (Standing::Fail, line);
        }
        if let Some(doubt) = self.vacuity_reason(open) {
            return (Standing::Undecided, doubt);
        }
        if let Some(Unknown { seeds, .. }) = self.unknown.get(name) {
            let (of_all, because) = (self.of_all(*seeds), one_line(because));
            let line = format!("{name} is undecided, as expected: {because} ({of_all})");
            return (Standing::AsExpected, line);
        }
        let line = format!("{name} is to be undecided, and every seed decides it");
        (Standing::Undecided, line)
    }

    fn to_be_violated(
        &self,
        name: &str,
        because: &str,
        within: u64,
        open: bool,
    ) -> (Standing, String) {
        // What seeds before it that have not run would say is not known.
        let ran = self.ran_of_the_first(within);
        let doubt = match self
            .violated
            .get(name)
            .map(|seen| (seen, self.found_after(seen)))
        {
            Some((seen, after)) if after <= within => {
                let (first, because) = (self.first_of(seen), one_line(because));
                let line = format!("{name} violated at {first}: {because}");
                return (Standing::AsExpected, line);
            }
            Some((_, after)) if ran == within => {
                let within = seeds(within);
                let line =
                    format!("{name} was to be violated within {within}, and was after {after}");
                return (Standing::Fail, line);
            }
            Some(_) | None => self.in_doubt(name, open),
        };
        if let Some(doubt) = doubt {
            return self.undecided_or_for_want_of_seeds(name, doubt, open);
        }
        let within_seeds = seeds(within);
        if ran < within {
            let line = format!("{name} may need {within_seeds} to be violated; {ran} ran");
            return (Standing::Skipped, line);
        }
        let line = format!("{name} was to be violated within {within_seeds}, and held");
        (Standing::Fail, line)
    }

    fn measure(&self, measure: &Measure, metrics: &BTreeMap<String, f64>, open: bool) -> Finding {
        let name = measure.metric;
        let (standing, line) = match metrics.get(name) {
            None => (Standing::Undecided, format!("{name}: nothing was counted")),
            Some(value) => {
                let too_low = measure.at_least.filter(|least| value < least);
                let too_high = measure.at_most.filter(|most| value > most);
                let beyond = too_low.or(too_high).is_some();
                let doubt = self.vacuity_reason(open);
                match (too_low, too_high, doubt) {
                    // The other shards may make up for it.
                    _ if beyond && self.is_part() => {
                        let line =
                            format!("{name} {value:.2} so far, and the bound is on all shards");
                        (Standing::Undecided, line)
                    }
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
            can_tell: None,
        }
    }

    /// How the moments stand that runs of the case ought to come through. The other shards may come through what this
    /// one did not.
    fn came_through(&self, case: &Case) -> Vec<Finding> {
        let all = case.sometimes.iter().filter(|_| !self.is_part());
        let all = all.map(|moment| {
            let (standing, line) = match self.reached.get(*moment) {
                Some(seeds) => (
                    Standing::Holds,
                    format!("sometimes {moment} ({})", self.of_all(*seeds)),
                ),
                None if self.are_few() => (
                    Standing::Skipped,
                    format!(
                        "{moment} may need {} to occur; {} ran",
                        seeds(ENOUGH_SEEDS),
                        self.seeds()
                    ),
                ),
                None => (
                    Standing::Undecided,
                    format!("{moment} never occurred, and the scenario is about it"),
                ),
            };
            Finding {
                name: (*moment).to_owned(),
                standing,
                line,
                can_tell: None,
            }
        });
        all.collect()
    }

    /// Whether the run of a case that was recorded is still the one that was recorded.
    fn recorded(&self, case: &Case) -> Option<Finding> {
        let recorded = case.recorded.as_ref().filter(|_| self.seeds() > 0)?;
        let same = self.hash == mixed(0, recorded.was.hash?);
        let (standing, line) = match (same, recorded.was.other_version()) {
            (true, None) => (
                Standing::Holds,
                "it is the run that was recorded".to_owned(),
            ),
            (true, Some(version)) => (
                Standing::AsExpected,
                format!("recorded with picklock {version}: the run is the same"),
            ),
            (false, None) => (
                Standing::Fail,
                "it is not the run that was recorded: see what picklock replay says of it"
                    .to_owned(),
            ),
            // What it is judged by is what the file expects of it.
            (false, Some(version)) => (
                Standing::AsExpected,
                format!("recorded with picklock {version}: the run is another one today"),
            ),
        };
        let name = "replay".to_owned();
        Some(Finding {
            name,
            standing,
            line,
            can_tell: None,
        })
    }

    /// `seed 3 (41 of 100 seeds, 41 %)`
    fn first_of(&self, seen: &ViolationCount) -> String {
        self.seed_and_share(seen.seed, seen.seeds)
    }

    pub(super) fn seed_and_share(&self, seed: u64, seeds: u64) -> String {
        match self.seeds() {
            1 => format!("seed {seed}"),
            all => format!("seed {seed} ({})", share(seeds, all)),
        }
    }

    pub(super) fn of_all(&self, some: u64) -> String {
        format!("{some} of {}", seeds(self.seeds()))
    }
}

/// By argument: the command that shows the lowest of its seeds again.
fn replays(
    scenario: &Scenario,
    case: &Case,
    alike: &BTreeMap<String, SimilarSeeds>,
) -> BTreeMap<String, String> {
    let shown = alike.iter().filter_map(|(argument, alike)| {
        let first = alike.first.first()?;
        let again = ReplayCommand {
            scenario,
            case,
            seed: first.seed,
            hash: Some(first.hash),
        };
        Some((argument.clone(), again.replay()))
    });
    shown.collect()
}
