//! A clean-up script that deletes what it took for stale a while ago, on each service where names are enough for that.

use crate::common;
use crate::common::disowned;

use common::{FIRST, acquired, history_on, planned, seconds};
use disowned::disowned;
use picklock_checker::Disowned;
use picklock_sim::plan::lease_server::LeaseServer;
use picklock_sim::plan::{Deployment, Ensemble, Fault, FaultKind, Service, Trigger};

/// How the service took the lock away if its first owner dies, and a script that has seen the first owner's lock
/// deletes it nine seconds later, when it is another's.
fn taken_away(service: Service, algorithm: &str, compare: bool) -> Vec<Disowned> {
    let dies = Fault::Crash {
        target: FIRST,
        restart_after: None,
    };
    let think = seconds(9);
    let looks = planned(acquired(), Fault::DeleteStale { think, compare });
    let dead = planned(acquired(), dies);
    disowned(&history_on(service, algorithm, vec![dead, looks]))
}

fn redis(servers: u8, replicas: u8) -> Service {
    Service::Redis(Deployment {
        servers,
        replicas,
        lease: seconds(8),
        ..Deployment::default()
    })
}

fn ensemble() -> Service {
    Service::ZooKeeper(Ensemble::default())
}

const BY_NAME: [Disowned; 2] = [Disowned::Expired, Disowned::RemovedFromOutside];
const SPARED: [Disowned; 2] = [Disowned::Expired, Disowned::Released];

#[test]
fn a_key_that_is_deleted_by_its_name_is_anothers_by_then() {
    for (servers, replicas, algorithm) in [
        (1, 0, "redis-compare-and-delete"),
        (1, 1, "redisson-lock"),
        (5, 0, "redlock"),
    ] {
        let taken = |compare| taken_away(redis(servers, replicas), algorithm, compare);
        assert_eq!(taken(false), BY_NAME, "{algorithm}");
        assert_eq!(taken(true), SPARED, "{algorithm}");
    }
}

#[test]
fn a_node_is_anothers_by_then_only_if_its_name_is_used_again() {
    let numbered = |compare| taken_away(ensemble(), "zk-predecessor-watch", compare);
    let of_one_name = |compare| taken_away(ensemble(), "zk-same-name", compare);
    for compare in [false, true] {
        assert_eq!(numbered(compare), SPARED);
        // The version of a node that was made again is that of the one before.
        assert_eq!(of_one_name(compare)[..2], BY_NAME);
    }
}

#[test]
fn a_lock_that_is_still_its_owners_is_deleted_either_way() {
    for compare in [false, true] {
        let think = seconds(2);
        let looks = || vec![planned(acquired(), Fault::DeleteStale { think, compare })];
        for (service, algorithm) in [
            (redis(1, 0), "redis-compare-and-delete"),
            (ensemble(), "zk-predecessor-watch"),
        ] {
            let taken = disowned(&history_on(service, algorithm, looks()));
            assert_eq!(taken[0], Disowned::RemovedFromOutside, "{algorithm}");
        }
    }
}

#[test]
fn a_script_that_sees_no_lock_deletes_none() {
    let (think, compare) = (seconds(3), false);
    let looks = planned(
        Trigger::At(seconds(0)),
        Fault::DeleteStale { think, compare },
    );
    let history = history_on(redis(1, 0), "redis-compare-and-delete", vec![looks]);
    assert_eq!(disowned(&history), [Disowned::Released; 2]);
}

#[test]
fn a_lock_of_the_lease_server_has_no_name_to_delete_it_by() {
    let lease_server = Service::LeaseServer(LeaseServer::default());
    assert!(!FaultKind::DeleteStale.can_be_tried(&lease_server));
}
