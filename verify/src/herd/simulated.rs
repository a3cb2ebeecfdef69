//! The same drained queue in the model.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_sim::plan::{
    Arrival, Ensemble, Hold, Network, Plan, Resource, Section, Service, Workload,
};
use picklock_sim::simulate;

use super::Cell;

/// All clients of the real servers share one machine with them: who is told something may have to wait until all the
/// others have had their turn, each for so long. Told apart from a network only by the watches that it costs.
const TURN: Duration = Duration::from_micros(3);

/// Notifications from the first release on.
pub(super) fn drain(cell: Cell, seed: u64) -> u64 {
    let Some(recipe) = registry::find(cell.way.algorithm()) else {
        return 0;
    };
    let plan = Plan {
        recipe: *recipe,
        service: Service::ZooKeeper(Ensemble {
            servers: cell.servers,
            session_timeout: Duration::from_secs(40),
            // The real ones do not wait for their disks either.
            fsync: Duration::ZERO,
            ..Ensemble::default()
        }),
        network: Network {
            client_latency: (
                Duration::from_micros(10),
                Duration::from_micros(600) + TURN * cell.waiters,
            ),
            server_latency: (Duration::from_micros(50), Duration::from_micros(150)),
            ..Network::default()
        },
        workload: Workload {
            contenders: cell.waiters + 1,
            arrive: Arrival::BehindHolder,
            hold: Hold::For(cell.hold),
            section: Section::Nothing,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: Vec::new(),
        event_budget: u64::MAX,
    };
    let counts = simulate(&plan, seed).run.counts;
    counts.notifications_to_waiters + counts.notifications_to_releaser
}
