//! `RANDOMKEY`.

use std::collections::BTreeMap;

use picklock_redis::ServerConfig;

use crate::server::bench::Bench;
use crate::server::group::Group;

/// How often each key is answered.
fn drawn(redis: &mut Bench, times: usize, command: &str) -> BTreeMap<String, usize> {
    let mut drawn = BTreeMap::new();
    for _ in 0..times {
        *drawn.entry(redis.on(1, command)).or_default() += 1;
    }
    drawn
}

#[test]
fn each_key_is_as_likely_as_another() {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, "RANDOMKEY"), "nil");
    redis.on(1, "MSET a 1 b 2 c 3");
    let drawn = drawn(&mut redis, 600, "RANDOMKEY");
    assert_eq!(drawn.len(), 3, "{drawn:?}");
    let fair = |times: &usize| (150..=250).contains(times);
    assert!(drawn.values().all(fair), "{drawn:?}");
}

#[test]
fn only_what_may_ask_for_a_random_key_leaves_anything_to_chance() {
    let mut redis = Bench::new();
    redis.on(1, "MSET a 1 b 2 c 3");
    redis.on(1, "EVAL 'return redis.call(\"get\", \"a\")' 0");
    assert_eq!(redis.chance.choices, 0);
    let script = "EVAL 'return redis.call(\"randomKey\")' 0";
    // The script is looked at once, and goes on in the same sequence.
    let drawn = drawn(&mut redis, 60, script);
    assert_eq!((drawn.len(), redis.chance.choices), (3, 1), "{drawn:?}");
    redis.on(1, "RANDOMKEY");
    assert_eq!(redis.chance.choices, 2);
}

#[test]
fn an_expired_key_that_is_drawn_is_deleted_and_another_is_taken() {
    let mut redis = Bench::with(ServerConfig {
        active_expiry: false,
        ..ServerConfig::default()
    });
    redis.on(1, "SET live 1");
    redis.on(1, "SET over 1 PX 10");
    redis.pass(20);
    assert_eq!(redis.on(1, "DBSIZE"), ":2");
    let drawn = drawn(&mut redis, 40, "RANDOMKEY");
    assert_eq!(drawn, BTreeMap::from([("live".to_owned(), 40)]));
    assert_eq!(redis.on(1, "DBSIZE"), ":1");
}

#[test]
fn a_replica_answers_with_an_expired_key_only_if_it_has_no_other() {
    let mut group = Group::of(1);
    group.on(0, 1, "SET over 1 PX 50");
    group.hold_links_of(0);
    group.pass(100);
    assert_eq!(group.on(1, 1, "GET over"), "nil");
    assert_eq!(group.on(1, 1, "RANDOMKEY"), "over");
    let mut group = Group::of(1);
    group.on(0, 1, "SET over 1 PX 50");
    group.on(0, 1, "SET live 1");
    group.hold_links_of(0);
    group.pass(100);
    for _ in 0..20 {
        assert_eq!(group.on(1, 1, "RANDOMKEY"), "live");
    }
}
