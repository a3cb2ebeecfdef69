//! Which replica may take the place of a primary in a cluster: one with the votes of more than half of all primaries.

use crate::server::cluster::{cluster, kill};
use crate::server::group::Group;

/// Five primaries with a replica each. The first has died, and all others know; no vote has been asked for.
fn before_the_election(seed: u64) -> Group {
    let mut group = cluster(5, 1, seed);
    kill(&mut group, 0);
    let mut passed = 0;
    let down = |group: &mut Group, server: usize| {
        let info = group.on(server, 1, "CLUSTER INFO");
        info.contains("cluster_state:fail")
    };
    while !(1..10).all(|server| down(&mut group, server)) {
        assert!(passed < 5_000, "the primary was not given up");
        group.pass(10);
        passed += 10;
    }
    group
}

/// Whether the replica of the first primary is the primary now.
fn has_won(group: &mut Group) -> bool {
    group.on(5, 1, "ROLE").starts_with("[master")
}

#[test]
fn a13_2_one_vote_too_few_is_no_majority_of_the_primaries() {
    for seed in 0..20 {
        let mut group = before_the_election(seed);
        // Of five primaries two are left that can hear the replica, which needs three.
        group.take_off_the_bus(&[3, 4]);
        group.pass(3_000);
        assert!(!has_won(&mut group), "seed {seed}: two votes of five");
        // It asks again as soon as it may.
        group.take_off_the_bus(&[]);
        group.pass(12_000);
        assert!(has_won(&mut group), "seed {seed}: four votes of five");
    }
}

#[test]
fn a13_2_three_votes_of_five_are_enough() {
    for seed in 0..20 {
        let mut group = before_the_election(seed);
        group.take_off_the_bus(&[4]);
        group.pass(3_000);
        assert!(has_won(&mut group), "seed {seed}");
    }
}

#[test]
fn a13_2_two_of_five_do_not_give_a_primary_up() {
    let mut group = cluster(5, 1, 0);
    // Two primaries are left that hear each other.
    group.take_off_the_bus(&[3, 4]);
    kill(&mut group, 0);
    group.pass(6_000);
    let info = group.on(1, 1, "CLUSTER INFO");
    assert!(!info.contains("cluster_slots_pfail:0"), "{info}");
    assert!(info.contains("cluster_slots_fail:0"), "{info}");
}

#[test]
fn a13_2_a_replica_that_has_less_asks_later() {
    for seed in 0..10 {
        let mut group = cluster(3, 2, seed);
        // The first replica of the last primary has lost its link, and is not heard: it misses what is written then.
        group.hold_links_of(5);
        group.cut_off(5);
        group.on(2, 1, "SET a 1");
        kill(&mut group, 2);
        group.pass(7_000);
        let role = group.on(8, 1, "ROLE");
        assert!(role.starts_with("[master"), "seed {seed}: {role}");
        assert_eq!(group.on(8, 1, "GET a"), "1", "seed {seed}");
    }
}
