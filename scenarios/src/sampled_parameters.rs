//! What a scenario leaves open, for each seed to settle.

use std::time::Duration;

use picklock_sim::plan::{
    Arrival, FaultKind, LockOrder, Reads, Service, Share, Strategy, Value, Workload,
};

/// What a scenario leaves open. A field that is `None` or empty is settled by the file, and stands in the plan of the
/// case; all others are drawn, each with even odds over what it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampledParameters {
    /// How many contenders there are: from, to (both inclusive).
    pub contenders: Option<(u32, u32)>,
    /// How many tasks a process has: from, to. There are as many contenders more as make the last process a whole one.
    pub tasks_per_process: Option<(u32, u32)>,
    /// What the tasks of a process share, to choose from.
    pub share: Vec<Share>,
    /// How many locks there are: from, to.
    pub locks: Option<(u32, u32)>,
    /// How many of them a section holds at once: from, to. No more than there are.
    pub locks_at_once: Option<(u32, u32)>,
    /// Orders in which it acquires them to choose from.
    pub lock_order: Vec<LockOrder>,
    /// How often each wants the lock: from, to.
    pub rounds: Option<(u32, u32)>,
    /// How many permits a semaphore has: from, to.
    pub permits: Option<(u32, u32)>,
    /// How long a section lasts: from, to.
    pub hold: Option<(Duration, Duration)>,
    /// Times between a release and the next acquire to choose from.
    pub think: Vec<(Duration, Duration)>,
    /// Times between what arrives at a contender and what it does about it to choose from.
    pub processing: Vec<(Duration, Duration)>,
    /// Arrivals to choose from.
    pub arrive: Vec<Arrival>,
    /// Settings of the service, each by its key with the values to choose from.
    pub settings: Vec<(&'static str, Vec<Value>)>,
    /// Latencies between clients and servers to choose from.
    pub client_latency: Vec<(Duration, Duration)>,
    /// Latencies between servers to choose from.
    pub server_latency: Vec<(Duration, Duration)>,
    /// Regions in which everybody may lie.
    pub regions: Option<SampledRegions>,
    /// Strategies of chance to choose from.
    pub chance: Vec<Strategy>,
    /// How one contender differs from the others, if any does.
    pub contender: Option<SampledContender>,
    /// Which faults may be added to those of the file.
    pub faults: Option<AnyFaults>,
    /// The budget of events stands in the file, and does not follow from the workload.
    pub budget_given: bool,
}

/// Regions that a seed draws.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledRegions {
    /// How many there are: from, to. One is as good as none.
    pub number: (u32, u32),
    /// Latencies between two of them to choose from.
    pub between: Vec<(Duration, Duration)>,
}

/// How the contender that a seed draws differs from the others. What is `None` or empty is as with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampledContender {
    /// How long its sections last: from, to.
    pub hold: Option<(Duration, Duration)>,
    /// How often it wants the lock: from, to.
    pub rounds: Option<(u32, u32)>,
    /// How often it takes the lock to read.
    pub reads: Option<Reads>,
    /// Times between a release and its next acquire to choose from.
    pub think: Vec<(Duration, Duration)>,
    /// Times between what arrives and what it does about it to choose from.
    pub processing: Vec<(Duration, Duration)>,
    /// How long it waits for the lock before it gives up: from, to.
    pub acquire_timeout: Option<(Duration, Duration)>,
    /// Latencies between it and any server to choose from.
    pub latency: Vec<(Duration, Duration)>,
    /// By how many milliseconds its wall clock is ahead from the start: from, to.
    pub clock_offset_millis: Option<(i64, i64)>,
}

/// Faults of which a seed may draw some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyFaults {
    /// The kinds to choose from.
    pub kinds: Vec<FaultKind>,
    /// The file names these kinds, which are left out, and not those that are left.
    pub except: Vec<FaultKind>,
    /// A plan has this many of them at most.
    pub at_most: u32,
}

impl AnyFaults {
    /// Faults of a plan whose file does not say how many it may have at most.
    pub const AT_MOST: u32 = 16;
}

impl Default for AnyFaults {
    fn default() -> Self {
        Self {
            kinds: FaultKind::unasked(),
            except: Vec::new(),
            at_most: Self::AT_MOST,
        }
    }
}

impl SampledParameters {
    /// The values of a setting of the service to choose from.
    pub fn choices(&self, key: &str) -> &[Value] {
        let setting = self.settings.iter().find(|(known, _)| *known == key);
        setting.map_or(&[], |(_, choices)| choices)
    }

    /// Each service that a seed can draw, as far as it differs in this setting.
    pub fn each_with(&self, key: &str, service: &Service) -> Vec<Service> {
        let with = |choice: &Value| {
            let mut service = service.clone();
            service.set_value(key, Some(choice.clone()));
            service
        };
        match self.choices(key) {
            [] => vec![service.clone()],
            choices => choices.iter().map(with).collect(),
        }
    }

    /// A service with the most servers that are left open.
    pub fn widest(&self, service: &Service) -> Service {
        let each = self.each_with("servers", service).into_iter();
        each.max_by_key(|service| service.voters())
            .unwrap_or_else(|| service.clone())
    }

    /// The same, where as many contend as may, as often as they may.
    #[must_use]
    pub fn busiest(&self) -> Self {
        let most = |range: Option<(u32, u32)>| range.map(|(_, most)| (most, most));
        Self {
            contenders: most(self.contenders),
            rounds: most(self.rounds),
            ..self.clone()
        }
    }

    /// A workload in which as many contend as may, as often and for as many locks at once as they may.
    pub fn busiest_of(&self, workload: &Workload) -> Workload {
        let most = |range: Option<(u32, u32)>, of: u32| range.map_or(of, |(_, most)| most);
        Workload {
            contenders: most(self.contenders, workload.contenders),
            rounds: most(self.rounds, workload.rounds),
            locks_at_once: most(self.locks_at_once, workload.locks_at_once),
            ..workload.clone()
        }
    }

    /// Whether there is anything to settle.
    pub fn is_open(&self) -> bool {
        let Self {
            contenders,
            tasks_per_process,
            share,
            locks,
            locks_at_once,
            lock_order,
            rounds,
            permits,
            hold,
            think,
            processing,
            arrive,
            settings,
            client_latency,
            server_latency,
            regions,
            chance,
            contender,
            faults,
            budget_given: _,
        } = self;
        contenders.is_some()
            || tasks_per_process.is_some()
            || !share.is_empty()
            || locks.is_some()
            || locks_at_once.is_some()
            || !lock_order.is_empty()
            || rounds.is_some()
            || permits.is_some()
            || hold.is_some()
            || contender.is_some()
            || faults.is_some()
            || regions.is_some()
            || !think.is_empty()
            || !processing.is_empty()
            || !arrive.is_empty()
            || !settings.is_empty()
            || !client_latency.is_empty()
            || !server_latency.is_empty()
            || !chance.is_empty()
    }
}
