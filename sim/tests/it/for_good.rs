//! What is for good stays so, in the calm too, and progress is judged by what is left.

use crate::common;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_checker::{EventKind, INVARIANTS, Run, Verdict};
use picklock_clients::RequestKind;
use picklock_sim::plan::{
    Cluster, ContenderName, Deployment, Ensemble, Fault, PlannedFault, Sentinels, ServerName,
    Service, Trigger,
};
use picklock_sim::simulate;

fn run(service: Service, algorithm: &str, faults: Vec<PlannedFault>) -> Run {
    simulate(&plan_on(service, algorithm, faults), 1).run
}

fn verdict(run: &Run, name: &str) -> Verdict {
    let invariant = INVARIANTS.iter().find(|known| known.name == name);
    invariant.expect("an invariant").verdict(run)
}

fn undecided(why: &str) -> Verdict {
    Verdict::Undecided(why.to_owned())
}

/// The place of the first event of a kind.
fn place(run: &Run, wanted: impl Fn(&EventKind) -> bool) -> usize {
    let mut events = run.history.events.iter();
    events
        .position(|event| wanted(&event.what))
        .expect("it happened")
}

fn after(run: &Run, index: usize, wanted: impl Fn(&EventKind) -> bool) -> usize {
    let events = run.history.events[index..].iter();
    events.filter(|event| wanted(&event.what)).count()
}

fn server(index: u32) -> ServerName {
    ServerName::Number(index)
}

fn dies(target: ServerName) -> Fault {
    Fault::CrashServer {
        target,
        restart_after: None,
    }
}

fn loses_power(target: ServerName) -> Fault {
    Fault::PowerLoss {
        target,
        restart_after: None,
    }
}

fn all_at_once(faults: impl IntoIterator<Item = Fault>) -> Vec<PlannedFault> {
    let planned = |fault| planned(acquired(), fault);
    faults.into_iter().map(planned).collect()
}

fn ensemble(servers: u8) -> Service {
    Service::ZooKeeper(Ensemble {
        servers,
        ..Ensemble::default()
    })
}

fn redis(servers: u8) -> Service {
    Service::Redis(Deployment {
        servers,
        ..Deployment::default()
    })
}

/// A primary, a replica, and three Sentinels.
fn watched() -> Service {
    Service::Redis(Deployment {
        replicas: 1,
        sentinels: Some(Sentinels {
            down_after: seconds(2),
            failover_timeout: seconds(10),
            ..Sentinels::of(3)
        }),
        lease: seconds(30),
        ..Deployment::default()
    })
}

fn replicated() -> Service {
    Service::Redis(Deployment {
        replicas: 1,
        ..Deployment::default()
    })
}

fn cluster() -> Service {
    Service::Redis(Deployment {
        cluster: Some(Cluster {
            node_timeout: seconds(2),
            ..Cluster::of(3, 1)
        }),
        lease: seconds(30),
        ..Deployment::default()
    })
}

const PLAIN: &str = "redis-compare-and-delete";

/// A name, the service, the recipe, the servers that die for good, and why the rest cannot serve, if so.
type Row = (
    &'static str,
    Service,
    &'static str,
    Vec<ServerName>,
    Option<&'static str>,
);

fn calm(what: &EventKind) -> bool {
    matches!(what, EventKind::CalmBegan)
}

fn granted(what: &EventKind) -> bool {
    matches!(what, EventKind::Owned { .. } | EventKind::Acquired { .. })
}

#[test]
fn the_only_redis_that_dies_for_good_while_the_lock_is_held_grants_nothing_ever_after() {
    for fault in [dies(server(0)), loses_power(server(0))] {
        let faults = all_at_once([fault.clone()]);
        let run = run(redis(1), "redis-compare-and-delete", faults);
        let struck = place(&run, |what| matches!(what, EventKind::FaultFired { .. }));
        assert!(place(&run, calm) > struck, "{fault:?}");
        assert_eq!(after(&run, struck, granted), 0, "{fault:?}");
        let why = "the only server is dead for good";
        assert_eq!(verdict(&run, "progress"), undecided(why), "{fault:?}");
        assert_eq!(verdict(&run, "mutual-exclusion"), Verdict::Holds);
    }
}

#[test]
fn two_of_three_zookeeper_servers_that_die_for_good_leave_no_quorum_ever_after() {
    let faults = all_at_once([server(0), server(1)].map(dies));
    let run = run(ensemble(3), "zk-predecessor-watch", faults);
    let struck = place(&run, |what| matches!(what, EventKind::FaultFired { .. }));
    assert!(place(&run, calm) > struck);
    assert_eq!(after(&run, struck, granted), 0);
    let why = "server-1 and server-2 are dead for good: what is left has no quorum";
    assert_eq!(verdict(&run, "progress"), undecided(why));
    assert_eq!(verdict(&run, "mutual-exclusion"), Verdict::Holds);
}

#[test]
fn without_a_quorum_nothing_ends_the_session_of_the_dead_and_no_recipe_is_blamed_for_it() {
    let dead = Fault::Crash {
        target: FIRST,
        restart_after: None,
    };
    let faults = all_at_once([dead, dies(server(0)), dies(server(1))]);
    let run = run(ensemble(3), "zk-predecessor-watch", faults);
    let why = "server-1 and server-2 are dead for good: what is left has no quorum";
    for invariant in ["progress", "no-orphan"] {
        assert_eq!(verdict(&run, invariant), undecided(why));
    }
}

