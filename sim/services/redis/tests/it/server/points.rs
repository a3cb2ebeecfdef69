//! What a toy Redis gets wrong, point by point, as far as a server alone decides it. What Sentinels have a part in
//! stands among their tests: promotions (`failover.rs`), and the deposed primary (`deposed.rs`).

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Boring, Machine as _};
use picklock_redis::test_cluster::Machine;
use picklock_redis::{ConnectionId, Input, Output, ServerConfig};
use picklock_testkit::Cluster;

use crate::server::bench::{Bench, words};
use crate::server::group::{Group, settings};

#[test]
fn what_has_arrived_is_run_even_if_its_client_is_gone_by_then() {
    let mut redis = Bench::new();
    redis.on(1, "CLIENT PAUSE 100");
    redis.on(2, "SET k late");
    assert_eq!(redis.on(3, "GET k"), "");
    redis.pass(100);
    assert_eq!(redis.read(ConnectionId(3)), "late");
}

#[test]
fn an_answer_does_not_say_that_it_is_replicated() {
    let mut group = Group::of(1);
    group.hold_links_of(0);
    assert_eq!(group.on(0, 1, "SET k a"), "+OK");
    assert_eq!(group.on(1, 1, "GET k"), "nil");
}

#[test]
fn time_stands_still_in_a_transaction_and_in_a_script() {
    let mut redis = Bench::new();
    redis.on(1, "SET k a PX 5");
    redis.on(1, "MULTI");
    redis.on(1, "PTTL k");
    redis.on(1, "TIME");
    redis.on(1, "TIME");
    redis.on(1, "PTTL k");
    redis.pass_unseen(5);
    let answer = redis.on(1, "EXEC");
    let times: Vec<&str> = answer.split(['[', ']']).collect();
    assert!(
        answer.starts_with("[:0 ") && answer.ends_with(" :0]"),
        "{answer}"
    );
    assert_eq!(times[2], times[4]);
    let same = "local a = redis.call('time') for i = 1, 1000 do end local b = redis.call('time') \
                return a[1] == b[1] and a[2] == b[2]";
    assert_eq!(redis.eval(same), ":1");
}

#[test]
fn keys_expire_by_the_wall_clock_which_jumps_both_ways() {
    let mut redis = Bench::new();
    redis.on(1, "SET k a PX 10000");
    redis.now.wall_micros -= 60_000_000;
    assert_eq!(redis.on(1, "PTTL k"), ":70000");
    redis.now.wall_micros += 80_000_000;
    assert_eq!(redis.on(1, "GET k"), "nil");
}

#[test]
fn a_lease_is_measured_by_the_clock_of_a_promoted_replica() {
    let mut group = Group::of(1);
    group.jump(Machine::Server(1), Duration::from_secs(5));
    group.on(0, 1, "SET k a PX 10000");
    assert_eq!(group.on(0, 1, "PTTL k"), ":10000");
    assert_eq!(group.on(1, 1, "PTTL k"), ":5000");
    group.on(1, 1, "REPLICAOF NO ONE");
    assert_eq!(group.on(1, 1, "PTTL k"), ":5000");
}

#[test]
fn a_key_in_its_last_millisecond_is_readable_and_due_to_expire() {
    let mut redis = Bench::new();
    redis.on(1, "SET k a PX 100");
    redis.pass_unseen(100);
    assert_eq!(redis.on(1, "PTTL k"), ":0");
    let mut redis = Bench::new();
    redis.on(1, "SET k a PX 100");
    redis.pass(100);
    assert_eq!(redis.on(1, "PTTL k"), ":-2");
}

#[test]
fn a_replica_hides_what_has_expired_and_keeps_it_until_it_is_told() {
    let quiet = |number| ServerConfig {
        active_expiry: false,
        ..settings(number)
    };
    let mut group = Group::with(vec![quiet(0), quiet(1)]);
    group.on(0, 1, "SET k a PX 100");
    group.pass(200);
    assert_eq!(group.on(1, 1, "GET k"), "nil");
    assert_eq!(group.on(1, 1, "TTL k"), ":-2");
    assert_eq!(group.on(1, 1, "EXISTS k"), ":0");
    assert_eq!(group.on(1, 1, "DBSIZE"), ":1");
    assert_eq!(group.on(0, 1, "GET k"), "nil");
    assert_eq!(group.on(1, 1, "DBSIZE"), ":0");
}

#[test]
fn set_drops_the_time_to_live_and_changes_in_place_keep_it() {
    let mut redis = Bench::new();
    redis.on(1, "SET k 1 PX 1000");
    redis.on(1, "INCR k");
    assert_eq!(redis.on(1, "PTTL k"), ":1000");
    redis.on(1, "SET k 1");
    assert_eq!(redis.on(1, "PTTL k"), ":-1");
    redis.on(1, "HSET h a 1");
    redis.on(1, "PEXPIRE h 1000");
    redis.on(1, "HDEL h a");
    redis.on(1, "HSET h a 1");
    assert_eq!(redis.on(1, "PTTL h"), ":-1");
}

