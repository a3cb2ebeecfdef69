//! The herd experiment: what does a release cost, and who gets hurt?

use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_checker::{Counts, ListTooLong};
use picklock_sim::plan::{
    Arrival, ContenderName, ContenderSettings, Hold, JUTE_MAX_BUFFER, Network, Plan, Reads,
    Resource, Section, Service, Workload,
};
use picklock_sim::simulate;

use crate::services::supported;

/// One measurement: one of so many contenders holds the lock while the others queue up; then the queue drains.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// The algorithm.
    pub recipe: Recipe,
    /// How many contenders, the first holder included.
    pub contenders: u32,
    /// How long each holds the lock. `Settled`: until all others wait again, so that one release comes at a time.
    pub hold: Hold,
    /// Servers of the ensemble.
    pub servers: u8,
    /// The longest message that servers and clients read, in bytes: `jute.maxbuffer`.
    pub jute_max_buffer: u32,
    /// The seed.
    pub seed: u64,
    /// How they take it.
    pub mode: Mode,
    /// It ends after so many events, whatever has come of it.
    pub event_budget: u64,
}

/// How the contenders take the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Each by itself.
    #[default]
    Exclusive,
    /// All but the first read together, of a read-write lock.
    Readers,
    /// So many at once, of a semaphore.
    Permits(u32),
}

impl Mode {
    /// What is to be said of it beside the algorithm: `readers`.
    pub fn describe(self) -> Option<String> {
        match self {
            Self::Exclusive => None,
            Self::Readers => Some("readers".to_owned()),
            Self::Permits(1) => Some("1 permit".to_owned()),
            Self::Permits(permits) => Some(format!("{permits} permits")),
        }
    }
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What was counted.
    pub counts: Counts,
    /// From a release until the next contender has the lock, in microseconds.
    pub handover: Quantiles,
    /// The time of a bystander's read while the queue drains, in microseconds.
    pub bystander: Quantiles,
    /// The same while nothing else happens.
    pub bystander_idle: Quantiles,
    /// The list of the queue that was too long to be read, if that ended the run.
    pub too_long: Option<ListTooLong>,
    /// The hash of the run.
    pub hash: u64,
}

/// The middle, the tail, and the end of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The most.
    pub max: u64,
}

impl Quantiles {
    /// The quantiles of some samples; zeros if there are none.
    pub fn of(mut samples: Vec<u64>) -> Self {
        samples.sort_unstable();
        let Some(max) = samples.last().copied() else {
            return Self::default();
        };
        let at = |percent: usize| samples[(samples.len() - 1) * percent / 100];
        Self {
            p50: at(50),
            p99: at(99),
            max,
        }
    }
}

/// Whether what a herd costs is counted at the service of a recipe.
pub fn is_counted(recipe: &Recipe) -> bool {
    supported(recipe.build.service()).herd.is_some()
}

impl Experiment {
    /// So many contenders who take it each by itself, one release at a time, on one server, with seed 0.
    pub fn of(recipe: Recipe, contenders: u32) -> Self {
        Self {
            recipe,
            contenders,
            hold: Hold::Settled,
            servers: 1,
            jute_max_buffer: JUTE_MAX_BUFFER,
            seed: 0,
            mode: Mode::Exclusive,
            event_budget: u64::MAX,
        }
    }

    /// Runs it. If it breaks off, so does whatever was begun with [`caught`](picklock_sim::broken::caught).
    pub fn run(&self) -> Measured {
        let simulated = simulate(&self.plan(), self.seed).whole();
        let idle = simulate(&self.idle_plan(), self.seed).whole();
        Measured {
            too_long: simulated.run.history.too_long,
            counts: simulated.run.counts,
            handover: Quantiles::of(simulated.samples.handover),
            bystander: Quantiles::of(simulated.samples.bystander),
            bystander_idle: Quantiles::of(idle.samples.bystander_idle),
            hash: simulated.hash,
        }
    }

