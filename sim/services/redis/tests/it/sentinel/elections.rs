//! A12.2: which Sentinel does the failover, and when none does.

use picklock_redis::sentinel::Event;

use crate::sentinel::test_cluster::Machine::{Sentinel, Server};
use crate::sentinel::test_cluster::TestCluster;

#[test]
fn exactly_one_is_elected() {
    let mut town = TestCluster::of(2, 5, |_| {});
    town.kill(Server(0));
    town.run(20_000);
    assert_eq!(town.count(Event::ElectedLeader), 1);
    assert_eq!(town.count(Event::PromotedReplica), 1);
}

#[test]
fn a_quorum_without_a_majority_elects_no_leader() {
    // Two of five are left: enough to find it down, and not enough to do anything about it.
    let mut town = TestCluster::of(1, 5, |settings| settings.quorum = 2);
    for index in 2..5 {
        town.kill(Sentinel(index));
    }
    town.kill(Server(0));
    town.run(11_000);
    assert!(town.count(Event::ObjectivelyDown) >= 1);
    assert_eq!(town.count(Event::ElectedLeader), 0);
    assert!(town.count(Event::AbortNotElected) >= 1);
    assert!(!town.is_primary(1));
}

#[test]
fn an_attempt_that_failed_is_repeated_after_twice_the_failover_timeout() {
    let mut town = TestCluster::of(1, 5, |settings| settings.quorum = 2);
    for index in 2..5 {
        town.kill(Sentinel(index));
    }
    town.kill(Server(0));
    town.run(40_000);
    let times = town.times(Event::TryFailover);
    let between: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(between.len() >= 2);
    let fits = |between: &u64| (12_000..13_300).contains(between);
    assert!(between.iter().all(fits), "{between:?}");
}

#[test]
fn a_sentinel_that_restarts_votes_no_second_time_in_an_epoch() {
    let mut town = TestCluster::of(1, 3, |_| {});
    let ask = |id: &str| format!("SENTINEL IS-MASTER-DOWN-BY-ADDR server 1 7 {id}");
    let first = town.ask_sentinel(0, &ask("a"));
    let second = town.ask_sentinel(0, &ask("b"));
    assert_eq!(first, second);
    town.kill(Sentinel(0));
    town.restart(Sentinel(0));
    let third = town.ask_sentinel(0, &ask("c")).expect("an answer");
    // It has forgotten its vote, and knows that it has voted.
    assert_eq!(
        third.values().expect("three")[1].bytes(),
        Some(b"*".as_slice())
    );
}

/// Five Sentinels of which four must agree. Each has found the primary down by itself, and has not heard of the others.
/// So many of them have given their votes of the next epoch to a Sentinel that does not stand.
fn with_votes_given_away(given: usize) -> TestCluster {
    let mut town = TestCluster::of(1, 5, |settings| settings.quorum = 4);
    town.kill(Server(0));
    while town.count(Event::SubjectivelyDown) < 5 {
        town.run(1);
    }
    let ask = "SENTINEL IS-MASTER-DOWN-BY-ADDR server 1 1 absent";
    for sentinel in 5 - given..5 {
        town.ask_sentinel(sentinel, ask);
    }
    // Not long enough for a second attempt, which would be in another epoch.
    town.run(9_000);
    town
}

#[test]
fn one_vote_too_few_elects_no_leader() {
    // Three of five are a majority. The quorum is four, and the leader needs as many votes.
    let town = with_votes_given_away(2);
    assert!(town.count(Event::TryFailover) >= 1);
    assert_eq!(town.count(Event::ElectedLeader), 0);
    assert!(!town.is_primary(1));
}

#[test]
fn as_many_votes_as_the_quorum_elect_a_leader() {
    let town = with_votes_given_away(1);
    assert_eq!(town.count(Event::ElectedLeader), 1);
    assert!(town.is_primary(1));
}

#[test]
fn two_of_four_are_one_vote_too_few_for_a_majority() {
    // The quorum is two, and half of the Sentinels are no majority of them.
    let mut town = TestCluster::of(1, 4, |settings| settings.quorum = 2);
    town.kill(Sentinel(2));
    town.kill(Sentinel(3));
    town.kill(Server(0));
    town.run(11_000);
    assert!(town.count(Event::TryFailover) >= 1);
    assert_eq!(town.count(Event::ElectedLeader), 0);
    assert!(!town.is_primary(1));
}
