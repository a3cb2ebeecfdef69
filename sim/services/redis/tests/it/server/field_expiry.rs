//! Fields of hashes that expire by themselves, as a server of Redis answered that was between 7.4 and 8.0.

use picklock_redis::{ServerConfig, ServerVersion};

use crate::server::bench::Bench;
use crate::server::group::{Group, settings};

fn bench() -> Bench {
    Bench::with(ServerConfig {
        version: ServerVersion::Redis7_4,
        ..ServerConfig::default()
    })
}

#[test]
fn a_field_expires_and_the_key_goes_with_the_last_one() {
    let mut redis = bench();
    redis.on(1, "HSET h a 1 b 2");
    assert_eq!(redis.on(1, "HPEXPIRE h 100 FIELDS 2 a x"), "[:1 :-2]");
    assert_eq!(redis.on(1, "HPTTL h FIELDS 3 a b x"), "[:100 :-1 :-2]");
    redis.pass_unseen(101);
    // The number of fields is that of those that the server has not deleted yet.
    assert_eq!(redis.on(1, "HLEN h"), ":2");
    assert_eq!(redis.on(1, "HGET h a"), "nil");
    assert_eq!(redis.on(1, "HLEN h"), ":1");
    assert_eq!(redis.on(1, "HPEXPIRE h 100 FIELDS 1 b"), "[:1]");
    redis.pass(300);
    assert_eq!(redis.on(1, "EXISTS h"), ":0");
    let mut old = Bench::new();
    let unknown = old.on(1, "HPEXPIRE h 100 FIELDS 1 b");
    assert!(unknown.starts_with("-ERR unknown command"), "{unknown}");
}

#[test]
fn setting_a_field_again_lets_it_stay_and_counting_does_not() {
    let mut redis = bench();
    redis.on(1, "HSET h a 1");
    redis.on(1, "HPEXPIRE h 5000 FIELDS 1 a");
    redis.on(1, "HINCRBY h a 1");
    assert_eq!(redis.on(1, "HPTTL h FIELDS 1 a"), "[:5000]");
    redis.on(1, "HSET h a 1");
    assert_eq!(redis.on(1, "HPTTL h FIELDS 1 a"), "[:-1]");
    redis.on(1, "HPEXPIRE h 5000 FIELDS 1 a");
    assert_eq!(redis.on(1, "HPERSIST h FIELDS 1 a"), "[:1]");
    redis.on(1, "HPEXPIRE h 5000 FIELDS 1 a");
    redis.on(1, "RENAME h g");
    redis.pass(5_200);
    assert_eq!(redis.on(1, "EXISTS g"), ":0");
}

#[test]
fn a_replica_hides_what_is_over_and_deletes_what_it_is_told() {
    let with = |number| ServerConfig {
        version: ServerVersion::Redis7_4,
        ..settings(number)
    };
    let mut group = Group::with(vec![with(0), with(1)]);
    group.on(0, 1, "HSET h a 1 b 2");
    group.on(0, 1, "HPEXPIRE h 1000 FIELDS 1 a");
    assert_eq!(group.on(1, 1, "HPTTL h FIELDS 1 a"), "[:1000]");
    group.hold_links_of(0);
    group.pass(1_200);
    assert_eq!(group.on(0, 1, "HLEN h"), ":1");
    assert_eq!(group.on(1, 1, "HLEN h"), ":2");
    assert_eq!(group.on(1, 1, "HGETALL h"), "[b 2]");
}
