//! What cannot strike again, contenders that do not differ, and locks that no contender takes: each is answered with
//! the place, and with what would be right.

use crate::common::slips;

use slips::{Slip, refused, said};

const GOOD: &str = r#"[workload]
contenders = 3

[[contender]]
name = "contender-2"
hold = "1s"

[[fault]]
when.acquired = { by = "contender-1" }
times = 3
every = "30s"
inject.pause = { target = "contender-1", for = "20s" }

[[case]]
algorithm = "zk-predecessor-watch"
"#;

const SLIPS: &[Slip] = &[
    (
        "bypasses_without_a_bound",
        "\"zk-predecessor-watch\"\n",
        "\"zk-predecessor-watch\"\nexpect.bounded-bypass = \"holds\"\n",
    ),
    (
        "reentrancy_without_reentry",
        "\"zk-predecessor-watch\"\n",
        "\"zk-predecessor-watch\"\nexpect.reentrancy = \"holds\"\n",
    ),
    (
        "try_lock_of_a_recipe_without_one",
        "hold = \"1s\"",
        "acquire-timeout = \"0s\"",
    ),
    (
        "try_lock_of_any_contender",
        "name = \"contender-2\"\nhold = \"1s\"",
        "name = \"any\"\nacquire-timeout = \"0s..5s\"",
    ),
    (
        "conversion_of_a_mutex",
        "hold = \"1s\"",
        "conversion = \"downgrade\"",
    ),
    (
        "conversion_of_a_name",
        "hold = \"1s\"",
        "conversion = \"down\"",
    ),
    ("again_for_good", ", for = \"20s\"", ""),
    ("again_how_often", "times = 3\n", ""),
    (
        "again_before_it_is_over",
        "every = \"30s\"",
        "every = \"5s\"",
    ),
    (
        "again_at_a_time",
        "when.acquired = { by = \"contender-1\" }\ntimes = 3\nevery = \"30s\"",
        "when.at = \"1s\"\ntimes = 3",
    ),
    ("again_but_once", "times = 3", "times = 1"),
    (
        "revoke_of_a_lock_that_is_not_revocable",
        "times = 3\nevery = \"30s\"\ninject.pause = { target = \"contender-1\", for = \"20s\" }",
        "inject.revoke = { of = \"contender-1\" }",
    ),
    (
        "again_at_a_message",
        "inject.pause = { target = \"contender-1\", for = \"20s\" }",
        "inject.lose-reply = { target = \"contender-1\" }",
    ),
    ("contender_without_a_difference", "hold = \"1s\"\n", ""),
    ("contender_without_a_name", "name = \"contender-2\"\n", ""),
    (
        "contender_twice",
        "\"contender-2\"",
        "[\"contender-2\", \"contender-2\"]",
    ),
    (
        "contender_that_is_not_there",
        "\"contender-2\"",
        "\"contender-4\"",
    ),
    ("contender_with_a_range", "\"1s\"", "\"1s..2s\""),
    (
        "contender_whose_clock_is_too_fine",
        "hold = \"1s\"",
        "clock-offset = \"1us\"",
    ),
    (
        "library_misspelt",
        "[workload]\n",
        "[service.redis]\nclient = \"letuce\"\n\n[workload]\n",
    ),
    (
        "library_of_redis",
        "[workload]\n",
        "[service.zookeeper]\nclient = \"lettuce\"\n\n[workload]\n",
    ),
    (
        "read_only_of_drawn_others",
        "[workload]\n",
        "[service.zookeeper]\nclient = [\"java\", \"go\"]\nread-only = true\n\n[workload]\n",
    ),
    (
        "library_of_zookeeper",
        "[workload]\n",
        "[service.redis]\nclient = \"go\"\n\n[workload]\n",
    ),
    (
        "library_with_a_setting",
        "[workload]\n",
        "[service.redis]\nclient = { jedis = 4 }\n\n[workload]\n",
    ),
    (
        "library_of_a_cluster",
        "[workload]\n",
        "[service.redis]\ncluster = { primaries = 3 }\nclient = \"jedis\"\n\n[workload]\n",
    ),
    (
        "replay_in_a_cluster",
        "[workload]\n",
        "[service.redis]\ncluster = { primaries = 3 }\nreplay = true\n\n[workload]\n",
    ),
    (
        "replay_with_retries",
        "[workload]\n",
        "[service.redis]\nclient = \"lettuce\"\nretries = 3\n\n[workload]\n",
    ),
    (
        "longest_pause_shorter_than_the_first",
        "[workload]\n",
        "[service.redis]\nclient = \"go-redis\"\nretry-pause = \"1s\"\n\n[workload]\n",
    ),
    (
        "locks_that_no_contender_takes",
        "contenders = 3\n",
        "contenders = 3\nlocks = 4\n",
    ),
    (
        "locks_too_many",
        "contenders = 3\n",
        "contenders = 30\nlocks = 27\n",
    ),
    (
        "locks_of_the_lease_server",
        "[workload]\n",
        "[service.lease-server]\nlease = \"10s\"\n\n[workload]\nlocks = 2\n",
    ),
    (
        "lock_that_is_not_there",
        "hold = \"1s\"",
        "locks = [\"lock-a\", \"lock-b\"]",
    ),
    (
        "reads_of_a_mutex",
        "contenders = 3\n",
        "contenders = 3\nreads = \"50%\"\n",
    ),
    (
        "reads_of_an_election",
        "\"zk-predecessor-watch\"\n",
        "\"zk-leader-election\"\n\n[[contender]]\nname = \"contender-3\"\nreads = \"always\"\n",
    ),
    ("reader_of_a_mutex", "hold = \"1s\"", "reads = \"always\""),
    (
        "reads_of_a_lock_on_redis",
        "[workload]\ncontenders = 3\n",
        "[service.redis]\n\n[workload]\ncontenders = 3\nreads = \"always\"\n",
    ),
    (
        "reads_by_a_word",
        "contenders = 3\n",
        "contenders = 3\nreads = \"sometimes\"\n",
    ),
    (
        "reads_of_a_semaphore",
        "contenders = 3\n\n[[contender]]\nname = \"contender-2\"\nhold = \"1s\"\n",
        "contenders = 3\npermits = 2\nreads = \"50%\"\n\n[[case]]\nalgorithm = \"kazoo-semaphore\"\n",
    ),
    (
        "permits_of_a_mutex",
        "contenders = 3\n",
        "contenders = 3\npermits = 2\n",
    ),
    (
        "permits_of_a_read_write_lock",
        "contenders = 3\n\n[[contender]]\nname = \"contender-2\"\nhold = \"1s\"\n",
        "contenders = 3\npermits = 2\n\n[[case]]\nalgorithm = \"zk-shared-locks\"\n",
    ),
    (
        "no_permits",
        "contenders = 3\n",
        "contenders = 3\npermits = 0\n",
    ),
    (
        "several_permits_of_a_semaphore_that_takes_one",
        "contenders = 3\n\n[[contender]]\nname = \"contender-2\"\nhold = \"1s\"\n",
        "contenders = 3\npermits = 2\npermits-per-acquire = 2\n\n[[case]]\nalgorithm = \"kazoo-semaphore\"\n",
    ),
    (
        "several_permits_of_a_mutex",
        "hold = \"1s\"",
        "permits-per-acquire = 2",
    ),
    (
        "reaper_of_a_recipe_without_one",
        "hold = \"1s\"",
        "reaper-interval = \"1s\"",
    ),
    (
        "restored_lock_of_a_recipe_without_owners",
        "hold = \"1s\"",
        "releases-for-others = true",
    ),
    (
        "more_permits_by_one_call_than_there_are",
        "contenders = 3\n\n[[contender]]\nname = \"contender-2\"\nhold = \"1s\"\n",
        "contenders = 3\npermits = \"2..9\"\npermits-per-acquire = 3\n\n[[case]]\nalgorithm = \"curator-semaphore\"\n",
    ),
    (
        "semaphore_without_permits",
        "[[case]]\n",
        "[[case]]\nalgorithm = \"curator-semaphore\"\n\n[[case]]\n",
    ),
    (
        "tasks_that_do_not_divide",
        "contenders = 3\n",
        "contenders = 3\ntasks-per-process = 2\n",
    ),
    (
        "share_without_tasks",
        "contenders = 3\n",
        "contenders = 3\nshare = \"session\"\n",
    ),
    (
        "share_misspelt",
        "contenders = 3\n",
        "contenders = 3\ntasks-per-process = 3\nshare = \"sesion\"\n",
    ),
    (
        "share_of_a_connection_of_zookeeper",
        "contenders = 3\n",
        "contenders = 3\ntasks-per-process = 3\nshare = \"connection\"\n",
    ),
    (
        "share_of_a_session_of_redis",
        "[workload]\ncontenders = 3\n",
        "[service.redis]\nlease = \"10s\"\n\n\
         [workload]\ncontenders = 3\ntasks-per-process = 3\nshare = \"session\"\n",
    ),
    (
        "share_at_the_lease_server",
        "[workload]\ncontenders = 3\n",
        "[service.lease-server]\nlease = \"10s\"\n\n\
         [workload]\ncontenders = 3\ntasks-per-process = 3\nshare = \"lock\"\n",
    ),
    (
        "session_of_the_lease_server",
        "[workload]\ncontenders = 3\n",
        "[service.lease-server]\nlease = \"10s\"\n\n\
         [[fault]]\nwhen.session-expired = { by = \"contender-1\" }\ninject.cut = { target = \"contender-1\" }\n\n\
         [workload]\ncontenders = 3\n",
    ),
    (
        "share_of_a_lock_object_that_cannot_be",
        "contenders = 3\n",
        "contenders = 3\ntasks-per-process = 3\nshare = \"lock\"\n",
    ),
    (
        "tasks_of_one_process_far_apart",
        "contenders = 3\n\n[[contender]]\nname = \"contender-2\"\nhold = \"1s\"\n",
        "contenders = 3\ntasks-per-process = 3\n\n[[contender]]\nname = \"contender-2\"\nlatency = \"1ms\"\n\n\
         [[contender]]\nname = \"contender-3\"\nlatency = \"2ms\"\n",
    ),
    (
        "tasks_of_one_process_by_two_clocks",
        "contenders = 3\n\n[[contender]]\nname = \"contender-2\"\nhold = \"1s\"\n",
        "contenders = 3\ntasks-per-process = 3\n\n[[contender]]\nname = \"contender-2\"\nclock-offset = \"1s\"\n\n\
         [[contender]]\nname = \"contender-3\"\nclock-offset = \"-1s\"\n",
    ),
    (
        "tasks_of_one_process_in_two_regions",
        "[workload]\ncontenders = 3\n",
        "[network.regions]\nus = [\"contender-1\"]\neu = [\"contender-2\"]\n\n[network.between]\nus.eu = \"20ms\"\n\n\
         [workload]\ncontenders = 3\ntasks-per-process = 3\n",
    ),
    ("lock_by_its_letter", "hold = \"1s\"", "locks = \"a\""),
    ("contender_of_no_lock", "hold = \"1s\"", "locks = []"),
    (
        "lock_of_a_contender_that_is_drawn",
        "name = \"contender-2\"\nhold = \"1s\"",
        "name = \"any\"\nhold = \"1s..2s\"\nlocks = \"lock-a\"",
    ),
    (
        "lock_where_how_many_there_are_is_drawn",
        "contenders = 3\n\n[[contender]]\nname = \"contender-2\"\nhold = \"1s\"",
        "contenders = 3\nlocks = \"1..2\"\n\n[[contender]]\nname = \"contender-2\"\nlocks = \"lock-b\"",
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
fn a_choice_of_nothing_is_refused_at_its_place() {
    let inject = "inject.pause = { target = \"contender-1\", for = \"20s\" }";
    let when = "when.acquired = { by = \"contender-1\" }";
    let workload = "[workload]\n";
    for (from, to, line) in [
        (inject, "inject = {}".to_owned(), 12),
        (when, "when = {}".to_owned(), 9),
        (workload, format!("{workload}arrive = {{}}\n"), 2),
        (workload, format!("{workload}section = {{}}\n"), 2),
    ] {
        let text = GOOD.replacen(from, &to, 1);
        assert_ne!(text, GOOD);
        let mistakes = said(&text);
        assert!(mistakes.contains(&format!(":{line}:")), "{mistakes}");
        assert!(mistakes.contains("there is no "), "{mistakes}");
    }
}
