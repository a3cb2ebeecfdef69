//! `picklock replay --trace`.

use crate::program::common::picklock;

fn trace(arguments: &[&str]) -> String {
    let run = [
        "replay",
        "redis/redlock-half",
        "--case",
        "redlock",
        "--seed",
        "0",
        "--trace",
    ];
    let output = picklock(&[&run, arguments].concat());
    let text = output.stdout;
    let begins = text.find("Trace: ").expect("there is a trace");
    text[begins..].to_owned()
}

#[test]
fn a_redlock_minority_is_understood_from_the_trace_alone() {
    let text = trace(&["--of", "contender-1"]);
    let answers = |server: u32, text: &str| {
        let ends = format!("server-{server} to contender-1");
        text.lines()
            .any(|line| line.contains(&ends) && line.contains("received  status OK"))
    };
    let granted: Vec<u32> = (1..=5).filter(|server| answers(*server, &text)).collect();
    assert!(!granted.is_empty(), "{text}");
    assert!(text.contains("contender-1 to server-1"), "{text}");
    assert!(text.contains("sent      SET lock:a "), "{text}");
    assert!(!text.contains("contender-2 to server"), "{text}");
}

#[test]
fn a_trace_can_be_cut_to_a_time() {
    let text = trace(&["--between", "0s..10ms"]);
    let seconds = text.lines().skip(1).map(|line| {
        let at = line.split_whitespace().next().unwrap_or_default();
        at.parse::<f64>().expect("each line begins with its time")
    });
    let seconds: Vec<f64> = seconds.collect();
    assert!(!seconds.is_empty());
    assert!(seconds.iter().all(|at| *at <= 0.01), "{text}");
}

/// The lost wake-up: the client is never told what happened while it was away.
#[test]
fn a_lost_wake_up_is_understood_from_the_trace_alone() {
    let run = [
        "replay",
        "zookeeper/missed-while-away",
        "--case",
        "zk-recursive-watch-trusting",
        "--seed",
        "0",
        "--trace",
        "--of",
        "contender-3",
    ];
    let text = picklock(&run).stdout;
    let begins = text.find("Trace: ").expect("there is a trace");
    let lines: Vec<&str> = text[begins..].lines().collect();
    let mut rest = lines.iter();
    // Each of these comes after the one before it.
    for expected in [
        "contender-3 to server-3    received  #1 add-watch(/locks/a, recursive)",
        "* server-3 sends NodeDeleted /locks/a/",
        "server-3 to contender-3    received  event NodeDeleted /locks/a/",
        "· fault 1: cut contender-3",
        "contender-3 to server-3    closed    the connection is gone",
        "· contender-2 loses place 1",
        "contender-3 to server-1    received  set-watches since 0x100000007: recursive [/locks/a]",
        "server-1 to contender-3    received  watches set",
        "· contender-3 still waits at the end",
    ] {
        assert!(
            rest.any(|line| line.contains(expected)),
            "{expected}\n{text}"
        );
    }
    // The client is never told that the node is deleted again.
    let told = |line: &&&str| line.contains("event NodeDeleted") && line.contains("received");
    assert_eq!(lines.iter().filter(told).count(), 1, "{text}");
}

#[test]
fn a_script_has_a_short_name_and_its_text_once() {
    let run = [
        "redis/lost-message",
        "--case",
        "redisson-lock",
        "--seed",
        "0",
    ];
    let text = picklock(&[&["replay"], &run[..], &["--trace"]].concat()).stdout;
    let begins = text.find("Trace: ").expect("there is a trace");
    let lines: Vec<&str> = text[begins..].lines().collect();
    let with = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
    assert_eq!(
        with("* script aa9612c6: if redis.call('EXISTS', KEYS[1])"),
        1,
        "{text}"
    );
    assert!(
        with("EVALSHA aa9612c6 (EXISTS, HEXISTS, HINCRBY, …) 1 lock:a ") > 1,
        "{text}"
    );
    assert!(
        with("EVAL aa9612c6 (EXISTS, HEXISTS, HINCRBY, …) 1 lock:a ") > 1,
        "{text}"
    );
    assert_eq!(with("\\'"), 0, "{text}");
}

