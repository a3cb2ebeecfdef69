//! How soon each bug is found: runs until the first violation, over many bases.

use std::collections::BTreeMap;

use picklock_checker::{Evidence, Verdict, invariants};
use picklock_sim::broken::break_off;
use picklock_sim::plan::{FaultKind, Plan};
use picklock_sim::{Simulated, simulate};
use rayon::prelude::*;

use super::hunt::{BATCH, Campaign, shown};
use super::portfolio;
use super::strategies::{Aimed, BasePlan};
use super::targeted;
use crate::excuses::excuses;
use crate::generate;
use crate::sampled_parameters::SampledParameters;
use crate::scenario::{Case, Want};

/// How plans are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanSource {
    /// As the file has it: its own faults, or what it leaves open.
    File,
    /// Faults of any kind drawn in the world of the file.
    Swarm,
    /// Faults of the kinds that the file has, aimed at what happens in its world; of any kind if it has none.
    Aimed,
    /// On from those that came nearest to an overlap; the search that aims finds the first of these.
    Nearer,
    /// All ways of a hunt, which share the runs.
    Hunt,
}

impl PlanSource {
    /// Every way.
    pub const ALL: [Self; 5] = [
        Self::File,
        Self::Swarm,
        Self::Aimed,
        Self::Nearer,
        Self::Hunt,
    ];

    /// Those that are compared by default.
    pub const USUAL: [Self; 3] = [Self::File, Self::Swarm, Self::Aimed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Swarm => "swarm",
            Self::Aimed => "aimed",
            Self::Nearer => "nearer",
            Self::Hunt => "hunt",
        }
    }
}

/// How much to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many bases to begin from.
    pub bases: u64,
    /// After how many runs to give up a base.
    pub limit: u64,
}

/// In how many runs a violation is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Yield {
    /// The invariant that is to be violated.
    pub invariant: &'static str,
    /// How the plans were found.
    pub way: PlanSource,
    /// By base, ascending: after how many runs; `None` where the limit was reached.
    runs: Vec<Option<u64>>,
}

impl Yield {
    /// From how many bases it was found at all.
    pub fn found(&self) -> u64 {
        self.runs.iter().flatten().count() as u64
    }

    /// From how many bases it was sought.
    pub fn bases(&self) -> u64 {
        self.runs.len() as u64
    }

    /// After how many runs it was found from this many of a hundred bases; `None` if it was not from so many.
    pub fn percentile(&self, hundredths: u64) -> Option<u64> {
        let index = (self.bases() * hundredths).div_ceil(100).max(1) - 1;
        self.runs
            .get(usize::try_from(index).ok()?)
            .copied()
            .flatten()
    }
}

/// Seeds of one base do not meet those of another.
const STRIDE: u64 = 1_000_000;

/// In how many runs what a case expects to be violated is found. Bases run on the threads of the current rayon pool.
pub fn measure(case: &Case, way: PlanSource, effort: Effort) -> Vec<Yield> {
    let sought = sought(case);
    if sought.is_empty() {
        return Vec::new();
    }
    let hunt = ViolationSearch::new(case, way, &sought);
    let found: Vec<BTreeMap<&str, u64>> = (0..effort.bases)
        .into_par_iter()
        .map(|base| hunt.from(base * STRIDE, effort.limit))
        .collect();
    let of = |invariant: &'static str| {
        let mut runs: Vec<Option<u64>> = found
            .iter()
            .map(|found| found.get(invariant).copied())
            .collect();
        // Those that were never found come last.
        runs.sort_by_key(|runs| runs.unwrap_or(u64::MAX));
        Yield {
            invariant,
            way,
            runs,
        }
    };
    sought.iter().copied().map(of).collect()
}

/// The invariants that a case expects to be violated.
fn sought(case: &Case) -> Vec<&'static str> {
    let violated = case.expectations.iter();
    violated
        .filter(|row| matches!(row.want, Want::Violated { .. }))
        .map(|row| row.invariant)
        .collect()
}

/// A search for the first violation of each of some invariants.
struct ViolationSearch<'a> {
    case: &'a Case,
    way: PlanSource,
    sought: &'a [&'static str],
    open: SampledParameters,
    kinds: Vec<FaultKind>,
    /// The faults of the file take something from every lock, and that is what it shows.
    inherent: Vec<&'static str>,
}

