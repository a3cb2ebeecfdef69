//! Faults strike at the moments that they wait for: for each that has to do with servers or sessions, a run that shows
//! what had happened by then, and what had not.

use crate::common;
use crate::common::first;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use first::first;
use picklock_checker::{Event, EventKind, FaultId, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_sim::engine::Tape;
use picklock_sim::plan::{
    ContenderName, Deployment, Ensemble, Fault, PlannedFault, Sentinels, ServerName, Service,
    Trigger,
};
use picklock_sim::simulate_seen;

const FOLLOWER: ServerName = ServerName::Follower(0);
const PRIMARY: ServerName = ServerName::Number(0);
const REPLICA: ServerName = ServerName::Number(1);

fn on_ensemble(faults: Vec<PlannedFault>) -> History {
    let ensemble = Ensemble {
        servers: 3,
        ..Ensemble::default()
    };
    history_on(Service::ZooKeeper(ensemble), "zk-predecessor-watch", faults)
}

fn on_replicas(sentinels: Option<Sentinels>, faults: Vec<PlannedFault>) -> History {
    let deployment = Deployment {
        replicas: 1,
        lease: seconds(30),
        sentinels,
        ..Deployment::default()
    };
    let service = Service::Redis(deployment);
    history_on(service, "redis-compare-and-delete", faults)
}

/// A fault that nothing comes of in which these tests are interested: it marks the moment.
fn mark(when: Trigger) -> PlannedFault {
    let jump = Fault::ClockJump {
        target: ContenderName(1),
        by_millis: 1,
    };
    planned(when, jump)
}

/// When a fault of the plan has fired.
fn fired(history: &History, fault: u32) -> Option<VirtualTime> {
    first(history, |what| {
        *what
            == EventKind::FaultFired {
                fault: FaultId(fault),
            }
    })
}

/// What happened at the very moment of a fault, in its order, with the fault itself.
fn at_once(history: &History, fault: u32) -> Vec<EventKind> {
    let at = fired(history, fault);
    let same = history.events.iter().filter(|event| Some(event.at) == at);
    same.map(|Event { what, .. }| *what).collect()
}

fn black_hole(target: ContenderName, length: Duration) -> Fault {
    Fault::BlackHole {
        target,
        direction: picklock_sim::plan::Direction::Both,
        length: length.into(),
    }
}

#[test]
fn a_client_that_is_cut_off_is_disconnected_and_then_connected_again_in_its_session() {
    let nth = 1;
    let history = on_ensemble(vec![
        planned(acquired(), Fault::Cut { target: FIRST }),
        mark(Trigger::Disconnected { by: FIRST, nth }),
        mark(Trigger::Reconnected { by: FIRST, nth }),
        mark(Trigger::SessionLost { by: FIRST, nth }),
    ]);
    assert!(at_once(&history, 1).contains(&EventKind::Disconnected { by: A }));
    assert!(at_once(&history, 2).contains(&EventKind::Reconnected { by: A }));
    assert!(fired(&history, 1) < fired(&history, 2));
    assert_eq!(fired(&history, 3), None, "its session lives");
}

#[test]
fn a_client_learns_that_its_session_expired_when_it_reconnects() {
    let by = FIRST;
    let history = on_ensemble(vec![
        planned(acquired(), black_hole(FIRST, seconds(20))),
        mark(Trigger::SessionExpired { by }),
        mark(Trigger::SessionLost { by, nth: 1 }),
        mark(Trigger::Reconnected { by, nth: 1 }),
    ]);
    let (expired, lost) = (fired(&history, 1).unwrap(), fired(&history, 2).unwrap());
    assert!(lost - expired > seconds(5), "{:?}", lost - expired);
    assert!(at_once(&history, 2).contains(&EventKind::SessionLost { by: A }));
    assert_eq!(fired(&history, 3), None, "it is a new session");
}

#[test]
fn each_leader_that_comes_after_the_first_is_elected() {
    let crash = |when| {
        let leader = Fault::CrashServer {
            target: ServerName::Leader,
            restart_after: Some(seconds(1)),
        };
        planned(when, leader)
    };
    let history = on_ensemble(vec![
        crash(Trigger::At(seconds(1))),
        crash(Trigger::Elected { nth: 1 }),
        mark(Trigger::Elected { nth: 2 }),
        mark(Trigger::Elected { nth: 3 }),
    ]);
    let elections = [fired(&history, 0), fired(&history, 1), fired(&history, 2)];
    assert!(
        elections.is_sorted() && elections[2].is_some(),
        "{elections:?}"
    );
    assert_eq!(fired(&history, 3), None, "no fault strikes the third");
}

#[test]
fn a_replica_that_sentinel_makes_the_primary_is_elected() {
    let sentinels = Sentinels {
        down_after: seconds(1),
        ..Sentinels::of(3)
    };
    let crash = Fault::CrashServer {
        target: PRIMARY,
        restart_after: Some(seconds(10)),
    };
    let history = on_replicas(
        Some(sentinels),
        vec![
            planned(acquired(), crash),
            mark(Trigger::Elected { nth: 1 }),
            mark(Trigger::Elected { nth: 2 }),
        ],
    );
    let took = fired(&history, 1).unwrap() - fired(&history, 0).unwrap();
    assert!((seconds(1)..seconds(5)).contains(&took), "{took:?}");
    assert_eq!(
        fired(&history, 2),
        None,
        "the old one comes back as a replica"
    );
}

#[test]
fn no_follower_has_what_is_committed_and_each_has_it_when_it_is_applied_there() {
    let (request, by, nth) = (RequestKind::Create, FIRST, 1);
    let applied = |at| Trigger::Applied {
        request,
        by,
        nth,
        at,
    };
    let late = Fault::HoldLink {
        from: vec![ServerName::Leader],
        to: FOLLOWER,
        length: seconds(2).into(),
    };
    let history = on_ensemble(vec![
        planned(Trigger::Committed { request, by, nth }, late),
        mark(applied(ServerName::Leader)),
        mark(applied(FOLLOWER)),
        mark(applied(ServerName::Follower(1))),
    ]);
    let at = |fault| fired(&history, fault).unwrap();
    let committed = at(0);
    assert_eq!(at(1), committed);
    assert!(at(2) >= committed + seconds(2), "{:?}", at(2) - committed);
    assert!(at(3) > committed && at(3) < committed + seconds(1));
}

#[test]
fn a_primary_that_dies_when_it_has_answered_has_not_told_its_replica_and_soon_after_it_has() {
    let (request, by, nth) = (RequestKind::Set, FIRST, 1);
    let run = |when, millis| {
        let dies = Fault::CrashServer {
            target: PRIMARY,
            restart_after: None,
        };
        let promote = Fault::Promote { target: REPLICA };
        let mut dies = planned(when, dies);
        dies.after = Duration::from_millis(millis);
        let mut promote = planned(Trigger::Fired { fault: 0 }, promote);
        promote.after = seconds(1);
        let at = REPLICA;
        let applied = Trigger::Applied {
            request,
            by,
            nth,
            at,
        };
        on_replicas(None, vec![dies, promote, mark(applied)])
    };
    let owners = |history: &History| {
        let owned = |event: &&Event| matches!(event.what, EventKind::Owned { by: A, .. });
        history.events.iter().filter(owned).count()
    };
    let answered = run(
        Trigger::Answered {
            request,
            by,
            nth,
            at: None,
        },
        0,
    );
    let promoted = fired(&answered, 1).unwrap();
    assert!(
        fired(&answered, 2).unwrap() > promoted,
        "only what it sets there is"
    );
    assert_eq!(owners(&answered), 2, "it has set it again");
    let streamed = run(Trigger::Streamed { request, by, nth }, 10);
    let promoted = fired(&streamed, 1).unwrap();
    assert!(
        fired(&streamed, 2).unwrap() < promoted,
        "its lock is on the new primary, too"
    );
}

#[test]
fn what_changes_nothing_is_not_streamed() {
    let streamed = |request| {
        let (by, nth) = (FIRST, 1);
        mark(Trigger::Streamed { request, by, nth })
    };
    let refused = Trigger::Streamed {
        request: RequestKind::Set,
        by: ContenderName(1),
        nth: 2,
    };
    let history = on_replicas(
        None,
        vec![
            streamed(RequestKind::Set),
            streamed(RequestKind::Get),
            mark(refused),
        ],
    );
    assert!(fired(&history, 0).is_some());
    assert_eq!(fired(&history, 1), None);
    assert_eq!(fired(&history, 2), None, "of its many, one has set the key");
}

#[test]
fn a_run_without_faults_shows_when_a_request_is_sent_and_committed_and_answered() {
    let ensemble = Service::ZooKeeper(Ensemble::default());
    let redis = Service::Redis(Deployment::default());
    let asked = [
        (ensemble, "zk-predecessor-watch", RequestKind::Create),
        (redis, "redis-compare-and-delete", RequestKind::Set),
    ];
    for (service, recipe, request) in asked {
        let plan = plan_on(service, recipe, Vec::new());
        let (_, seen) = simulate_seen(&plan, Tape::from_seed(0));
        let (by, nth) = (FIRST, 1);
        for when in [
            Trigger::Sent {
                request,
                by,
                nth,
                at: None,
            },
            Trigger::Committed { request, by, nth },
            Trigger::Answered {
                request,
                by,
                nth,
                at: None,
            },
        ] {
            assert!(seen.iter().any(|moment| moment.trigger == when), "{when:?}");
        }
    }
}

#[test]
fn a_run_without_faults_shows_when_a_request_is_proposed_before_it_is_committed() {
    for servers in [1, 3] {
        let ensemble = Ensemble {
            servers,
            ..Ensemble::default()
        };
        let service = Service::ZooKeeper(ensemble);
        let plan = plan_on(service, "zk-predecessor-watch", Vec::new());
        let (_, seen) = simulate_seen(&plan, Tape::from_seed(0));
        let index = |when: Trigger| {
            let found = seen.iter().position(|moment| moment.trigger == when);
            found.unwrap_or_else(|| panic!("{when:?}"))
        };
        for (by, request) in [
            (FIRST, RequestKind::Create),
            (FIRST, RequestKind::Delete),
            (ContenderName(1), RequestKind::Create),
        ] {
            let nth = 1;
            let sent = index(Trigger::Sent {
                request,
                by,
                nth,
                at: None,
            });
            let proposed = index(Trigger::Proposed { request, by, nth });
            let committed = index(Trigger::Committed { request, by, nth });
            assert!(sent < proposed && proposed < committed);
        }
    }
}

/// Two claim a lock of three servers; requests of the first to these are lost.
fn unheard_at(servers: &[u32], nth: u32) -> History {
    let faults = servers.iter().map(|server| {
        let sent = Trigger::Sent {
            request: RequestKind::Set,
            by: FIRST,
            nth,
            at: Some(ServerName::Number(*server)),
        };
        planned(sent, Fault::LoseRequest { target: FIRST })
    });
    let deployment = Deployment {
        servers: 3,
        ..Deployment::default()
    };
    let algorithm = "redlock-quorum-of-the-live";
    history_on(Service::Redis(deployment), algorithm, faults.collect())
}

#[test]
fn a_request_to_one_server_is_waited_for_by_its_name() {
    let owners = |history: &History| -> Vec<u32> {
        let events = history.events.iter();
        let owned = events.filter_map(|event| match event.what {
            EventKind::Owned { by, .. } => Some(by.0),
            _ => None,
        });
        owned.collect()
    };
    // Any two of the three are a majority that the first does not have, in any order of its requests.
    for pair in [[0, 1], [0, 2], [1, 2], [2, 1]] {
        assert_eq!(owners(&unheard_at(&pair, 1)), [1], "{pair:?}");
    }
    assert_eq!(owners(&unheard_at(&[2], 1)), [0, 1]);
    // It sends one to each, so that a second one to any of them is not sent.
    let never = unheard_at(&[0, 1, 2], 2);
    assert_eq!(owners(&never), [0, 1]);
    assert_eq!(fired(&never, 0), None);
}

#[test]
fn an_answer_of_another_server_of_the_ensemble_is_not_waited_for() {
    let answered = |server| Trigger::Answered {
        request: RequestKind::Create,
        by: FIRST,
        nth: 1,
        at: Some(server),
    };
    let servers = [0, 1, 2].map(ServerName::Number);
    let own = mark(answered(ServerName::Of(FIRST)));
    let faults = servers.map(|server| mark(answered(server)));
    let history = on_ensemble([vec![own], faults.to_vec()].concat());
    let marked = [1, 2, 3].map(|fault| fired(&history, fault));
    assert!(fired(&history, 0).is_some());
    assert_eq!(marked.iter().flatten().count(), 1, "{marked:?}");
}
