//! What a scenario file says, checked and ready to run.

use std::borrow::Cow;
use std::fmt;

use picklock_algorithms::Recipe;
use picklock_algorithms::clients::ServiceKind;
use picklock_algorithms::registry::RECIPES;
use picklock_checker::invariants::{self, INVARIANTS, Invariant};
use picklock_checker::metrics::METRICS;
use picklock_sim::plan::{Arrival, Plan, Reads};

use crate::excuses::Excuse;
use crate::sampled_parameters::SampledParameters;
use crate::shard::Seeds;
use crate::{excuses, generate};

/// The names that scenario files may use.
#[derive(Clone, Copy)]
pub struct Catalogue<'a> {
    /// The algorithms.
    pub algorithms: &'a [Recipe],
    /// The names of the invariants, in the order in which they are reported.
    pub invariants: &'a [&'static str],
    /// The names of the metrics.
    pub metrics: &'a [&'static str],
}

impl Catalogue<'_> {
    /// The names of the algorithms that stand on a service, and that this is true of.
    pub(crate) fn on_service(
        &self,
        service: ServiceKind,
        fits: impl Fn(&Recipe) -> bool,
    ) -> Vec<&'static str> {
        let all = self.algorithms.iter();
        let fitting = all.filter(|recipe| recipe.build.service() == service && fits(recipe));
        fitting.map(|recipe| recipe.name).collect()
    }
}

impl Catalogue<'static> {
    /// Everything that picklock knows.
    pub const EVERYTHING: Self = Self {
        algorithms: RECIPES,
        invariants: &INVARIANT_NAMES,
        metrics: &METRIC_NAMES,
    };
}

const INVARIANT_NAMES: [&str; INVARIANTS.len()] = {
    let mut names = [""; INVARIANTS.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = INVARIANTS[place].name;
        place += 1;
    }
    names
};

const METRIC_NAMES: [&str; METRICS.len()] = {
    let mut names = [""; METRICS.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = METRICS[place].name;
        place += 1;
    }
    names
};

/// A claim, the reason for it, and the cases that put it to the test.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name, as in `zookeeper/waiter-death`.
    pub name: String,
    /// The file that it was read from, as it was given.
    pub path: String,
    /// One sentence.
    pub claim: String,
    /// Why that is so; empty if the file does not say.
    pub because: String,
    /// Where that is written; empty if the file does not say.
    pub source: String,
    /// One per algorithm, in the order of the file.
    pub cases: Vec<Case>,
}

/// What stands in the claim of a kept run between the algorithm and the promise.
pub(crate) const VIOLATES: &str = " violates ";

impl Scenario {
    /// The promise for whose violation a recorded run was kept: the claim of the file names it.
    pub fn kept_for(&self, case: &Case) -> Option<&'static Invariant> {
        case.recorded.as_ref()?;
        let (_, violated) = self.claim.split_once(VIOLATES)?;
        let (name, _) = violated.split_once(':')?;
        invariants::find(name)
    }
}

/// Fewer seeds than these are a quick look. That none of them came through a moment, or that each drew a fault under
/// which no lock could keep a promise, is then for want of seeds. So no file can take fewer.
pub(crate) const ENOUGH_SEEDS: u64 = 20;

