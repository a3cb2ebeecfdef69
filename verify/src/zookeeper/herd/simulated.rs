//! The same drained queue in the model.

use std::time::Duration;

use picklock_algorithms::registry;
use picklock_sim::plan::{
    Arrival, Ensemble, Hold, Network, Plan, Resource, Section, Service, Workload,
};
use picklock_sim::simulate;

use super::Cell;

/// All clients of the real servers share one machine with them: a client with an event may have to wait until all the
/// others have had their turn, each for so long. Told apart from a network only by the watches that it costs.
const TURN: Duration = Duration::from_micros(3);

/// How long the leader is busy with a proposal to one follower, and a follower with its answer. Measured apart from the
/// herd: of 201 clients that all ask to make a node that is there, at one real server each took 29 to 34 µs, as a read
/// does; at three 63 to 71, and a read 31 to 35. The difference, for two proposals and two answers.
const PROPOSAL: Duration = Duration::from_micros(9);

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
            proposal_time: PROPOSAL,
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