#[test]
fn a_condition_of_expire_is_about_what_is_really_later_or_sooner() {
    let mut redis = Bench::new();
    redis.on(1, "SET k v PX 1000");
    assert_eq!(redis.on(1, "PEXPIRE k 1000 GT"), ":0");
    assert_eq!(redis.on(1, "PEXPIRE k 1000 LT"), ":0");
    assert_eq!(redis.on(1, "PEXPIRE k 1001 GT"), ":1");
    assert_eq!(redis.on(1, "PEXPIRE k 1000 LT"), ":1");
}

#[test]
fn no_time_to_live_is_an_error_for_set_and_a_deletion_for_pexpire() {
    let mut redis = Bench::new();
    assert_eq!(
        redis.on(1, "SET k a PX 0"),
        "-ERR invalid expire time in 'set' command"
    );
    redis.on(1, "SET k a");
    assert_eq!(redis.on(1, "PEXPIRE k 0"), ":1");
    assert_eq!(redis.on(1, "EXISTS k"), ":0");
}

#[test]
fn set_nx_gives_way_to_anything_and_set_overwrites_anything() {
    let mut redis = Bench::new();
    redis.on(1, "HSET k a 1");
    assert_eq!(redis.on(1, "SET k b NX"), "nil");
    assert_eq!(redis.on(1, "SET k b"), "+OK");
    assert!(redis.on(1, "HGET k a").starts_with("-WRONGTYPE"));
}

#[test]
fn permission_to_write_is_asked_at_the_first_write_of_a_script() {
    let mut group = Group::of(1);
    let script = "redis.call('get', 'k') local r = redis.pcall('set', 'k', 1) return r.err";
    let told = group.send(1, 1, vec!["EVAL", script, "0"]);
    assert_eq!(
        told,
        "READONLY You can't write against a read only replica."
    );
}

#[test]
fn effects_are_replicated_with_absolute_times_and_as_one() {
    let mut group = Group::of(1);
    let streamed = |group: &mut Group, line: Vec<&str>| {
        let command = picklock_clients::redis::Command::of(line).expect("a command");
        let input = Input::Received {
            connection: ConnectionId(1),
            command,
        };
        let (now, mut out) = (group.clock(Machine::Server(0)), Vec::new());
        let server = group.server_mut(0);
        server.handle(now, input, &mut Boring, &mut out);
        let parts = out.into_iter().filter_map(|output| match output {
            Output::ToPeer {
                message: picklock_redis::PeerMessage::Stream(part),
                ..
            } => Some(part),
            _ => None,
        });
        let commands: Vec<String> = parts
            .flat_map(|part| part.commands.clone())
            .map(|command| command.to_string())
            .collect();
        commands.join("; ")
    };
    let wall = group.clock(Machine::Server(0)).wall_micros / 1_000;
    streamed(&mut group, words_of("SET other a"));
    let at = wall + 1_000;
    assert_eq!(
        streamed(&mut group, words_of("SET k a NX EX 1")),
        format!("SET k a PXAT {at}")
    );
    assert_eq!(streamed(&mut group, words_of("SET k b NX")), "");
    assert_eq!(
        streamed(&mut group, words_of("PEXPIRE k 1000")),
        format!("PEXPIREAT k {at}")
    );
    assert_eq!(streamed(&mut group, words_of("GETSET k c")), "SET k c");
    assert_eq!(streamed(&mut group, words_of("EXPIRE k -1")), "DEL k");
    let script = "redis.call('get', 'k') redis.call('incr', 'n') redis.call('publish', 'c', 'm')";
    assert_eq!(
        streamed(&mut group, vec!["EVAL", script, "0"]),
        "MULTI; incr n; publish c m; EXEC"
    );
    assert_eq!(
        streamed(
            &mut group,
            vec!["EVAL", "redis.call('incr', 'n') error('x')", "0"]
        ),
        "incr n"
    );
    assert_eq!(
        streamed(
            &mut group,
            vec!["EVAL", "return redis.call('get', 'n')", "0"]
        ),
        ""
    );
    streamed(&mut group, words_of("SET e a PX 1"));
    group
        .network_mut()
        .skip_to(VirtualTime::from_micros(1_005_000));
    assert_eq!(
        streamed(&mut group, words_of("SET e b NX")),
        "MULTI; DEL e; SET e b NX; EXEC"
    );
}

