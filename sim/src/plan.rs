//! Plans: everything that a run will do, as plain data.
//!
//! A plan is what runs, what is printed, what is shrunk, and what can be saved as a scenario. Nothing in it is
//! drawn while the run goes on, except latencies and ties, which come from the tape.

use std::time::Duration;

use picklock_algorithms::Recipe;

pub mod chubby;
pub mod consul;
mod contender_settings;
pub mod etcd;
mod fault;
mod fault_class;
mod fault_duration;
mod fault_kind;
mod fault_spec;
mod key;
pub mod lease_server;
mod lock_order;
mod locks_at_once;
pub mod memcached;
mod names;
mod network;
mod permits;
mod rate;
mod redis;
mod redis_client;
mod regions;
mod rendezvous;
mod roles;
mod section;
mod service;
mod service_row;
mod service_settings;
mod setting_type;
mod settings;
pub mod sql;
mod struck_tasks;
mod trigger;
mod trigger_spec;
mod value;
mod workload;
mod zookeeper;

pub use crate::engine::Strategy;
pub use contender_settings::{ContenderSettings, Conversion, Reads};
pub use fault::{Fault, FaultKind};
pub use fault_class::classes_of;
pub use fault_duration::FaultDuration;
pub use fault_kind::MessageInFlight;
pub use fault_spec::{FaultEffect, FaultSpec, Field, FieldMut, FieldSource, FieldSpec, FieldType};
pub use key::{Holds, Key, KeyTable, SettingsGroup, Variant, Words, Written};
pub use lock_order::LockOrder;
pub use names::{ContenderName, Direction, LockCall, LockName, ServerName};
pub use network::Network;
pub use rate::Rate;
pub(crate) use redis::LOCK_KEY;
pub use redis::{
    Cluster, ConnectionMode, Deployment, Fsync, KeyspaceEvents, Persistence, ReadFrom, Sentinels,
    ServerVersion, SwitchMaster,
};
pub use redis_client::{REDIS_LIBRARIES, RedisLibrary};
pub use regions::{Region, Regions};
pub use section::{Hold, Section, Stock};
pub use service::Service;
pub use service_row::ServiceRow;
pub use service_settings::ServiceSettings;
pub use setting_type::{SettingType, Settings};
pub use trigger::{Trigger, TriggerKind};
pub use trigger_spec::{
    TriggerFieldMut, TriggerFieldSource, TriggerFieldSpec, TriggerFieldType, TriggerSpec,
    TriggerValue,
};
pub use value::Value;
pub use workload::{Arrival, Share, Workload};
pub use zookeeper::{Ensemble, JUTE_MAX_BUFFER, Library, LockNode, Version};

/// Everything that a run will do.
#[derive(Clone)]
pub struct Plan {
    /// The algorithm under test.
    pub recipe: Recipe,
    /// The service that it stands on.
    pub service: Service,
    /// The network between all machines.
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

impl Plan {
    /// The longest that a message between any contender and a server takes where nothing breaks.
    pub fn latency_at_most(&self) -> Duration {
        let own = self.workload.contender_settings.values();
        let own = own.filter_map(|own| Some(own.latency?.1)).max();
        let regions = self.network.regions.latency_at_most();
        let usual = self.network.client_latency.1.max(regions);
        own.map_or(usual, |own| own.max(usual))
    }

    /// The longest that passes in any contender between what arrives and what it does about it.
    pub fn processing_at_most(&self) -> Duration {
        let own = self.workload.contender_settings.values();
        let own = own.filter_map(|own| Some(own.processing?.1)).max();
        let usual = self.workload.processing.1;
        own.map_or(usual, |own| own.max(usual))
    }

    /// The longest that a message between two servers takes where nothing breaks.
    pub fn server_latency_at_most(&self) -> Duration {
        let regions = self.network.regions.latency_at_most();
        self.network.server_latency.1.max(regions)
    }
}

/// The protected resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Whether it refuses a write whose token is lower than one that it has seen.
    pub fenced: bool,
}

/// How often a fault strikes, and when it does so again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// How often it strikes at most; two or more.
    pub times: u32,
    /// Time from one strike to the next. `None`: it strikes again whenever what it waits for happens again.
    pub every: Option<Duration>,
}

/// A fault and when it happens.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedFault {
    /// What must happen first.
    pub when: Trigger,
    /// How long after that the fault strikes.
    pub after: Duration,
    /// Whether it strikes again, and how often.
    pub repeat: Option<Repeat>,
    /// What breaks.
    pub inject: Fault,
    /// What it does, as a person would say it: `pause contender-1 for 20s`. Reports show it.
    pub text: String,
}

impl PlannedFault {
    /// How often it strikes at most.
    pub fn strikes(&self) -> u32 {
        self.repeat.map_or(1, |repeat| repeat.times)
    }

    /// Whether it would strike again before it is over.
    pub fn overlaps_itself(&self) -> bool {
        let every = self.repeat.and_then(|repeat| repeat.every);
        let lasts = self.inject.lasts().and_then(FaultDuration::duration);
        every
            .zip(lasts)
            .is_some_and(|(every, lasts)| lasts >= every)
    }

    /// Time from its first strike to its last, as far as the plan says.
    pub fn repeats_for(&self) -> Duration {
        let every = self.repeat.and_then(|repeat| repeat.every);
        every
            .unwrap_or_default()
            .saturating_mul(self.strikes().saturating_sub(1))
    }
}
