//! A create whose request, or whose reply, is cut off: what clients do then, against what was measured with ZooKeeper
//! 3.8.0, Curator 5.4.0, and kazoo 2.11 (one server, sessions of 4 s). Milliseconds count from the cut.

use std::time::Duration;

use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_sim::plan::{
    Arrival, ContenderName, Direction, Ensemble, Fault, PlannedFault, Trigger,
};
use picklock_sim::simulate;
use picklock_zookeeper::client_profile::Library;

use crate::measured::world::{PlanOf, all_within, first_from, millis, plan};

const TARGET: ContenderName = ContenderName(0);
const A: ContenderId = ContenderId(0);
/// Each was measured four times.
const RUNS: u64 = 40;

fn planned(when: Trigger, inject: Fault) -> PlannedFault {
    PlannedFault {
        when,
        after: Duration::ZERO,
        repeat: None,
        text: String::new(),
        inject,
    }
}

/// The connection breaks under the request.
fn request_cut() -> PlannedFault {
    let (request, by, nth) = (RequestKind::Create, TARGET, 1);
    planned(
        Trigger::Sent {
            request,
            by,
            nth,
            at: None,
        },
        Fault::LoseRequest { target: TARGET },
    )
}

/// The connection breaks under the reply.
fn reply_cut() -> PlannedFault {
    let (request, by, nth) = (RequestKind::Create, TARGET, 1);
    planned(
        Trigger::Answered {
            request,
            by,
            nth,
            at: None,
        },
        Fault::LoseReply { target: TARGET },
    )
}

fn histories(
    algorithm: &'static str,
    library: Library,
    faults: &[PlannedFault],
) -> impl Iterator<Item = Seen> + use<> {
    let plan = plan(PlanOf {
        algorithm,
        ensemble: Ensemble {
            servers: 1,
            library,
            session_timeout: Duration::from_secs(4),
            ..Ensemble::default()
        },
        contenders: 1,
        arrive: Arrival::Together,
        hold: Duration::from_secs(1),
        faults: faults.to_vec(),
    });
    (0..RUNS).map(move |seed| Seen(simulate(&plan, seed).run.history))
}

/// A run with one contender.
struct Seen(History);

impl Seen {
    /// When such a thing happened first.
    fn when(&self, wanted: impl Fn(&EventKind) -> bool) -> Option<u64> {
        let cut = |what: &EventKind| matches!(what, EventKind::FaultFired { .. });
        let cut = first_from(&self.0, VirtualTime::ZERO, cut).expect("the cut");
        first_from(&self.0, cut, wanted).map(|at| millis(cut, at))
    }

    fn count(&self, wanted: impl Fn(&EventKind) -> bool) -> usize {
        let events = self.0.events.iter();
        events.filter(|event| wanted(&event.what)).count()
    }

    fn acquired(&self) -> Option<u64> {
        self.when(|what| matches!(what, EventKind::Acquired { .. }))
    }

    /// The nodes that were made, by the end of their names.
    fn made(&self) -> Vec<&str> {
        let names = self.0.events.iter().filter_map(|event| match event.what {
            EventKind::Queued { name, .. } => Some(&self.0.names[name.0 as usize]),
            _ => None,
        });
        names
            .map(|name| name.rsplit("lock-").next().unwrap_or_default())
            .collect()
    }

    /// The owner that it waits for in the end, if it does.
    fn waits_behind(&self) -> Option<Option<ContenderId>> {
        self.0.events.iter().find_map(|event| match event.what {
            EventKind::StillWaiting { by: A, owner, .. } => Some(owner),
            _ => None,
        })
    }
}

fn is_connected_again(what: &EventKind) -> bool {
    *what == EventKind::Reconnected { by: A }
}

#[test]
fn a_create_after_a_lost_reply_waits_for_its_own_node_for_good() {
    for seen in histories("zk-no-guid", Library::Java, &[reply_cut()]) {
        assert_eq!(seen.made(), ["0000000000", "0000000001"]);
        assert_eq!(seen.acquired(), None);
        assert_eq!(seen.waits_behind(), Some(Some(A)), "its own node");
        // The session lives, so nothing goes away: it was watched for 15 s.
        let gone = seen.count(|what| matches!(what, EventKind::Unqueued { .. }));
        assert_eq!(gone, 0);
        let ended = seen.when(|what| matches!(what, EventKind::Ended { .. }));
        assert!(ended >= Some(15_000), "{ended:?}");
        // At 111 ms it was told, at 1690 ms connected again: a second and a random one, for one server.
        let told = seen.when(|what| *what == EventKind::Disconnected { by: A });
        all_within(&[told.unwrap_or_default()], 100..=111);
        let again = seen.when(is_connected_again).unwrap_or_default();
        all_within(&[again], 1_100..=2_105);
    }
}