/// One algorithm in the world of a scenario.
#[derive(Clone)]
pub struct Case {
    /// Its name: that of the algorithm, unless the file says otherwise. Unique within the scenario.
    pub name: String,
    /// The line of its file that names it, from one; unknown if it was not read from a file.
    pub line: Option<usize>,
    /// The algorithm.
    pub algorithm: Recipe,
    /// Everything that a run will do. If something is left open, the least of it stands here, and no seed runs just
    /// this: see [`plan_for`](Self::plan_for).
    pub plan: Plan,
    /// What each seed settles, if anything.
    pub open: Option<SampledParameters>,
    /// A seed has settled it: the plan is drawn, and not all of its faults have to find their moment.
    pub drawn: bool,
    /// What is wanted of each invariant that is looked at, in the order of the catalogue.
    pub expectations: Vec<Expectation>,
    /// The moments that some run must come through, by name.
    pub sometimes: Vec<&'static str>,
    /// The bounds that metrics must keep, in the order of the catalogue.
    pub measures: Vec<Measure>,
    /// The run that it is about, if it is about one. Without it, a case is about many: one for each seed.
    pub recorded: Option<Recorded>,
    /// The seed that drew the plan, if it was saved with `picklock plan`. The case is about many runs all the same.
    pub saved: Option<SavedPlan>,
    /// How many seeds show what there is to see, if the file says so: a run takes no more of those that are asked for.
    pub seeds_at_most: Option<u64>,
}

impl Case {
    /// The seeds that it is run with, of those that were asked for: all, or the first of them, if the file takes no
    /// more. A run that was recorded is run once, whatever was asked for: its seed is 0.
    pub fn seeds(&self, asked: &Seeds) -> Seeds {
        let (asked, shard) = (&asked.range, asked.shard);
        let most = self.seeds_at_most.unwrap_or(u64::MAX);
        let range = match self.recorded {
            Some(_) => 0..1,
            None => asked.start..asked.end.min(asked.start.saturating_add(most)),
        };
        Seeds { range, shard }
    }
}

/// What is known of an earlier run, to tell whether another run is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedRun {
    /// The hash of its history, if that is known.
    pub hash: Option<u64>,
    /// The version of picklock that ran it, if that is known.
    pub picklock: Option<String>,
}

impl RecordedRun {
    /// The version that ran it, if that is another than this.
    pub fn other_version(&self) -> Option<&str> {
        let version = self.picklock.as_deref();
        version.filter(|version| *version != env!("CARGO_PKG_VERSION"))
    }
}

/// Where a plan comes from that was drawn from a seed and saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPlan {
    /// The seed.
    pub seed: u64,
    /// It drew something: see [`Case::drawn`].
    pub drawn: bool,
    /// Its run.
    pub was: RecordedRun,
}

/// A run as it was recorded: with the plan of its case, it happens again on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What chance decided, in order; zeros from there on.
    pub choices: Vec<u32>,
    /// What was written down of it.
    pub was: RecordedRun,
}

impl Recorded {
    /// What does not fit of the recorded choices, if a run with them makes these instead.
    pub fn misfit(&self, made: &[u32]) -> Option<String> {
        let mut pairs = self.choices.iter().zip(made).enumerate();
        if let Some((index, (was, is))) = pairs.find(|(_, (was, is))| was != is) {
            let index = index + 1;
            return Some(format!(
                "choice {index} of the tape is {was}, and there are only {} to choose from there",
                u64::from(*is) + 1
            ));
        }
        let (recorded, made) = (self.choices.len(), made.len());
        (recorded > made)
            .then(|| format!("{recorded} choices were recorded, and the run makes only {made}"))
    }
}

/// A recipe holds functions, so it is shown by its name alone. Where a case is written is nothing of it.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("name", &self.name)
            .field("algorithm", &self.algorithm.name)
            .field("service", &self.plan.service)
            .field("network", &self.plan.network)
            .field("workload", &self.plan.workload)
            .field("resource", &self.plan.resource)
            .field("faults", &self.plan.faults)
            .field("event_budget", &self.plan.event_budget)
            .field("open", &self.open)
            .field("drawn", &self.drawn)
            .field("expectations", &self.expectations)
            .field("sometimes", &self.sometimes)
            .field("measures", &self.measures)
            .field("recorded", &self.recorded)
            .field("saved", &self.saved)
            .field("seeds_at_most", &self.seeds_at_most)
            .finish()
    }
}

