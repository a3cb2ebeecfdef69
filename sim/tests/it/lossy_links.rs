//! Links that lose packets, or are down and up in turn: what is lost is sent again as TCP does it, and late.

use crate::common;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_checker::{EventKind, History, VirtualTime};
use picklock_sim::engine::Tape;
use picklock_sim::plan::{
    Deployment, Direction, Ensemble, Fault, Plan, PlannedFault, Rate, Repeat, Service, Trigger,
};
use picklock_sim::{simulate, simulate_with};

fn loses(percent: u32, direction: Direction) -> PlannedFault {
    let inject = Fault::LosePackets {
        target: FIRST,
        direction,
        rate: Rate::percent(percent),
        length: seconds(600),
    };
    planned(Trigger::At(Duration::ZERO), inject)
}

/// Every message takes one millisecond, so that chance decides nothing but what is lost.
fn plan(service: Service, algorithm: &str, faults: Vec<PlannedFault>) -> Plan {
    let mut plan = plan_on(service, algorithm, faults);
    let millisecond = Duration::from_millis(1);
    plan.network.client_latency = (millisecond, millisecond);
    plan.network.server_latency = (millisecond, millisecond);
    plan
}

fn on_redis(faults: Vec<PlannedFault>) -> Plan {
    let deployment = Deployment {
        timeout: seconds(60),
        connect_timeout: seconds(60),
        lease: seconds(300),
        ..Deployment::default()
    };
    plan(
        Service::Redis(deployment),
        "redis-compare-and-delete",
        faults,
    )
}

fn times(history: &History, is: impl Fn(&EventKind) -> bool) -> Vec<VirtualTime> {
    let events = history.events.iter().filter(|event| is(&event.what));
    events.map(|event| event.at).collect()
}

/// When the first contender has got the lock.
fn entered(history: &History) -> Duration {
    let entered = times(history, |what| {
        matches!(what, EventKind::Acquired { by: A, .. })
    });
    Duration::from_micros(entered[0].micros())
}

/// How much later the first contender has the lock if one segment is lost, and if it is lost twice; for each of the
/// first choices on the tape.
fn delays(faults: &[PlannedFault]) -> Vec<(Duration, Duration)> {
    // A segment is lost if its choice is among the highest of a million.
    const LOST: u32 = 999_999;
    let plain = entered(&simulate(&on_redis(faults.to_vec()), 1).run.history);
    let mut lossy = faults.to_vec();
    lossy.insert(0, loses(50, Direction::ToServer));
    let lossy = on_redis(lossy);
    let delay = |choices: Vec<u32>| {
        entered(&simulate_with(&lossy, Tape::recorded(choices)).run.history) - plain
    };
    assert_eq!(delay(Vec::new()), Duration::ZERO, "zero is not lost");
    let each = (0..12).map(|first| {
        let once = [vec![0; first], vec![LOST]].concat();
        let twice = [vec![0; first], vec![LOST, LOST]].concat();
        (delay(once), delay(twice))
    });
    each.collect()
}

#[test]
fn what_is_lost_is_sent_again_after_the_timeout_of_tcp_and_after_twice_as_long_each_time() {
    let timeout = Duration::from_millis(202);
    let found = delays(&[]);
    assert!(found.contains(&(timeout, timeout * 3)), "{found:?}");
    // A new connection knows no round trip yet.
    let cut = Fault::Cut { target: FIRST };
    let connecting = Trigger::At(Duration::from_micros(1_500));
    let found = delays(&[planned(connecting, cut)]);
    assert!(found.contains(&(seconds(1), seconds(3))), "{found:?}");
}

