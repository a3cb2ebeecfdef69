//! What cannot be asked of several locks at once: each is answered with the place, and with what would be right.

use picklock_scenarios::{Catalogue, Diagnostic, parse};

const GOOD: &str = r#"[workload]
contenders = 3
locks = 3
locks-at-once = 2
lock-order = "in-turn"

[[contender]]
name = "contender-2"
locks = ["lock-c", "lock-a"]

[[case]]
algorithm = "zk-hardened"
"#;

const SLIPS: &[(&str, &str, &str)] = &[
    (
        "more_than_there_are",
        "locks-at-once = 2",
        "locks-at-once = 4",
    ),
    ("one_lock", "locks = 3\n", ""),
    (
        "more_than_some_seeds_draw",
        "locks = 3\n",
        "locks = \"1..3\"\n",
    ),
    ("none_at_all", "locks-at-once = 2", "locks-at-once = 0"),
    ("an_order_of_one", "locks-at-once = 2\n", ""),
    ("an_unknown_order", "in-turn", "by-nam"),
    ("a_list_of_one", "[\"lock-c\", \"lock-a\"]", "\"lock-b\""),
    (
        "a_lock_twice",
        "[\"lock-c\", \"lock-a\"]",
        "[\"lock-c\", \"lock-a\", \"lock-c\"]",
    ),
    (
        "entered_twice",
        "locks = 3\n",
        "locks = 3\nreentrancy-depth = 2\n",
    ),
    ("a_semaphore", "\"zk-hardened\"", "\"kazoo-semaphore\""),
    ("an_election", "\"zk-hardened\"", "\"zk-leader-election\""),
    ("a_barrier", "\"zk-hardened\"", "\"zk-double-barrier\""),
    ("another_service", "\"zk-hardened\"", "\"lease-lock\""),
];

/// What can be asked of a multi-lock, and what not.
const OF_ONE_CALL: &str = r#"[workload]
contenders = 3
locks = 3
locks-at-once = 2

[[case]]
algorithm = "curator-multi-lock"
"#;

const SLIPS_OF_ONE_CALL: &[(&str, &str, &str)] = &[
    ("a_multi_lock_of_one_name", "locks-at-once = 2\n", ""),
    (
        "a_multi_lock_of_one_lock",
        "locks = 3\nlocks-at-once = 2\n",
        "",
    ),
    (
        "a_multi_lock_of_one_name_by_some_seeds",
        "locks-at-once = 2",
        "locks-at-once = \"1..2\"",
    ),
    (
        "permits_of_a_multi_lock",
        "locks = 3\n",
        "locks = 3\npermits = 2\n",
    ),
    (
        "readers_of_a_multi_lock",
        "locks = 3\n",
        "locks = 3\nreads = \"50%\"\n",
    ),
    (
        "entries_of_a_multi_lock",
        "locks = 3\n",
        "locks = 3\nreentrancy-depth = 2\n",
    ),
    (
        "the_promise_of_multi_locks_of_a_mutex",
        "\"curator-multi-lock\"",
        "\"curator-mutex\"\nexpect.all-or-none = \"holds\"",
    ),
];

fn mistakes(text: &str) -> Vec<Diagnostic> {
    match parse("test", text, &Catalogue::EVERYTHING) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes,
    }
}

#[test]
fn what_the_slips_begin_with_is_right() {
    for good in [GOOD, OF_ONE_CALL] {
        let found = mistakes(good);
        assert!(found.is_empty(), "{}", found[0]);
    }
}

#[test]
fn every_slip_is_answered_with_its_place_and_what_would_be_right() {
    let slips = SLIPS.iter().map(|slip| (GOOD, slip));
    let of_one_call = SLIPS_OF_ONE_CALL.iter().map(|slip| (OF_ONE_CALL, slip));
    for (good, (name, right, wrong)) in slips.chain(of_one_call) {
        assert!(good.contains(right), "{name}");
        let found = mistakes(&good.replacen(right, wrong, 1));
        assert!(!found.is_empty(), "{name}");
        let said: Vec<String> = found.iter().map(Diagnostic::to_string).collect();
        insta::assert_snapshot!(*name, said.join("\n\n"));
    }
}