#[test]
fn connections_packets_and_links_are_in_a_trace() {
    let has = |scenario: &str, case: &str, line: &str| {
        let run = ["replay", scenario, "--case", case, "--seed", "0", "--trace"];
        let text = picklock(&run).stdout;
        let begins = text.find("Trace: ").expect("there is a trace");
        assert!(text[begins..].contains(line), "{line}\n{text}");
    };
    let redis = "redis-compare-and-delete";
    has(
        "redis/restart-loading",
        redis,
        "contender-1 to server-1    opened    the connection",
    );
    has(
        "redis/restart-loading",
        redis,
        "server-1 to contender-2    refused   no process listens",
    );
    has(
        "redis/packet-loss",
        redis,
        "server-1 to contender-1    dropped   a packet; TCP gets it out at ",
    );
    let flaps = "contender-1 to every server down      nothing gets through either way until ";
    has("zookeeper/flapping-link", "zk-hardened", flaps);
    has(
        "zookeeper/flapping-link",
        "zk-hardened",
        "contender-1 to server-1    opened    the connection",
    );
}

#[test]
fn names_without_part_and_times_after_the_end_have_no_trace() {
    let refused = |arguments: &[&str]| {
        let run = [
            "replay",
            "redis/lost-message",
            "--case",
            "redisson-lock",
            "--seed",
            "0",
            "--trace",
        ];
        let done = picklock(&[&run, arguments].concat());
        assert_eq!(done.code, Some(2), "{done:?}");
        done.stderr
    };
    let text = refused(&["--of", "contender-9"]);
    assert!(
        text.contains("there is no contender or server `contender-9`"),
        "{text}"
    );
    assert!(
        text.contains("there is: `contender-1`, `contender-2`, `operator`, `server-1`"),
        "{text}"
    );
    let text = refused(&["--between", "5m..6m"]);
    assert!(text.contains("nothing happens after 5m"), "{text}");
    assert!(text.contains("the run ends at "), "{text}");
}

#[test]
fn a_minority_of_redlock_is_seen_key_by_key() {
    let text = trace(&["--of", "contender-1", "--between", "0s..1s"]);
    for expected in [
        "fault 1: partition server-1, server-2 and contender-1 from all others for 20s",
        "* server-1 has the key of contender-1: it is on server-1 alone",
        "* server-2 has the key of contender-1: it is on server-1 and server-2 of 4 servers",
        "* the key of contender-1 is deleted by contender-1 on server-2, and is nowhere any more",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("of contender-2:"), "{text}");
}

#[test]
fn servers_are_heard_if_that_is_asked_for() {
    let of_leader = |arguments: &[&str]| {
        let run = [
            "replay",
            "zookeeper/missed-while-away",
            "--case",
            "zk-recursive-watch-trusting",
            "--seed",
            "0",
            "--trace",
            "--of",
            "server-2",
            "--between",
            "4s..4100ms",
        ];
        let text = picklock(&[&run, arguments].concat()).stdout;
        let begins = text.find("Trace: ").expect("there is a trace");
        text[begins..].to_owned()
    };
    let proposal = "server-3 to server-2       received  PROPOSAL 0x10000000a delete /locks/a/";
    let with = of_leader(&["--servers"]);
    assert!(with.contains(proposal), "{with}");
    assert!(
        with.contains("server-2 to server-3       sent      ACK 0x10000000a"),
        "{with}"
    );
    assert!(!with.contains("server-3 to server-1"), "{with}");
    assert!(!with.contains("PING"), "{with}");
    assert!(!of_leader(&[]).contains("PROPOSAL"));
}

#[test]
fn messages_of_a_process_with_several_tasks_bear_its_name_and_are_found_by_that_of_each_task() {
    let of = |name: &str| {
        let run = [
            "replay",
            "zookeeper/shared-session",
            "--case",
            "zk-same-name",
            "--seed",
            "0",
            "--trace",
            "--of",
            name,
        ];
        let text = picklock(&run).stdout;
        let messages = text.lines().filter(|line| line.contains("to server-"));
        messages.map(str::to_owned).collect::<Vec<_>>()
    };
    let messages = of("contender-3");
    assert!(!messages.is_empty());
    for line in &messages {
        assert!(line.contains("  process-2 to server-"), "{line}");
    }
    assert_eq!(messages, of("contender-4"));
    assert_eq!(messages, of("process-2"));
}
