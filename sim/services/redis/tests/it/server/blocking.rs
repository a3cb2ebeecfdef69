//! Commands that wait for keys.

use picklock_redis::ConnectionId;

use crate::server::bench::Bench;

#[test]
fn the_first_waiter_is_served_once_the_transaction_is_over() {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, "BLPOP a b 0"), "");
    assert_eq!(redis.on(2, "BLPOP b 0"), "");
    redis.on(3, "MULTI");
    redis.on(3, "RPUSH b x");
    redis.on(3, "RPUSH a y");
    assert_eq!(redis.on(3, "EXEC"), "[:1 :1]");
    // `b` was made first, and the first to wait for it has waited for `a`, too.
    assert_eq!(redis.read(ConnectionId(1)), "[b x]");
    assert_eq!(redis.read(ConnectionId(2)), "");
    assert_eq!(redis.on(3, "LRANGE a 0 -1"), "[y]");
    redis.on(3, "RPUSH b z");
    assert_eq!(redis.read(ConnectionId(2)), "[b z]");
}

#[test]
fn the_wait_ends_with_nothing_when_its_time_is_over_and_not_before() {
    let mut redis = Bench::new();
    redis.on(1, "BLPOP k 0.5");
    redis.on(1, "PING");
    redis.pass(499);
    assert_eq!(redis.read(ConnectionId(1)), "");
    redis.pass(2);
    assert_eq!(redis.read(ConnectionId(1)), "nil-array | +PONG");
    redis.on(2, "RPUSH k a");
    assert_eq!(redis.on(2, "LLEN k"), ":1");
}

#[test]
fn in_a_transaction_no_command_blocks() {
    let mut redis = Bench::new();
    redis.on(1, "MULTI");
    redis.on(1, "BLPOP k 0");
    redis.on(1, "BLMOVE k l LEFT LEFT 0");
    assert_eq!(redis.on(1, "EXEC"), "[nil-array nil]");
}

#[test]
fn a_client_that_is_gone_takes_nothing() {
    let mut redis = Bench::new();
    redis.on(1, "BLPOP k 0");
    let gone = picklock_redis::Input::Gone {
        connection: ConnectionId(1),
    };
    redis.input(gone);
    assert_eq!(redis.on(2, "RPUSH k a"), ":1");
    assert_eq!(redis.on(2, "LLEN k"), ":1");
}

#[test]
fn a_server_that_becomes_a_replica_ends_all_waits() {
    let mut redis = Bench::new();
    redis.on(1, "BLPOP k 0");
    redis.on(2, "REPLICAOF other 6379");
    assert_eq!(
        redis.read(ConnectionId(1)),
        "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?) | closed"
    );
}

#[test]
fn a_wait_can_be_ended_by_another_client() {
    let mut redis = Bench::new();
    let id = redis.on(1, "CLIENT ID");
    let id = id.trim_start_matches(':');
    redis.on(1, "BLPOP k 0");
    assert_eq!(redis.on(2, &format!("CLIENT UNBLOCK {id}")), ":1");
    assert_eq!(redis.read(ConnectionId(1)), "nil-array");
    redis.on(1, "BLPOP k 0");
    assert_eq!(redis.on(2, &format!("CLIENT UNBLOCK {id} ERROR")), ":1");
    assert_eq!(
        redis.read(ConnectionId(1)),
        "-UNBLOCKED client unblocked via CLIENT UNBLOCK"
    );
    assert_eq!(redis.on(2, &format!("CLIENT UNBLOCK {id}")), ":0");
}

#[test]
fn a_moved_element_wakes_the_client_that_waits_for_its_new_list() {
    let mut redis = Bench::new();
    redis.on(1, "BLMOVE a b LEFT RIGHT 0");
    redis.on(2, "BLPOP b 0");
    redis.on(3, "RPUSH a x");
    assert_eq!(redis.read(ConnectionId(1)), "x");
    assert_eq!(redis.read(ConnectionId(2)), "[b x]");
    assert_eq!(redis.on(3, "EXISTS a b"), ":0");
}
