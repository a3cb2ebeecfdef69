//! A holder that stands still for seven seconds, with a session of four, and a waiter: for how long both believe that
//! they hold the lock, against what was measured with ZooKeeper 3.8.0, Curator 5.4.0, and kazoo 2.11 (ticks of 0.5 s).
//!
//! Real runs were few, ten and four: their ranges are those of a handful of moments between two pings. So two things
//! are asked of many runs here: none lies outside what the rules allow, and together they cover what was measured.

use std::ops::RangeInclusive;
use std::time::Duration;

use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_sim::plan::{Arrival, ContenderName, Ensemble, Fault, PlannedFault, Trigger};
use picklock_sim::simulate;
use picklock_zookeeper::client_profile::Library;

use crate::measured::world::{PlanOf, all_within, first_from, millis, plan};

const A: ContenderId = ContenderId(0);
const B: ContenderId = ContenderId(1);
/// How long the holder stands still.
const STOP: u64 = 7_000;
/// The session timeout.
const SESSION: u64 = 4_000;
/// The tick.
const TICK: u64 = 500;
/// How long a message can take, and a server to decide.
const A_MOMENT: u64 = 5;
/// In half of them it is the other who comes first.
const RUNS: u64 = 2_000;

/// Milliseconds, of every run.
#[derive(Default)]
struct Seen {
    /// From the stop until the other has the lock.
    acquired: Vec<u64>,
    /// Then, until the first is told that its connection is lost.
    until_suspended: Vec<u64>,
    /// Or that its session is.
    until_lost: Vec<u64>,
    /// From when the first runs again until it learns of its connection.
    awake_until_suspended: Vec<u64>,
    /// And of its session.
    awake_until_lost: Vec<u64>,
}

fn history(
    algorithm: &'static str,
    servers: u8,
    library: Library,
    (arrive, hold): (Arrival, Duration),
    run: u64,
) -> History {
    let pause = PlannedFault {
        when: Trigger::At(Duration::from_secs(30)),
        after: Duration::from_millis(run * 1_337 % 4_000),
        repeat: None,
        text: String::new(),
        inject: Fault::Pause {
            target: ContenderName(0),
            length: Duration::from_millis(STOP).into(),
        },
    };
    let plan = plan(PlanOf {
        algorithm,
        ensemble: Ensemble {
            servers,
            library,
            session_timeout: Duration::from_millis(SESSION),
            ..Ensemble::default()
        },
        contenders: 2,
        arrive,
        hold,
        faults: vec![pause],
    });
    simulate(&plan, run).run.history
}

fn see(algorithm: &'static str, servers: u8, library: Library) -> Seen {
    let mut seen = Seen::default();
    // They come at random moments, and so does the pause: anywhere between two pings, and between two ticks.
    let arrive = Arrival::Within(Duration::from_secs(4));
    for run in 0..RUNS {
        let hold = Duration::from_secs(60);
        let history = history(algorithm, servers, library, (arrive, hold), run);
        let first = history.events.iter().find_map(|event| match event.what {
            EventKind::Acquired { by, .. } => Some(by),
            _ => None,
        });
        if first != Some(A) {
            continue;
        }
        let when = |from: VirtualTime, what: &dyn Fn(&EventKind) -> bool| {
            first_from(&history, from, what).expect("it happens in every run")
        };
        let stopped = when(VirtualTime::ZERO, &|what| {
            *what == EventKind::Paused { by: A }
        });
        let awake = when(stopped, &|what| *what == EventKind::Resumed { by: A });
        let granted = when(
            stopped,
            &|what| matches!(what, EventKind::Acquired { by, .. } if *by == B),
        );
        let suspended = when(stopped, &|what| *what == EventKind::Disconnected { by: A });
        let lost = when(stopped, &|what| *what == EventKind::SessionLost { by: A });
        seen.acquired.push(millis(stopped, granted));
        seen.until_suspended.push(millis(granted, suspended));
        seen.until_lost.push(millis(granted, lost));
        seen.awake_until_suspended.push(millis(awake, suspended));
        seen.awake_until_lost.push(millis(awake, lost));
    }
    seen
}

