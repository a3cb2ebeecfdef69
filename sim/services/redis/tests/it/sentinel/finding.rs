//! A12.1: when a server is down, for one Sentinel and for enough of them.

use std::time::Duration;

use picklock_redis::sentinel::Event;

use crate::sentinel::test_cluster::Machine::{Sentinel, Server};
use crate::sentinel::test_cluster::TestCluster;

#[test]
fn a_dead_primary_is_down_for_one_after_down_after_and_for_enough_at_the_next_looks() {
    let mut town = TestCluster::of(1, 3, |_| {});
    let killed = town.now();
    town.kill(Server(0));
    town.run(3_000);
    let alone = town.first(Event::SubjectivelyDown, killed).expect("+sdown");
    let together = town.first(Event::ObjectivelyDown, killed).expect("+odown");
    assert!((1_000..1_300).contains(&alone), "{alone}");
    assert!((alone..alone + 300).contains(&together), "{together}");
}

#[test]
fn a_server_that_stands_still_is_down_after_its_last_answer() {
    let mut town = TestCluster::of(1, 3, |_| {});
    let stopped = town.now();
    town.stop(Server(0));
    town.run(4_000);
    let alone = town
        .first(Event::SubjectivelyDown, stopped)
        .expect("+sdown");
    assert!((1_000..2_300).contains(&alone), "{alone}");
}

#[test]
fn one_that_is_slow_for_less_than_down_after_is_not_down() {
    let mut town = TestCluster::of(1, 3, |settings| {
        settings.down_after = Duration::from_secs(3)
    });
    town.stop(Server(0));
    town.run(1_900);
    town.go_on(Server(0));
    town.run(5_000);
    assert_eq!(town.count(Event::SubjectivelyDown), 0);
}

#[test]
fn without_a_quorum_a_primary_is_down_for_one_alone_and_nothing_is_done() {
    let mut town = TestCluster::of(1, 3, |_| {});
    town.cut(Sentinel(0), Server(0));
    town.run(20_000);
    assert_eq!(town.count(Event::SubjectivelyDown), 1);
    assert_eq!(town.count(Event::ObjectivelyDown), 0);
    assert!(town.is_primary(0));
}

#[test]
fn a_clock_that_jumps_makes_a_sentinel_do_nothing_for_thirty_seconds() {
    // A replica whose link has been down for more than ten times this is not good enough any more.
    let mut town = TestCluster::of(1, 3, |settings| {
        settings.down_after = Duration::from_secs(5)
    });
    for index in 0..3 {
        town.jump(Sentinel(index), 60);
    }
    town.run(500);
    let killed = town.now();
    town.kill(Server(0));
    town.run(28_000);
    assert_eq!(town.count(Event::Tilt), 3);
    assert_eq!(town.count(Event::SubjectivelyDown), 0);
    town.run(25_000);
    assert_eq!(town.count(Event::TiltEnd), 3);
    assert!(town.first(Event::SwitchPrimary, killed).is_some());
}