fn words_of(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn watching_sees_equal_values_and_expiry_and_not_the_end_of_what_had_expired() {
    let mut redis = Bench::new();
    let transaction = |redis: &mut Bench| {
        redis.on(1, "MULTI");
        redis.on(1, "PING");
        redis.on(1, "EXEC")
    };
    redis.on(1, "SET k a");
    redis.on(1, "WATCH k");
    redis.on(2, "SET k a");
    assert_eq!(transaction(&mut redis), "nil-array");
    redis.on(1, "SET k a PX 10");
    redis.on(1, "WATCH k");
    redis.pass_unseen(20);
    assert_eq!(transaction(&mut redis), "nil-array");
    redis.on(1, "SET k a PX 10");
    redis.pass_unseen(20);
    redis.on(1, "WATCH k");
    redis.on(2, "GET k");
    assert_eq!(transaction(&mut redis), "[+PONG]");
    let old = ServerConfig {
        watch_sees_expiry: false,
        ..ServerConfig::default()
    };
    let mut redis = Bench::with(old);
    redis.on(1, "SET k a PX 10");
    redis.on(1, "WATCH k");
    redis.pass_unseen(20);
    assert_eq!(transaction(&mut redis), "[+PONG]");
}

#[test]
fn exec_goes_on_after_an_error_and_abort_is_not_refusal() {
    let mut redis = Bench::new();
    for line in ["SET k a", "MULTI", "INCR k", "SET k b"] {
        redis.on(1, line);
    }
    assert_eq!(
        redis.on(1, "EXEC"),
        "[-ERR value is not an integer or out of range +OK]"
    );
    redis.on(1, "MULTI");
    redis.on(1, "NOPE");
    assert!(redis.on(1, "EXEC").starts_with("-EXECABORT"));
}

#[test]
fn messages_reach_present_subscribers_and_not_later_ones() {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, "SUBSCRIBE c"), ">[subscribe c :1]");
    assert!(redis.on(1, "GET k").starts_with("-ERR Can't execute 'get'"));
    assert_eq!(redis.send(2, words("PUBLISH c one")), ":1");
    assert_eq!(redis.read(ConnectionId(1)), ">[message c one]");
    let gone = Input::Gone {
        connection: ConnectionId(1),
    };
    redis.input(gone);
    assert_eq!(redis.on(2, "PUBLISH c two"), ":0");
    redis.on(1, "SUBSCRIBE c");
    assert_eq!(redis.read(ConnectionId(1)), "");
}

#[test]
fn wait_on_a_connection_that_has_written_nothing_waits_for_nothing() {
    let mut group = Group::of(2);
    group.hold_links_of(0);
    group.on(0, 1, "SET k a");
    assert_eq!(group.on(0, 2, "WAIT 2 0"), ":2");
    assert_eq!(group.on(0, 1, "WAIT 1 100"), "");
    group.pass(100);
    assert_eq!(group.read(0, 1), ":0");
    group.on(0, 3, "MULTI");
    group.on(0, 3, "SET k b");
    group.on(0, 3, "WAIT 1 0");
    assert_eq!(group.on(0, 3, "EXEC"), "[+OK :0]");
    assert!(
        group
            .on(1, 1, "WAIT 1 0")
            .starts_with("-ERR WAIT cannot be used with replica")
    );
}

#[test]
fn a_counter_goes_backwards_when_its_server_is_deposed() {
    let mut group = Group::of(1);
    group.on(0, 1, "INCR token");
    group.hold_links_of(0);
    assert_eq!(group.on(0, 1, "INCR token"), ":2");
    group.on(1, 1, "REPLICAOF NO ONE");
    group.on(0, 1, "REPLICAOF server 1");
    group.release();
    group.pass(2_000);
    assert_eq!(group.on(1, 1, "INCR token"), ":2");
    assert_eq!(group.on(0, 1, "GET token"), "2");
}

#[test]
fn enough_replicas_lately_bound_what_a_failover_takes_and_do_not_prevent_it() {
    let primary = ServerConfig {
        min_replicas_to_write: 1,
        ..settings(0)
    };
    let mut group = Group::with(vec![primary, settings(1)]);
    assert_eq!(group.on(0, 1, "SET known 1"), "+OK");
    // From now on the replica hears nothing, and is not heard.
    group.hold_links_of(0);
    group.hold_links_of(1);
    group.pass(9_000);
    assert_eq!(
        group.on(0, 1, "SET lock mine"),
        "+OK",
        "it was there lately"
    );
    // It is counted once a second, and whole seconds count.
    group.pass(3_000);
    let refused = "-NOREPLICAS Not enough good replicas to write.";
    assert_eq!(group.on(0, 1, "SET late mine"), refused);
    group.on(1, 1, "REPLICAOF NO ONE");
    assert_eq!(group.on(1, 1, "GET known"), "1");
    assert_eq!(group.on(1, 1, "SET lock another NX"), "+OK");
}
