//! A12.5: an old primary that comes back.

use picklock_clients::redis::Value;
use picklock_redis::sentinel::Event;

use crate::sentinel::test_cluster::Machine::Server;
use crate::sentinel::test_cluster::TestCluster;

#[test]
fn a_resumed_primary_takes_writes_for_ten_seconds_and_then_they_are_gone() {
    let mut town = TestCluster::of(1, 3, |_| {});
    assert_eq!(town.on(0, 1, "SET lock first"), Some(Value::OK));
    town.run(500);
    town.stop(Server(0));
    town.run(4_400);
    assert_eq!(town.primary_of(0), Server(1));
    town.go_on(Server(0));
    let resumed = town.now();
    let mut taken = 0;
    while town.on(0, 1, &format!("SET write:{taken} value")) == Some(Value::OK) {
        taken += 1;
        town.run(20);
        assert!(taken < 1_000, "it takes writes for ever");
    }
    let window = town.now() - resumed;
    // Real: 491 writes in 10.02 s.
    assert!(
        (9_500..11_500).contains(&window),
        "{window} ms, {taken} writes"
    );
    assert!(town.first(Event::ConvertToReplica, resumed).is_some());
    town.run(2_000);
    assert_eq!(town.on(0, 2, "EXISTS write:0"), Some(Value::Integer(0)));
    assert_eq!(town.on(0, 2, "GET lock"), Some(Value::bulk("first")));
}

#[test]
fn a_dead_primary_that_comes_back_empty_is_made_a_replica() {
    let mut town = TestCluster::of(1, 3, |_| {});
    town.on(0, 1, "SET lock first");
    town.run(500);
    town.kill(Server(0));
    town.run(5_000);
    town.restart(Server(0));
    let back = town.now();
    assert!(town.is_primary(0));
    town.run(25_000);
    assert!(!town.is_primary(0) && town.is_primary(1));
    let told = town
        .first(Event::ConvertToReplica, back)
        .expect("+convert-to-slave");
    assert!((8_000..22_000).contains(&told), "{told}");
    assert_eq!(town.on(0, 2, "GET lock"), Some(Value::bulk("first")));
}

#[test]
fn a_client_of_a_deposed_primary_only_sees_its_connection_end() {
    let mut town = TestCluster::of(1, 3, |_| {});
    assert_eq!(town.on(0, 1, "SET lock first"), Some(Value::OK));
    town.stop(Server(0));
    town.run(4_400);
    town.go_on(Server(0));
    let resumed = town.now();
    // It has been replaced for seconds, and says what it always said.
    for _ in 0..8 {
        town.run(1_000);
        assert_eq!(town.on(0, 1, "SET lock again"), Some(Value::OK));
    }
    town.run(6_000);
    assert!(town.first(Event::ConvertToReplica, resumed).is_some());
    assert_eq!(town.on(0, 1, "PING"), None);
    // A new connection may not write.
    let refused = town.on(0, 2, "SET lock again");
    let read_only = "READONLY You can't write against a read only replica.";
    assert_eq!(refused, Some(Value::error(read_only)));
}