impl Case {
    /// Whether seeds differ in what contenders do: each draws its plan, or chance decides who reads or when contenders
    /// come. Then one that cannot tell is no reason to doubt the others.
    pub(crate) fn differs_by_seed(&self) -> bool {
        let workload = &self.plan.workload;
        let by_chance = |reads| matches!(reads, Reads::Share(_));
        let mut reads = workload.each(|name| workload.reads_of(name));
        self.open.is_some()
            || matches!(workload.arrive, Arrival::Within(_))
            || reads.any(|(reads, of)| of > 0 && by_chance(reads))
    }

    /// The plan that a seed runs.
    pub fn plan_for(&self, seed: u64) -> Cow<'_, Plan> {
        match &self.open {
            Some(open) => Cow::Owned(generate::settle(&self.plan, open, seed)),
            None => Cow::Borrowed(&self.plan),
        }
    }

    /// The case as a seed runs it, with nothing left open: with the plan of that seed, and without what the faults
    /// of that plan take from every lock.
    pub fn settled(&self, seed: u64) -> Cow<'_, Self> {
        match &self.open {
            Some(open) => Cow::Owned(self.with_plan(generate::settle(&self.plan, open, seed))),
            None => Cow::Borrowed(self),
        }
    }

    /// The same with a plan that was drawn. What no lock can promise under its faults is looked at only where nothing
    /// excuses it; what the file leaves unchecked stays unchecked.
    #[must_use]
    pub fn with_plan(&self, plan: Plan) -> Self {
        self.with_plan_but(plan, &[])
    }

    /// The same, and of these invariants what the case wants of them is wanted whatever the faults are.
    #[must_use]
    pub(crate) fn with_plan_but(&self, plan: Plan, wanted: &[&str]) -> Self {
        let mut case = self.clone();
        // The faults of the file are what its expectations speak of.
        let drawn = plan
            .faults
            .get(self.plan.faults.len()..)
            .unwrap_or_default();
        let excuses = excuses::excuses(&plan, drawn).into_iter();
        for excuse in excuses.filter(|excuse| !wanted.contains(&excuse.invariant)) {
            let mut expectations = case.expectations.iter_mut();
            let found = expectations.find(|row| row.invariant == excuse.invariant);
            if let Some(found) = found.filter(|row| !matches!(row.want, Want::Unchecked { .. })) {
                found.want = Want::from(&excuse);
            }
        }
        case.plan = plan;
        // They are about many seeds.
        case.sometimes.clear();
        case.open = None;
        case.drawn = true;
        case
    }
}

/// What is wanted of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The invariant's name.
    pub invariant: &'static str,
    /// What is wanted.
    pub want: Want,
}

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// It must hold with every seed.
    Holds,
    /// It must be violated.
    Violated {
        /// The reason.
        because: String,
        /// By one of this many seeds at the latest.
        within_seeds: u64,
    },
    /// A fault excuses it for as long as a holder cannot know of its loss. What happens after that is looked at.
    Excused {
        /// The reason.
        because: String,
    },
    /// No run can violate it, and some run cannot tell whether it holds: what it needs is gone for good.
    Undecided {
        /// The reason.
        because: String,
    },
    /// It is not looked at.
    Unchecked {
        /// Why not.
        because: Option<String>,
    },
}

impl From<&Excuse> for Want {
    /// What is still wanted of the invariant: the part that no fault excuses, if it has one.
    fn from(excuse: &Excuse) -> Self {
        let because = excuse.because.to_owned();
        let found = invariants::find(excuse.invariant);
        match found.and_then(|invariant| invariant.inexcusable) {
            Some(_) => Self::Excused { because },
            None => Self::Unchecked {
                because: Some(because),
            },
        }
    }
}

/// The bounds of a metric; at least one of the two is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The metric's name.
    pub metric: &'static str,
    /// It must not be less.
    pub at_least: Option<f64>,
    /// It must not be more.
    pub at_most: Option<f64>,
}
