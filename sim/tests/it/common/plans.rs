//! Two contenders, one after the other, each for five seconds, and what breaks meanwhile.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_sim::plan::{
    Arrival, ContenderName, Fault, Hold, Network, Plan, PlannedFault, Resource, Section, Service,
    Trigger, Workload,
};

pub const FIRST: ContenderName = ContenderName(0);

pub fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn planned(when: Trigger, inject: Fault) -> PlannedFault {
    PlannedFault {
        when,
        after: Duration::ZERO,
        repeat: None,
        text: format!("{inject:?}"),
        inject,
    }
}

/// What is to happen on a service.
pub fn plan_on(service: Service, algorithm: &str, faults: Vec<PlannedFault>) -> Plan {
    Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service,
        network: Network::default(),
        workload: Workload {
            contenders: 2,
            arrive: Arrival::InOrder,
            hold: Hold::For(seconds(5)),
            section: Section::Write,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults,
        event_budget: 1_000_000,
    }
}

/// The first has got the lock.
pub fn acquired() -> Trigger {
    Trigger::Acquired { by: FIRST, nth: 1 }
}
