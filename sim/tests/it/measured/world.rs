//! Worlds like the ones in which real servers were measured: ticks of 0.5 s, on one machine.

use std::ops::RangeInclusive;
use std::time::Duration;

use picklock_algorithms::registry;
use picklock_checker::{EventKind, History, VirtualTime};
use picklock_sim::plan::{
    Arrival, Ensemble, Hold, Network, Plan, PlannedFault, Resource, Section, Service, Workload,
};

/// What differs between them.
pub struct PlanOf {
    pub algorithm: &'static str,
    pub ensemble: Ensemble,
    pub contenders: u32,
    pub arrive: Arrival,
    pub hold: Duration,
    pub faults: Vec<PlannedFault>,
}

/// Contenders that hold the lock for so long and do nothing else.
pub fn plan(of: PlanOf) -> Plan {
    Plan {
        recipe: *registry::find(of.algorithm).expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble {
            tick: Duration::from_millis(500),
            ..of.ensemble
        }),
        network: Network {
            client_latency: (Duration::from_micros(100), Duration::from_micros(500)),
            server_latency: (Duration::from_micros(100), Duration::from_micros(300)),
            ..Network::default()
        },
        workload: Workload {
            contenders: of.contenders,
            arrive: of.arrive,
            hold: Hold::For(of.hold),
            section: Section::Nothing,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: of.faults,
        event_budget: 3_000_000,
    }
}

/// When the first such event happened from then on.
pub fn first_from(
    history: &History,
    from: VirtualTime,
    wanted: impl Fn(&EventKind) -> bool,
) -> Option<VirtualTime> {
    let events = history.events.iter();
    let mut later = events.filter(|event| event.at >= from && wanted(&event.what));
    later.next().map(|event| event.at)
}

/// Milliseconds from one to the other.
pub fn millis(from: VirtualTime, until: VirtualTime) -> u64 {
    until.since(from).as_millis() as u64
}

pub fn all_within(times: &[u64], range: RangeInclusive<u64>) {
    for time in times {
        assert!(
            range.contains(time),
            "{time} ms, and not {range:?}: {times:?}"
        );
    }
}