#[test]
fn with_a_quorum_left_progress_is_judged_and_a_sound_lock_makes_it() {
    for target in [ServerName::Leader, ServerName::Follower(0), server(0)] {
        let run = run(
            ensemble(3),
            "zk-predecessor-watch",
            all_at_once([dies(target)]),
        );
        assert!(run.for_good.service.is_none(), "{target:?}");
        assert_eq!(verdict(&run, "progress"), Verdict::Holds, "{target:?}");
        assert_eq!(verdict(&run, "no-orphan"), Verdict::Holds, "{target:?}");
    }
}

#[test]
fn with_a_quorum_left_a_recipe_that_waits_for_itself_is_found_out() {
    let second = ContenderName(1);
    let creating = Trigger::Sent {
        request: RequestKind::Create,
        by: second,
        nth: 1,
        at: None,
    };
    let faults = vec![
        planned(acquired(), dies(ServerName::Follower(0))),
        planned(creating, Fault::LoseReply { target: second }),
    ];
    let run = run(ensemble(3), "zk-no-guid", faults);
    assert!(verdict(&run, "progress").witness().is_some());
}

#[test]
fn progress_allows_for_the_timeouts_of_a_majority_of_which_one_is_silent() {
    let bound = |service, faults| run(service, "redlock", faults).facts.progress_bound;
    let silent = || all_at_once([loses_power(server(4))]);
    let timeout = Deployment::default().timeout;
    let allowed = bound(redis(5), silent()) - bound(redis(5), Vec::new());
    assert!(
        allowed >= timeout * 3,
        "an attempt, a release, and one more"
    );
    let alone = |faults| run(redis(1), PLAIN, faults).facts.progress_bound;
    assert_eq!(
        alone(all_at_once([loses_power(server(0))])),
        alone(Vec::new())
    );
}

fn deaths() -> [Row; 11] {
    let sentinels = [0, 1].map(ServerName::Sentinel);
    [
        (
            "five",
            ensemble(5),
            "zk-predecessor-watch",
            vec![server(3), server(4)],
            None,
        ),
        (
            "one",
            ensemble(1),
            "zk-predecessor-watch",
            vec![ServerName::Leader],
            Some("the only server is dead for good"),
        ),
        (
            "redlock, minority",
            redis(5),
            "redlock",
            vec![server(0), server(1)],
            None,
        ),
        (
            "redlock, majority",
            redis(3),
            "redlock",
            vec![server(0), server(1)],
            Some("server-1 and server-2 are dead for good: what is left is no majority"),
        ),
        (
            "replica by hand",
            replicated(),
            PLAIN,
            vec![server(0)],
            Some("server-1 is dead for good: no Sentinel makes a replica the primary"),
        ),
        ("the replica", replicated(), PLAIN, vec![server(1)], None),
        (
            "the replica that WAIT waits for",
            replicated(),
            "redis-wait",
            vec![server(1)],
            Some("server-2 is dead for good: too few replicas are left to hear of a write"),
        ),
        ("Sentinels promote", watched(), PLAIN, vec![server(0)], None),
        (
            "too few Sentinels",
            watched(),
            PLAIN,
            [&[server(0)], &sentinels[..]].concat(),
            Some(
                "server-1, sentinel-1 and sentinel-2 are dead for good: the Sentinels that are \
                 left are too few to make a replica the primary",
            ),
        ),
        ("a cluster elects", cluster(), PLAIN, vec![server(1)], None),
        (
            "a shard without a node",
            cluster(),
            PLAIN,
            vec![server(0), server(3)],
            Some(
                "server-1 and server-4 are dead for good: no server serves their slots, and a \
                 cluster serves all or none",
            ),
        ),
    ]
}

#[test]
fn what_can_still_serve_is_judged_and_what_cannot_is_told_apart_wherever_servers_die_for_good() {
    for (name, service, algorithm, dead, why) in deaths() {
        let run = run(service, algorithm, all_at_once(dead.into_iter().map(dies)));
        let expected = why.map_or(Verdict::Holds, undecided);
        assert_eq!(verdict(&run, "progress"), expected, "{name}");
    }
}

#[test]
fn a_server_that_is_dead_for_good_is_not_revived_by_another_fault_that_heals() {
    for other in [
        Fault::HangServer {
            target: server(0),
            length: seconds(1).into(),
        },
        Fault::CrashServer {
            target: server(0),
            restart_after: Some(seconds(1)),
        },
    ] {
        for faults in [
            [dies(server(0)), other.clone()],
            [other.clone(), dies(server(0))],
        ] {
            let run = run(redis(1), "redis-compare-and-delete", all_at_once(faults));
            let struck = place(&run, |what| matches!(what, EventKind::FaultFired { .. }));
            assert_eq!(after(&run, struck, granted), 0, "{other:?}");
        }
    }
}

#[test]
fn a_contender_that_a_fault_kills_for_good_stays_dead_whatever_was_to_bring_it_back() {
    let crash = |restart_after| Fault::Crash {
        target: FIRST,
        restart_after,
    };
    let faults = all_at_once([crash(Some(seconds(2))), crash(None)]);
    let history = history_on(ensemble(3), "zk-predecessor-watch", faults);
    let back = |what: &EventKind| matches!(what, EventKind::Restarted { by: A });
    assert!(!history.events.iter().any(|event| back(&event.what)));
}
