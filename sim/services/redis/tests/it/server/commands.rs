//! Commands and their answers.

use crate::server::bench::Bench;

#[test]
fn a_lock_is_set_once_and_expires() {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, "SET lock a NX PX 1000"), "+OK");
    assert_eq!(redis.on(2, "SET lock b NX PX 1000"), "nil");
    assert_eq!(redis.on(2, "PTTL lock"), ":1000");
    redis.pass_unseen(1_000);
    assert_eq!(redis.on(2, "PTTL lock"), ":0");
    redis.pass_unseen(1);
    assert_eq!(redis.on(2, "SET lock b NX PX 1000"), "+OK");
    assert_eq!(redis.on(1, "GET lock"), "b");
}

#[test]
fn set_takes_every_option_that_fits() {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, "SET k a XX"), "nil");
    assert_eq!(redis.on(1, "SET k a NX GET"), "nil");
    assert_eq!(redis.on(1, "SET k b NX GET"), "a");
    assert_eq!(redis.on(1, "SET k b EX 10"), "+OK");
    assert_eq!(redis.on(1, "SET k c KEEPTTL"), "+OK");
    assert_eq!(redis.on(1, "TTL k"), ":10");
    assert_eq!(redis.on(1, "SET k c NX XX"), "-ERR syntax error");
    assert_eq!(redis.on(1, "SET k c PX 10 EX 1"), "-ERR syntax error");
    assert_eq!(redis.on(1, "SET k c"), "+OK");
    assert_eq!(redis.on(1, "TTL k"), ":-1");
}

#[test]
fn what_is_not_modelled_says_so() {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, "XADD s * a b"), "-ERR not modelled: XADD");
    assert!(matches!(
        redis.out[..],
        [picklock_redis::Output::NotModelled { .. }]
    ));
    assert_eq!(
        redis.on(1, "FOO a"),
        "-ERR unknown command 'FOO', with args beginning with: 'a' "
    );
}

#[test]
fn clients_that_are_paused_are_answered_later_in_order() {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, "CLIENT PAUSE 500 WRITE"), "+OK");
    assert_eq!(redis.on(2, "SET k a"), "");
    assert_eq!(redis.on(2, "GET k"), "");
    assert_eq!(redis.on(3, "GET k"), "nil");
    redis.pass(500);
    assert_eq!(redis.read(picklock_redis::ConnectionId(2)), "+OK | a");
}

#[test]
fn keys_whose_time_has_come_go_by_themselves() {
    let mut redis = Bench::new();
    redis.on(1, "SET a 1 PX 150");
    redis.on(1, "SET b 1");
    redis.pass_unseen(160);
    assert_eq!(redis.on(1, "DBSIZE"), ":2");
    redis.pass(100);
    assert_eq!(redis.on(1, "DBSIZE"), ":1");
}
