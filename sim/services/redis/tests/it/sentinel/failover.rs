//! A12.3, A12.4, A12.6, A12.7: which replica becomes the primary, what happens when, and what clients are told.

use picklock_clients::redis::Value;
use picklock_redis::sentinel::Event;

use crate::sentinel::test_cluster::Machine::{Sentinel, Server};
use crate::sentinel::test_cluster::TestCluster;

#[test]
fn the_steps_come_in_order_and_as_far_apart_as_measured() {
    let mut town = TestCluster::of(1, 3, |settings| {
        settings.down_after = std::time::Duration::from_secs(2);
    });
    let killed = town.now();
    town.kill(Server(0));
    town.run(8_000);
    let at = |event| town.first(event, killed).expect("the step");
    assert!((2_000..2_250).contains(&at(Event::SubjectivelyDown)));
    assert!((2_000..2_500).contains(&at(Event::ObjectivelyDown)));
    assert!(at(Event::ElectedLeader) >= at(Event::ObjectivelyDown));
    assert!(at(Event::SelectedReplica) > at(Event::ElectedLeader));
    // The promotion is seen when the replica says what it is, which it is asked once a second.
    let promoted = at(Event::PromotedReplica) - at(Event::SelectedReplica);
    assert!((500..1_300).contains(&promoted), "{promoted}");
    let switched = at(Event::SwitchPrimary);
    assert!((3_000..4_000).contains(&switched), "{switched}");
}

#[test]
fn clients_are_sent_to_the_new_primary_as_soon_as_it_says_that_it_is_one() {
    let mut town = TestCluster::of(1, 3, |_| {});
    let where_is = |town: &mut TestCluster, sentinel| {
        let ask = "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster";
        let value = town.ask_sentinel(sentinel, ask).expect("an answer");
        value.values().expect("two")[1]
            .bytes()
            .expect("a port")
            .to_vec()
    };
    assert_eq!(where_is(&mut town, 0), b"1");
    town.kill(Server(0));
    town.run(10_000);
    for sentinel in 0..3 {
        assert_eq!(where_is(&mut town, sentinel), b"2");
    }
    assert_eq!(
        town.ask_sentinel(0, "SENTINEL GET-MASTER-ADDR-BY-NAME other"),
        Some(Value::NilArray)
    );
}

#[test]
fn the_other_replicas_follow_the_new_primary_and_all_connections_to_them_are_closed() {
    let mut town = TestCluster::of(2, 3, |_| {});
    assert!(town.on(1, 1, "PING").is_some());
    assert!(town.on(2, 2, "PING").is_some());
    town.kill(Server(0));
    town.run(15_000);
    let (new, other) = if town.is_primary(1) { (1, 2) } else { (2, 1) };
    assert!(town.on(1, 1, "PING").is_none() && town.on(2, 2, "PING").is_none());
    assert_eq!(town.on(new, 3, "SET a b"), Some(Value::OK));
    town.run(100);
    assert_eq!(town.on(other, 4, "GET a"), Some(Value::bulk("b")));
}

#[test]
fn the_replica_that_was_furthest_when_it_last_said_so_is_promoted() {
    let mut town = TestCluster::of(2, 3, |_| {});
    // The first replica misses what comes now.
    town.cut(Server(0), Server(1));
    for number in 0..10 {
        town.on(0, 1, &format!("SET key:{number} value"));
    }
    town.run(100);
    town.kill(Server(0));
    town.run(8_000);
    assert!(town.is_primary(2) && !town.is_primary(1));
}

#[test]
fn of_replicas_that_are_alike_the_one_with_the_first_id_is_promoted() {
    let mut town = TestCluster::of(2, 3, |_| {});
    let id = |town: &mut TestCluster, server: usize| {
        let said = town.on(server, server as u32, "INFO server").expect("it");
        let said = String::from_utf8_lossy(said.bytes().expect("a text")).into_owned();
        let id = said.lines().find_map(|line| line.strip_prefix("run_id:"));
        id.expect("an id").to_owned()
    };
    let first = if id(&mut town, 1) < id(&mut town, 2) {
        1
    } else {
        2
    };
    town.kill(Server(0));
    town.run(8_000);
    assert!(town.is_primary(first) && !town.is_primary(3 - first));
}

#[test]
fn a_primary_without_a_replica_that_can_be_reached_stays_the_only_one() {
    let mut town = TestCluster::of(1, 3, |_| {});
    town.kill(Server(1));
    town.run(3_000);
    town.kill(Server(0));
    town.run(5_000);
    assert!(town.count(Event::AbortNoGoodReplica) >= 1);
    assert_eq!(town.primary_of(0), Server(0));
}

#[test]
fn a_sentinel_that_was_away_learns_of_the_new_primary_by_a_hello() {
    let mut town = TestCluster::of(1, 3, |_| {});
    town.kill(Sentinel(2));
    town.kill(Server(0));
    town.run(8_000);
    town.restart(Sentinel(2));
    assert_eq!(town.primary_of(2), Server(0));
    town.run(6_000);
    assert_eq!(town.primary_of(2), Server(1));
    assert!(town.count(Event::ConfigUpdate) >= 1);
}

#[test]
fn clients_learn_the_replicas_and_their_flags() {
    let mut town = TestCluster::of(2, 3, |_| {});
    let flags = |town: &mut TestCluster| -> Vec<String> {
        let value = town.ask_sentinel(0, "SENTINEL REPLICAS mymaster");
        let value = value.expect("an answer");
        let rows = value.values().expect("rows").iter();
        let flags = rows.map(|row| {
            let words = row.values().expect("words");
            let name = words.iter().position(|word| word.bytes() == Some(b"flags"));
            let flags = words[name.expect("flags") + 1].bytes().expect("text");
            String::from_utf8_lossy(flags).into_owned()
        });
        flags.collect()
    };
    assert_eq!(flags(&mut town), ["slave", "slave"]);
    town.stop(Server(1));
    town.run(2_500);
    assert_eq!(flags(&mut town), ["s_down,slave", "slave"]);
    town.go_on(Server(1));
    town.kill(Server(2));
    town.run(2_500);
    assert_eq!(flags(&mut town), ["slave", "s_down,slave,disconnected"]);
    assert_eq!(
        town.ask_sentinel(0, "SENTINEL SLAVES other"),
        Some(Value::error("ERR No such master with that name"))
    );
}

#[test]
fn a_script_that_keeps_a_server_from_answering_is_killed_when_the_server_is_down_for_it() {
    let mut town = TestCluster::of(1, 3, |settings| {
        settings.down_after = std::time::Duration::from_secs(7);
    });
    let busy = |town: &mut TestCluster| match town.on(1, 1, "PING") {
        Some(Value::Error(error)) => error.code() == "BUSY",
        _ => false,
    };
    town.slow_script(1, 60_000);
    // From five seconds on the others are told, and two later it has been down for long enough.
    town.run(5_500);
    assert!(busy(&mut town));
    town.run(4_000);
    assert!(!busy(&mut town));
}
