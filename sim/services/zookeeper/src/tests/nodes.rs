//! Nodes that go by themselves, and requests that are too long to be read.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::zookeeper::{CreateMode, Request, Response, ZkError, Zxid};

use super::super::testing::*;

const MINUTE: u64 = 60 * SECOND;

#[test]
fn containers_vanish_under_you() {
    for servers in [1, 3] {
        let mut cluster = Cluster::formed(servers, &[]);
        let client = cluster.connect_for(0, 40);
        for path in ["/used", "/fresh"] {
            cluster
                .ask(client, create(path, CreateMode::Container))
                .unwrap();
        }
        let child = || create("/used/x", CreateMode::Ephemeral);
        cluster.ask(client, child()).unwrap();
        cluster.ping_for(&[client], 70);
        let stat = cluster.server(0).tree().stat("/used").unwrap();
        assert_eq!(stat.ephemeral_owner.0, 0);
        cluster.ask(client, exists("/used", true)).unwrap();
        cluster.ask(client, delete("/used/x")).unwrap();
        let before = cluster.server(0).tree().last_zxid();
        cluster.ping_for(&[client], 61);
        // One transaction for the one that had a child; the one that never had stays.
        for server in &cluster.servers {
            assert!(server.tree().get("/used").is_none());
            assert!(server.tree().get("/fresh").is_some());
            assert_eq!(server.tree().last_zxid(), Zxid(before.0 + 1));
        }
        let events = cluster.events(client);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(cluster.ask(client, child()), Err(ZkError::NoNode));
    }
}

#[test]
fn a_node_with_a_time_to_live_goes_when_it_is_childless_and_unchanged() {
    let mut cluster = Cluster::formed(3, &[]);
    let client = cluster.connect_for(0, 40);
    let mode = CreateMode::PersistentWithTtl(Duration::from_secs(90));
    for path in ["/idle", "/changed", "/parent"] {
        cluster.ask(client, create(path, mode)).unwrap();
    }
    cluster
        .ask(client, create("/parent/x", CreateMode::Persistent))
        .unwrap();
    cluster.ping_for(&[client], 60);
    cluster.ask(client, set_data("/changed", b"x")).unwrap();
    cluster.ping_for(&[client], 62);
    let tree = cluster.server(0).tree();
    assert!(tree.get("/idle").is_none());
    assert!(tree.get("/changed").is_some());
    assert!(tree.get("/parent").is_some());
    cluster.ask(client, delete("/parent/x")).unwrap();
    cluster.ping_for(&[client], 61);
    let tree = cluster.server(0).tree();
    assert!(tree.get("/changed").is_none());
    assert!(tree.get("/parent").is_none());
}

#[test]
fn a_time_to_live_has_bounds() {
    let mut cluster = Cluster::formed(1, &[]);
    let client = cluster.connect(0);
    for (millis, fine) in [
        (0, false),
        (1, true),
        (0xff_ffff_ffff, true),
        (1 << 40, false),
    ] {
        let mode = CreateMode::PersistentSequentialWithTtl(Duration::from_millis(millis));
        let reply = cluster.ask(client, create("/n-", mode));
        if fine {
            assert!(made(reply).starts_with("/n-000000000"));
        } else {
            assert_eq!(reply, Err(ZkError::BadArguments));
        }
    }
}

#[test]
fn a_new_leader_goes_on_deleting_what_goes_by_itself() {
    let mut cluster = Cluster::formed(3, &[]);
    let client = cluster.connect_for(0, 40);
    let mode = CreateMode::PersistentWithTtl(Duration::from_secs(1));
    cluster.ask(client, create("/idle", mode)).unwrap();
    cluster.crash(2);
    cluster.run_for(MINUTE + 2 * SECOND);
    assert!(cluster.leader().is_some_and(|leader| leader.0 == 1));
    assert!(cluster.server(0).tree().get("/idle").is_none());
}

#[test]
fn a_request_of_more_than_a_mebibyte_costs_the_connection() {
    let mut cluster = Cluster::formed(3, &["/a"]);
    let client = cluster.connect(0);
    let with = |length: usize| Request::SetData {
        path: Rc::from("/a"),
        data: vec![0; length].into(),
        version: None,
    };
    // Number, type, path, length of the data, version: 22 bytes.
    let longest = 0xf_ffff - 22;
    let reply = cluster.ask(client, with(longest));
    assert!(matches!(reply, Ok(Response::Set(_))), "{reply:?}");
    cluster.request(client, with(longest + 1));
    cluster.run_for(10 * LATENCY);
    assert!(!cluster.connections[&client].open);
    let stat = cluster.server(0).tree().stat("/a").unwrap();
    assert_eq!((stat.version, stat.data_length), (1, longest as i32));
    // The session lives on.
    let back = cluster.resume(client, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    assert!(cluster.connections[&back].open);
}
