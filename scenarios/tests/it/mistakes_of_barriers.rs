//! What cannot be asked of a barrier, and its promise where it says nothing: each is answered with the place, and with
//! what would be right.

use crate::common::slips;

use picklock_scenarios::{Catalogue, parse};
use slips::{Slip, refused, said};

const GOOD: &str = r#"[workload]
contenders = 3
rounds = 2
locks = 2
hold = "1s"

[[contender]]
name = "contender-2"
hold = "2s"

[[fault]]
when.acquired = { by = "contender-1" }
inject.cut = { target = "contender-1" }

[[case]]
algorithm = "zk-double-barrier"
"#;

const SLIPS: &[Slip] = &[
    ("a_count_of_none", "rounds = 2", "count = 2"),
    (
        "a_latch_without_count",
        GOOD,
        "[[case]]\nalgorithm = \"redisson-count-down-latch\"\n",
    ),
    (
        "a_latch_of_all",
        GOOD,
        "[workload]\ncontenders = 3\ncount = 3\n[[case]]\nalgorithm = \"redisson-count-down-latch\"\n",
    ),
    (
        "a_latch_used_twice",
        GOOD,
        "[workload]\ncount = 2\nrounds = 2\n[[case]]\nalgorithm = \"redisson-count-down-latch\"\n",
    ),
    (
        "behind_a_holder",
        "rounds = 2",
        "arrive = \"behind-holder\"",
    ),
    ("who_gives_up", "rounds = 2", "acquire-timeout = \"5s\""),
    ("overtaken", "rounds = 2", "bypass-bound = 2"),
    ("entered_twice", "rounds = 2", "reentrancy-depth = 2"),
    (
        "more_rounds_of_one",
        "hold = \"2s\"",
        "rounds = 3\nacquire-timeout = \"5s\"",
    ),
    (
        "another_barrier_of_one",
        "hold = \"2s\"",
        "locks = \"lock-b\"",
    ),
    (
        "more_rounds_of_any",
        "name = \"contender-2\"\nhold = \"2s\"",
        "name = \"any\"\nrounds = \"2..3\"",
    ),
    ("readers", "rounds = 2", "reads = \"50%\""),
    (
        "a_dropped_call",
        "inject.cut = { target = \"contender-1\" }",
        "inject.cancel = { target = \"contender-1\" }",
    ),
    (
        "a_barrier_set_again_inside",
        GOOD,
        r#"[workload]
contenders = 3
reentrancy-depth = 2
bypass-bound = 1

[[fault]]
when.acquired = { by = "contender-1" }
inject.cancel = { target = "contender-1" }

[[case]]
algorithm = "zk-barrier"
"#,
    ),
    (
        "a_promise_of_locks",
        "\"zk-double-barrier\"\n",
        "\"zk-double-barrier\"\nexpect.mutual-exclusion = \"holds\"\n",
    ),
    (
        "the_promise_of_barriers_of_a_mutex",
        "\"zk-double-barrier\"\n",
        "\"zk-hardened\"\nexpect.barrier = \"holds\"\n",
    ),
    (
        "a_fenced_resource",
        "\"zk-double-barrier\"\n",
        "\"zk-double-barrier\"\nresource = \"fenced\"\n",
    ),
];

#[test]
fn what_the_slips_begin_with_is_right() {
    assert_eq!(said(GOOD), "");
}

#[test]
fn every_slip_is_answered_with_its_place_and_what_would_be_right() {
    for (name, said) in refused(GOOD, SLIPS) {
        insta::assert_snapshot!(name, said);
    }
}

#[test]
fn a_barrier_is_looked_at_for_what_says_something_of_it_and_nothing_else() {
    let scenario = parse("test", GOOD, &Catalogue::EVERYTHING).expect("it is right");
    let looked_at = scenario.cases[0].expectations.iter();
    let looked_at: Vec<&str> = looked_at.map(|row| row.invariant).collect();
    assert_eq!(looked_at, ["progress", "barrier"]);
}