#[test]
fn the_more_is_lost_the_later_it_gets_and_one_way_is_enough() {
    let mean = |percent, direction| {
        let plan = on_redis(vec![loses(percent, direction)]);
        let all = (0..40).map(|seed| entered(&simulate(&plan, seed).run.history));
        all.sum::<Duration>() / 40
    };
    let plain = entered(&simulate(&on_redis(Vec::new()), 1).run.history);
    for direction in [Direction::ToServer, Direction::ToClient] {
        let (few, many) = (mean(5, direction), mean(60, direction));
        assert!(plain < few, "{direction:?}: {few:?}");
        assert!(few * 4 < many, "{direction:?}: {few:?} {many:?}");
    }
    assert!(mean(60, Direction::Both) > mean(60, Direction::ToServer));
}

/// How often the first contender has lost its connection.
fn breaks(history: &History) -> usize {
    times(history, |what| {
        matches!(what, EventKind::Disconnected { by: A })
    })
    .len()
}

#[test]
fn where_too_much_is_lost_clients_give_up_their_connections() {
    let service = || Service::ZooKeeper(Ensemble::default());
    let lost = |faults| {
        let plan = plan(service(), "zk-hardened", faults);
        let histories = (0..20).map(|seed| simulate(&plan, seed).run.history);
        histories.map(|history| breaks(&history)).sum::<usize>()
    };
    assert_eq!(breaks(&history_on(service(), "zk-hardened", Vec::new())), 0);
    assert!(lost(vec![loses(80, Direction::Both)]) > 20);
}

#[test]
fn nothing_is_asked_of_the_tape_before_packets_are_lost() {
    let late = Fault::LosePackets {
        target: FIRST,
        direction: Direction::Both,
        rate: Rate::percent(50),
        length: seconds(1),
    };
    let never = planned(Trigger::Acquired { by: FIRST, nth: 9 }, late);
    let [with, without] = [vec![never], Vec::new()].map(|faults| {
        let service = Service::ZooKeeper(Ensemble::default());
        let plan = plan_on(service, "zk-hardened", faults);
        simulate(&plan, 7).choices
    });
    assert_eq!(with, without);
}

fn flaps(down: (Duration, Duration), up: (Duration, Duration)) -> PlannedFault {
    let inject = Fault::Flap {
        target: FIRST,
        direction: Direction::Both,
        down,
        up,
        length: seconds(20),
    };
    planned(acquired(), inject)
}

fn story(fault: PlannedFault) -> Vec<(VirtualTime, EventKind)> {
    let service = Service::ZooKeeper(Ensemble::default());
    let history = simulate(&plan(service, "zk-hardened", vec![fault]), 1)
        .run
        .history;
    let events = history.events.iter().filter(|event| {
        !matches!(
            event.what,
            EventKind::FaultFired { .. } | EventKind::FaultHealed { .. } | EventKind::CalmBegan
        )
    });
    events
        .map(|event| (event.at, event.what))
        .take_while(|(at, _)| *at < VirtualTime::ZERO + seconds(19))
        .collect()
}

#[test]
fn a_link_that_flaps_regularly_is_a_black_hole_that_strikes_again_and_again() {
    let (down, up) = (Duration::from_millis(700), Duration::from_millis(300));
    let hole = Fault::BlackHole {
        target: FIRST,
        direction: Direction::Both,
        length: down.into(),
    };
    let again = PlannedFault {
        repeat: Some(Repeat {
            times: 20,
            every: Some(down + up),
        }),
        ..planned(acquired(), hole)
    };
    let holes = story(again);
    assert!(holes.len() > 10);
    assert_eq!(story(flaps((down, down), (up, up))), holes);
}

#[test]
fn a_link_that_flaps_at_random_is_down_for_long_with_some_seeds_only() {
    let short = Duration::from_millis(10);
    let longest = Duration::from_millis(4_500);
    let fault = flaps((short, longest), (short, seconds(1)));
    let lost = |seed| {
        let service = Service::ZooKeeper(Ensemble::default());
        let plan = plan(service, "zk-hardened", vec![fault.clone()]);
        let history = simulate(&plan, seed).run.history;
        breaks(&history) > 0
    };
    let lost = (0..30).filter(|seed| lost(*seed)).count();
    assert!((5..30).contains(&lost), "{lost}");
}