/// Nothing beyond the rules, and everything that was measured.
fn spans(times: &[u64], measured: RangeInclusive<u64>, rule: RangeInclusive<u64>) {
    all_within(times, rule);
    let (least, most) = (times.iter().min(), times.iter().max());
    let covers = least <= Some(measured.start()) && most >= Some(measured.end());
    assert!(covers, "{least:?} to {most:?}, and not all of {measured:?}");
}

/// Its last ping was sent up to a third of the timeout before the stop; it expires at the end of a bucket, and a
/// follower tells the leader of it up to half a tick later.
fn grant(servers: u8) -> RangeInclusive<u64> {
    let late = if servers > 1 { TICK / 2 } else { 0 };
    SESSION - SESSION / 3 - A_MOMENT..=SESSION + TICK + late + A_MOMENT
}

/// What is left of the stop when the other has the lock, and then so long.
fn overlap(servers: u8, told: RangeInclusive<u64>) -> RangeInclusive<u64> {
    let grant = grant(servers);
    STOP - grant.end() + told.start()..=STOP - grant.start() + told.end()
}

#[test]
fn curator_at_one_server_believes_for_as_long_as_it_did_when_it_was_measured() {
    let seen = see("curator-mutex", 1, Library::Java);
    spans(&seen.acquired, 2_770..=4_344, grant(1));
    // 104 to 115 ms were measured: 100 ms that the client sleeps, and then its threads, which take no time here.
    let told = 100..=115;
    all_within(&seen.awake_until_suspended, told.clone());
    spans(&seen.until_suspended, 2_772..=4_342, overlap(1, told));
    // The circle of one server is full at once, so it sleeps for a second, and for up to another.
    let told = 1_100..=2_100 + A_MOMENT;
    spans(&seen.awake_until_lost, 1_143..=1_824, told.clone());
    spans(&seen.until_lost, 3_800..=5_512, overlap(1, told));
}

#[test]
fn curator_at_three_servers_hears_of_the_end_of_its_session_a_second_earlier() {
    let seen = see("curator-mutex", 3, Library::Java);
    spans(&seen.acquired, 2_906..=3_504, grant(3));
    let told = 100..=115;
    all_within(&seen.awake_until_suspended, told.clone());
    spans(&seen.until_suspended, 3_612..=4_100, overlap(3, told));
    let told = 100..=1_100 + A_MOMENT;
    spans(&seen.awake_until_lost, 149..=477, told.clone());
    spans(&seen.until_lost, 3_678..=4_551, overlap(3, told));
}

#[test]
fn kazoo_is_told_at_once() {
    let seen = see("zk-predecessor-watch", 1, Library::Kazoo);
    spans(&seen.acquired, 3_125..=3_555, grant(1));
    let told = 0..=2;
    all_within(&seen.awake_until_suspended, told.clone());
    spans(&seen.until_suspended, 3_446..=3_877, overlap(1, told));
    // One pause of 100 ms, give or take two fifths.
    let told = 60..=143;
    spans(&seen.awake_until_lost, 86..=138, told.clone());
    spans(&seen.until_lost, 3_531..=3_989, overlap(1, told));
}

#[test]
fn the_release_of_a_lock_that_was_lost_in_the_pause_says_nothing() {
    for run in 0..10 {
        // It is over while the holder stands still.
        let hold = Duration::from_secs(35);
        let history = history(
            "curator-mutex",
            1,
            Library::Java,
            (Arrival::BehindHolder, hold),
            run,
        );
        let of_a = |wanted: &dyn Fn(&EventKind) -> bool| {
            let events = history.events.iter();
            events
                .filter(|event| event.what.by() == Some(A) && wanted(&event.what))
                .count()
        };
        assert_eq!(
            of_a(&|what| matches!(what, EventKind::SessionExpired { .. })),
            1
        );
        assert_eq!(of_a(&|what| matches!(what, EventKind::Released { .. })), 1);
        assert_eq!(
            of_a(&|what| matches!(what, EventKind::ReleaseFailed { .. })),
            0
        );
    }
}