    /// Notifications from the first release on, if the hold is long against the round trip; `None` for a recipe without
    /// a known formula. Only counts to waiters and to the releaser together.
    ///
    /// With k contenders left, a release tells: the one behind (predecessor watch); all who wait (same name, recursive
    /// watch); all who wait, and, from the second on, the releaser by the watch that its own last listing left
    /// (children watch). A writer's release tells all readers behind it. A lease of a semaphore that goes tells the
    /// contender that counts them, which leaves the mutex to the next; each new lease tells those that counted before.
    pub fn formula(&self) -> Option<u64> {
        let n = u64::from(self.contenders);
        match self.mode {
            Mode::Exclusive => {}
            Mode::Readers => return self.formula_of_readers(),
            Mode::Permits(permits) => return self.formula_of_permits(permits.into()),
        }
        let all = n * n.saturating_sub(1) / 2;
        match self.recipe.name {
            "zk-predecessor-watch"
            | "zk-no-guid"
            | "zk-no-recheck"
            | "zk-sequence-token"
            | "zk-first-path"
            | "zk-token-of-process"
            | "zk-own-nodes"
            | "zk-leader-election"
            | "curator-leader-latch"
            | "curator-leader-selector"
            | "kazoo-election"
            | "curator-mutex"
            | "curator-read-write-lock" => Some(n.saturating_sub(1)),
            "zk-shared-locks" => Some(2 * n.saturating_sub(1)),
            "zk-barrier" | "zk-barrier-sync" | "curator-barrier" | "kazoo-barrier" => {
                Some(n.saturating_sub(1))
            }
            "curator-semaphore" | "curator-semaphore-hardened" => (3 * n).checked_sub(5),
            "kazoo-semaphore" => (4 * n).checked_sub(5),
            "curator-semaphore-v1" => Some(n.saturating_sub(1)),
            "zk-same-name" | "zk-blind-unlock" | "zk-recursive-watch" => Some(all),
            "zk-children-watch" => Some(all + n.saturating_sub(2)),
            _ => None,
        }
    }

    fn formula_of_readers(&self) -> Option<u64> {
        let n = u64::from(self.contenders);
        match self.recipe.name {
            "curator-read-write-lock" | "kazoo-read-write-lock" => Some(n.saturating_sub(1)),
            // The writer has left a watch on its own node, too.
            "zk-shared-locks" => Some(n),
            _ => None,
        }
    }

    /// As many leave at a time as there are permits, and where all leases are watched, one notification stands for all
    /// of them: there is a formula only where a waiter watches one.
    fn formula_of_permits(&self, permits: u64) -> Option<u64> {
        let n = u64::from(self.contenders);
        match self.recipe.name {
            "curator-semaphore-v1" => Some(n.saturating_sub(permits)),
            _ => None,
        }
    }

    /// What runs.
    pub fn plan(&self) -> Plan {
        let mut plan = self.exclusive_plan();
        match self.mode {
            Mode::Exclusive => {}
            Mode::Readers => {
                plan.workload.reads = Reads::Always;
                let writer = ContenderSettings {
                    reads: Some(Reads::Never),
                    ..ContenderSettings::default()
                };
                let settings = &mut plan.workload.contender_settings;
                settings.insert(ContenderName(0), writer);
            }
            Mode::Permits(permits) => plan.workload.permits = Some(permits),
        }
        plan
    }

    fn service(&self) -> Service {
        let kind = self.recipe.build.service();
        match supported(kind).herd {
            Some(herd) => herd(self.servers, self.jute_max_buffer),
            None => kind.into(),
        }
    }

    fn exclusive_plan(&self) -> Plan {
        Plan {
            recipe: self.recipe,
            service: self.service(),
            network: Network {
                client_latency: (Duration::from_micros(500), Duration::from_micros(500)),
                ..Network::default()
            },
            workload: Workload {
                contenders: self.contenders,
                arrive: Arrival::InOrderBehindHolder,
                rounds: 1,
                hold: self.hold,
                section: Section::Nothing,
                bystanders: 1,
                // In step with nothing else.
                bystander_every: Duration::from_micros(1_301),
                ..Workload::default()
            },
            resource: Resource { fenced: false },
            faults: Vec::new(),
            event_budget: self.event_budget,
        }
    }

    /// The same world without contention that disturbs the bystander: one contender holds the lock for long.
    fn idle_plan(&self) -> Plan {
        let mut plan = self.plan();
        plan.workload.contenders = 1;
        plan.workload.arrive = Arrival::Together;
        plan.workload.hold = Hold::For(Duration::from_secs(2));
        plan
    }
}