impl<'a> ViolationSearch<'a> {
    fn new(case: &'a Case, way: PlanSource, sought: &'a [&'static str]) -> Self {
        let mut open = case.open.clone().unwrap_or_default();
        let mut kinds = targeted::kinds_of(&case.plan);
        if kinds.is_empty() {
            let any = open.faults.as_ref();
            kinds = any.map_or_else(FaultKind::unasked, |any| any.kinds.clone());
            kinds.retain(|kind| kind.is_outlived(&case.plan.service));
        }
        match way {
            PlanSource::File => {}
            PlanSource::Swarm => open.faults = Some(open.faults.unwrap_or_default()),
            PlanSource::Aimed | PlanSource::Nearer | PlanSource::Hunt => open.faults = None,
        }
        Self {
            case,
            way,
            sought,
            open,
            kinds: FaultKind::tried_in(&case.plan, &kinds),
            inherent: shown(case),
        }
    }

    /// After how many runs each was found.
    fn from(&self, first: u64, limit: u64) -> BTreeMap<&'static str, u64> {
        let mut found = BTreeMap::new();
        match self.way {
            PlanSource::File if self.case.open.is_none() => {
                for run in 0..limit {
                    let simulated = simulate(&self.case.plan, first + run).whole();
                    if self.is_done(run, &self.case.plan, true, &simulated, &mut found) {
                        break;
                    }
                }
            }
            PlanSource::File | PlanSource::Swarm => {
                let base = match self.way == PlanSource::File {
                    true => self.case.plan.clone(),
                    false => targeted::calm(&self.case.plan),
                };
                for run in 0..limit {
                    let plan = generate::settle(&base, &self.open, first + run);
                    let simulated = simulate(&plan, first + run).whole();
                    if self.is_done(run, &plan, false, &simulated, &mut found) {
                        break;
                    }
                }
            }
            PlanSource::Aimed => {
                let plan = targeted::calm(&self.case.plan);
                let open = self.open.clone();
                let mut aimed = Aimed::new(BasePlan { plan, open }, self.kinds.clone());
                for run in 0..limit {
                    let (plan, simulated) = aimed.run(first + run);
                    let simulated = simulated.whole();
                    if self.is_done(run, &plan, false, &simulated, &mut found) {
                        break;
                    }
                }
            }
            PlanSource::Nearer => {
                found = self.chased(&[portfolio::SearchStrategy::Nearer], first, limit)
            }
            PlanSource::Hunt => found = self.chased(&portfolio::SearchStrategy::ALL, first, limit),
        }
        found
    }

    /// After how many runs each was found by ways to hunt, which learn from each other.
    fn chased(
        &self,
        ways: &[portfolio::SearchStrategy],
        first: u64,
        limit: u64,
    ) -> BTreeMap<&'static str, u64> {
        let mut found = BTreeMap::new();
        let mut chase = Campaign::new(self.case, &self.kinds, ways, first);
        let mut runs = 0;
        while runs < limit && found.len() < self.sought.len() {
            for looked in chase.batch(BATCH.min(limit - runs), &|| false, &|| ()) {
                runs += 1;
                if let Some(off) = &looked.off {
                    break_off(off.1.clone());
                }
                let mut broken = looked.broken.clone();
                broken.retain(|name| self.sought.contains(name) && !found.contains_key(name));
                found.extend(broken.iter().map(|name| (*name, runs)));
                chase.learn(&looked, &broken);
            }
        }
        found
    }

    /// Notes what a run violates; answers whether everything has been found.
    fn is_done(
        &self,
        run: u64,
        plan: &Plan,
        of_file: bool,
        simulated: &Simulated,
        found: &mut BTreeMap<&'static str, u64>,
    ) -> bool {
        let excused = match of_file {
            true => Vec::new(),
            false => excuses(plan, &plan.faults),
        };
        let excused = |name: &str| {
            !self.inherent.contains(&name) && excused.iter().any(|excuse| excuse.invariant == name)
        };
        let wanted = self.sought.iter().copied();
        let wanted = wanted.filter(|name| !found.contains_key(name) && !excused(name));
        let rows: Vec<_> = wanted.filter_map(invariants::find).collect();
        let evidence = Evidence::of(&simulated.run);
        for (name, verdict) in invariants::check_evidence(&evidence, rows) {
            if let Verdict::Violated(_) = verdict {
                found.insert(name, run + 1);
            }
        }
        found.len() == self.sought.len()
    }
}
