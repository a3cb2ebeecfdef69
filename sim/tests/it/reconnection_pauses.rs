//! How long clients sleep between two attempts to connect counts in the time that they have to get the lock.

use crate::common::plans;

use picklock_checker::{Verdict, invariants};
use picklock_sim::plan::{Arrival, Ensemble, Fault, Hold, Library, ServerName, Service};
use picklock_sim::simulate;
use plans::{acquired, plan_on, planned, seconds};

/// The only server is down for so long that kazoo's pauses have grown to their longest.
#[test]
fn a_client_asleep_after_a_long_outage_violates_no_progress() {
    for (_, library) in Library::ALL {
        for seed in 0..20 {
            let ensemble = Ensemble {
                servers: 1,
                library,
                ..Ensemble::default()
            };
            let outage = Fault::CrashServer {
                target: ServerName::Number(0),
                restart_after: Some(seconds(300)),
            };
            let faults = vec![planned(acquired(), outage)];
            let mut plan = plan_on(Service::ZooKeeper(ensemble), "zk-hardened", faults);
            plan.workload.contenders = 3;
            plan.workload.arrive = Arrival::InOrder;
            plan.workload.hold = Hold::For(seconds(1));
            let run = simulate(&plan, seed).run;
            let progress = invariants::find("progress").map(|invariant| invariant.verdict(&run));
            assert_eq!(progress, Some(Verdict::Holds), "{library:?}, seed {seed}");
        }
    }
}
