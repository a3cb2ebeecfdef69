//! Scripts that take their time.

use std::time::Duration;

use picklock_redis::{ConnectionId, Input, ServerConfig};

use crate::server::bench::Bench;

const BUSY: &str =
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

fn endless() -> Bench {
    Bench::with(ServerConfig {
        script_budget: 100_000,
        ..ServerConfig::default()
    })
}

fn slow(redis: &mut Bench, millis: u64) {
    let lasts = Duration::from_millis(millis);
    redis.input(Input::SlowScript { lasts });
}

#[test]
fn others_wait_at_first_then_they_are_told_and_at_last_they_are_served() {
    let mut redis = Bench::new();
    slow(&mut redis, 8_000);
    assert_eq!(redis.on(1, "SET k a"), "");
    redis.pass(4_999);
    assert_eq!(redis.on(2, "GET k"), "");
    redis.pass(1);
    assert_eq!(redis.read(ConnectionId(1)), BUSY);
    assert_eq!(redis.read(ConnectionId(2)), BUSY);
    assert_eq!(redis.on(1, "PING"), BUSY);
    redis.pass(3_000);
    assert_eq!(redis.on(1, "GET k"), "nil");
}

#[test]
fn a_script_that_ends_in_time_only_holds_the_others_up() {
    let mut redis = Bench::new();
    slow(&mut redis, 3_000);
    assert_eq!(redis.on(1, "SET k a"), "");
    redis.pass(3_000);
    assert_eq!(redis.read(ConnectionId(1)), "+OK");
}

#[test]
fn time_stands_still_meanwhile() {
    let mut redis = Bench::new();
    redis.on(1, "SET k a PX 1000");
    slow(&mut redis, 8_000);
    redis.pass(7_000);
    assert!(
        redis
            .machine
            .keys()
            .read(redis.now.wall_micros, b"k")
            .is_none()
    );
    redis.pass(1_200);
    assert_eq!(redis.on(1, "DBSIZE"), ":0");
}

#[test]
fn a_script_can_be_killed_until_it_has_written() {
    let mut redis = endless();
    assert_eq!(redis.eval("while true do end"), "");
    redis.pass(5_000);
    assert_eq!(redis.on(1, "GET a"), BUSY);
    assert_eq!(redis.on(1, "SCRIPT KILL"), "+OK");
    let killed = redis.read(ConnectionId(0));
    assert!(
        killed.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "),
        "{killed}"
    );
    assert_eq!(
        redis.on(1, "SCRIPT KILL"),
        "-NOTBUSY No scripts in execution right now."
    );
    assert_eq!(
        redis.eval("redis.call('set', 'a', 1) while true do end"),
        ""
    );
    redis.pass(5_000);
    let refused = redis.on(1, "SCRIPT KILL");
    assert!(refused.starts_with("-UNKILLABLE Sorry"), "{refused}");
    assert_eq!(redis.on(1, "GET a"), BUSY);
}

#[test]
fn a_transaction_that_is_refused_something_then_is_spoilt() {
    let mut redis = Bench::new();
    slow(&mut redis, 8_000);
    redis.pass(6_000);
    assert_eq!(redis.on(1, "MULTI"), "+OK");
    assert_eq!(redis.on(1, "SET k a"), BUSY);
    let text = BUSY.trim_start_matches('-');
    assert_eq!(
        redis.on(1, "EXEC"),
        format!("-EXECABORT Transaction discarded because of: {text}")
    );
}
