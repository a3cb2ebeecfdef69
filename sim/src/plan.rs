//! Plans: everything that a run will do, as plain data.
//!
//! A plan is what runs, what is printed, what is shrunk, and what can be saved as a scenario. Nothing in it is
//! drawn while the run goes on, except latencies and ties, which come from the tape.

use std::time::Duration;

use picklock_algorithms::Recipe;

mod deployment;
mod ensemble;
mod fault;
mod fault_kind;
mod fault_spec;
mod lasts;
mod lease_server;
mod names;
mod service;
mod service_settings;
mod trigger;
mod trigger_spec;

pub use crate::engine::Strategy;
pub(crate) use deployment::LOCK_KEY;
pub use deployment::{Cluster, Connections, Deployment, Fsync, Persistence, ReadFrom, Sentinels};
pub use ensemble::{Ensemble, JUTE_MAX_BUFFER, Library, Version};
pub use fault::{Fault, FaultKind};
pub use fault_kind::MessageInFlight;
pub use fault_spec::{FaultSpec, Field, FieldMut, FieldSource, FieldSpec, FieldType};
pub use lasts::Lasts;
pub use lease_server::LeaseServer;
pub use names::{ContenderName, Direction, ServerName};
pub use service::Service;
pub use service_settings::{ServiceSettings, Setting, SettingMut};
pub use trigger::{Trigger, TriggerKind};
pub use trigger_spec::{
    TriggerFieldMut, TriggerFieldSource, TriggerFieldSpec, TriggerFieldType, TriggerSpec,
    TriggerValue,
};

/// Everything that a run will do.
#[derive(Clone)]
pub struct Plan {
    /// The algorithm under test.
    pub recipe: Recipe,
    /// The service that it stands on.
    pub service: Service,
    /// The network between everybody.
    pub network: Network,
    /// Who wants the lock, and what for.
    pub workload: Workload,
    /// The protected resource.
    pub resource: Resource,
    /// What breaks, in the order of the scenario file.
    pub faults: Vec<PlannedFault>,
    /// The run gives up, undecided, after this many engine events.
    pub event_budget: u64,
}

/// The network between everybody.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How chance decides how long each message takes, and which of several goes first.
    pub chance: Strategy,
    /// One-way latency between a client and a server (service or resource): from, to (both inclusive).
    pub client_latency: (Duration, Duration),
    /// One-way latency between servers.
    pub server_latency: (Duration, Duration),
}

impl Default for Network {
    fn default() -> Self {
        Self {
            chance: Strategy::Even,
            client_latency: (Duration::from_millis(1), Duration::from_millis(5)),
            server_latency: (Duration::from_micros(200), Duration::from_millis(1)),
        }
    }
}

/// Who wants the lock, and what for.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How many contenders there are: `contender-1` and so on, each a process with a client of its own.
    pub contenders: u32,
    /// How they come.
    pub arrive: Arrival,
    /// How often each wants the lock.
    pub rounds: u32,
    /// How long each waits for the lock before it gives up, and comes again. `None`: for as long as it takes.
    pub acquire_timeout: Option<Duration>,
    /// How often a section enters the lock, one call inside the other; all but the outermost entry are left before the
    /// section does its work.
    pub reentrancy_depth: u32,
    /// How long a section lasts, apart from what it does to the resource.
    pub hold: Hold,
    /// Time between a release and the next acquire of the same contender: from, to.
    pub think: (Duration, Duration),
    /// What a section does to the resource.
    pub section: Section,
    /// Clients that read something else on the same service all the time.
    pub bystanders: u32,
    /// Time between two reads of a bystander.
    pub bystander_every: Duration,
    /// How long everybody has to get the lock once the storm is over. `None`: computed from the scenario.
    pub progress_bound: Option<Duration>,
    /// The storm ends at this time at the latest. `None`: when every fault has fired and healed, or cannot any more.
    pub storm: Option<Duration>,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            contenders: 3,
            arrive: Arrival::Together,
            rounds: 1,
            acquire_timeout: None,
            reentrancy_depth: 1,
            hold: Hold::For(Duration::from_millis(10)),
            think: (Duration::ZERO, Duration::ZERO),
            section: Section::Write,
            bystanders: 0,
            bystander_every: Duration::from_millis(10),
            progress_bound: None,
            storm: None,
        }
    }
}

/// How contenders come to the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All at once; who is first is up to the network.
    Together,
    /// One after the other: each comes when the one before it holds the lock or is in the queue.
    InOrder,
    /// The first takes the lock and does not start its section before all others wait.
    BehindHolder,
    /// The same, and the others set out in their order; on a network of one latency, they queue up in it.
    InOrderBehindHolder,
    /// Each at a random moment within this time.
    Within(Duration),
}

impl Arrival {
    /// Whether the first holds the lock until all others wait.
    pub fn is_behind_holder(self) -> bool {
        matches!(self, Self::BehindHolder | Self::InOrderBehindHolder)
    }
}

/// How long a section lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// This long.
    For(Duration),
    /// Until nothing is under way any more: one release at a time.
    Settled,
}

/// What a section does to the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Holds, then writes once.
    Write,
    /// Reads a counter, holds, and writes back one more.
    Count,
    /// Reads the stock, holds, and writes back one less, unless nothing is left.
    Sell {
        /// What there is at first.
        stock: i64,
    },
    /// Writes once, at once, and does not wait for the answer; the write travels for a random time up to this before
    /// it reaches the resource.
    DelayedWrite {
        /// How long at most.
        delay: Duration,
    },
    /// Nothing.
    Nothing,
}

/// The protected resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Whether it refuses a write whose token is lower than one that it has seen.
    pub fenced: bool,
}

/// A fault and when it happens.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedFault {
    /// What must happen first.
    pub when: Trigger,
    /// How long after that the fault strikes.
    pub after: Duration,
    /// What breaks.
    pub inject: Fault,
    /// What it does, as a person would say it: `pause contender-1 for 20s`. Reports show it.
    pub text: String,
}