#[test]
fn a_lost_request_costs_nothing_but_time() {
    for algorithm in ["zk-no-guid", "curator-mutex", "curator-mutex-unprotected"] {
        for seen in histories(algorithm, Library::Java, &[request_cut()]) {
            assert_eq!(seen.made(), ["0000000000"], "{algorithm}");
            assert!(seen.acquired().is_some(), "{algorithm}");
        }
    }
}

#[test]
fn curator_without_protection_makes_a_second_node_in_the_background() {
    for seen in histories("curator-mutex-unprotected", Library::Java, &[reply_cut()]) {
        assert_eq!(seen.made(), ["0000000000", "0000000001"]);
        assert_eq!(seen.waits_behind(), Some(Some(A)), "its own node");
    }
}

#[test]
fn curator_finds_its_node_again_and_has_the_lock_a_second_or_two_after_the_cut() {
    let runs: Vec<Seen> = histories("curator-mutex", Library::Java, &[reply_cut()]).collect();
    for seen in &runs {
        assert_eq!(seen.made(), ["0000000000"]);
        assert_eq!(
            seen.when(|what| matches!(what, EventKind::SessionLost { .. })),
            None
        );
        // The look-up follows the connection within a few milliseconds.
        let (again, acquired) = (seen.when(is_connected_again), seen.acquired());
        assert!(acquired >= again && acquired <= again.map(|at| at + 23));
    }
    let mut times: Vec<u64> = runs.iter().filter_map(Seen::acquired).collect();
    times.sort_unstable();
    // Measured: 1.2 to 2.1 s. What the rules allow begins at 1.1 s: 0.1 s and 1 s, and a random one.
    all_within(&times, 1_100..=2_110);
    assert!(
        times[0] <= 1_200 && times[times.len() - 1] >= 2_000,
        "{times:?}"
    );
}

#[test]
fn a_curator_too_late_to_reconnect_queues_in_a_new_session() {
    let blocked = planned(
        Trigger::Fired { fault: 0 },
        Fault::BlackHole {
            target: TARGET,
            direction: Direction::Both,
            length: Duration::from_millis(6_500).into(),
        },
    );
    for seen in histories("curator-mutex", Library::Java, &[reply_cut(), blocked]) {
        assert_eq!(seen.made(), ["0000000000", "0000000001"]);
        let lost = seen.when(|what| matches!(what, EventKind::SessionLost { .. }));
        all_within(&[lost.unwrap_or_default()], 4_000..=4_200);
        // Measured once: 7.0 s. A real client has slept before it tries again.
        all_within(&[seen.acquired().unwrap_or_default()], 6_500..=8_600);
    }
}

#[test]
fn a_reply_that_is_swallowed_is_waited_for_for_ever() {
    let (request, by, nth) = (RequestKind::Create, TARGET, 1);
    let swallowed = planned(
        Trigger::Answered {
            request,
            by,
            nth,
            at: None,
        },
        Fault::SwallowReply { target: TARGET },
    );
    for seen in histories("curator-mutex", Library::Java, &[swallowed]) {
        assert_eq!(seen.made(), ["0000000000"]);
        assert_eq!(seen.acquired(), None);
        // Pings keep the connection and the session, so nothing ends the wait.
        let ends = |what: &EventKind| {
            *what == EventKind::Disconnected { by: A }
                || *what == EventKind::SessionExpired { by: A }
        };
        assert_eq!(seen.when(ends), None);
        assert!(seen.waits_behind().is_some());
    }
}

#[test]
fn kazoo_finds_its_node_again_within_a_seventh_of_a_second() {
    let runs = histories("zk-predecessor-watch", Library::Kazoo, &[reply_cut()]);
    let mut times = Vec::new();
    for seen in runs {
        assert_eq!(seen.made(), ["0000000000"]);
        times.extend(seen.acquired());
    }
    // Measured: 122 to 137 ms. kazoo pauses for 100 ms, give or take two fifths.
    all_within(&times, 60..=145);
    assert!(
        times.iter().any(|time| (122..=137).contains(time)),
        "{times:?}"
    );
}
