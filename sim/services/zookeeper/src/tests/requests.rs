//! Requests on a healthy ensemble.

use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, CreateMode, Data, Op, OpResult, Response, Stat, ZkError, Zxid,
};

use super::super::messages::ServerMessage;
use super::super::state::Output;
use super::super::testing::*;

fn stat(cluster: &Cluster, path: &str) -> Stat {
    cluster.server(0).tree().stat(path).unwrap()
}

#[test]
fn a_write_through_any_server_is_applied_on_all() {
    for servers in [1, 3, 5] {
        for server in 0..servers {
            let mut cluster = Cluster::formed(servers, &["/locks"]);
            let client = cluster.connect(server);
            let request = create("/locks/a-", CreateMode::EphemeralSequential);
            let reply = cluster.ask(client, request);
            assert_eq!(made(reply), "/locks/a-0000000000");
            cluster.run_for(10 * LATENCY);
            for one in &cluster.servers {
                assert_eq!(one.tree(), cluster.server(0).tree());
                assert!(one.tree().get("/locks/a-0000000000").is_some());
            }
        }
    }
}

#[test]
fn the_sequence_number_counts_children_ever_made() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    let sequential = || create("/q/n-", CreateMode::PersistentSequential);
    for number in 0..3 {
        let reply = cluster.ask(client, sequential());
        assert_eq!(made(reply), format!("/q/n-{number:010}"));
    }
    cluster.ask(client, delete("/q/n-0000000001")).unwrap();
    assert_eq!(made(cluster.ask(client, sequential())), "/q/n-0000000003");
    let plain = || create("/q/plain", CreateMode::Persistent);
    cluster.ask(client, plain()).unwrap();
    assert_eq!(cluster.ask(client, plain()), Err(ZkError::NodeExists));
    assert_eq!(made(cluster.ask(client, sequential())), "/q/n-0000000005");
    let failing = multi(vec![
        Op::Create {
            path: Rc::from("/q/n-"),
            data: Data::empty(),
            mode: CreateMode::PersistentSequential,
            acl: Acl::OPEN,
        },
        Op::Check {
            path: Rc::from("/none"),
            version: None,
        },
    ]);
    assert_eq!(refused(cluster.ask(client, failing)), ZkError::NoNode);
    assert_eq!(stat(&cluster, "/q").cversion, 7);
    assert_eq!(made(cluster.ask(client, sequential())), "/q/n-0000000006");
    assert_eq!(stat(&cluster, "/").cversion, 2 - 2);
    let fresh = Cluster::formed(1, &[]);
    assert_eq!(stat(&fresh, "/").cversion, -1);
}

#[test]
fn a_refused_write_costs_a_zxid_and_a_quorum_round() {
    let mut cluster = Cluster::formed(3, &["/locks"]);
    let client = cluster.connect(0);
    let before = cluster.server(0).tree().last_zxid();
    let lock = || create("/locks/held", CreateMode::Ephemeral);
    cluster.ask(client, lock()).unwrap();
    for _ in 0..3 {
        let asked = cluster.network.now();
        assert_eq!(cluster.ask(client, lock()), Err(ZkError::NodeExists));
        // There and back between client and server, server and leader, leader and the others; and the log.
        let took = cluster.network.now().since(asked).as_micros() as u64;
        assert_eq!(took, 6 * LATENCY + 500);
    }
    let after = cluster.server(0).tree().last_zxid();
    assert_eq!(after, Zxid(before.0 + 4));
    cluster.ask(client, multi(vec![])).unwrap();
    assert_eq!(cluster.server(0).tree().last_zxid(), Zxid(after.0 + 1));
}

#[test]
fn checks_come_in_zookeepers_order() {
    let mut cluster = Cluster::formed(1, &["/a", "/a/b"]);
    let client = cluster.connect(0);
    let mut refused = |request| refused(cluster.ask(client, request));
    let persistent = CreateMode::Persistent;
    assert_eq!(refused(create("/none/x", persistent)), ZkError::NoNode);
    assert_eq!(refused(create("/a/b", persistent)), ZkError::NodeExists);
    assert_eq!(refused(create("/", persistent)), ZkError::NodeExists);
    for path in ["/a//b", "/./a"] {
        assert_eq!(refused(create(path, persistent)), ZkError::NoNode);
    }
    for path in ["a", "/a/", "//a", "/a/..", "/.", ""] {
        assert_eq!(refused(create(path, persistent)), ZkError::BadArguments);
    }
    assert_eq!(refused(delete("/a")), ZkError::NotEmpty);
    let mut stale = delete("/a");
    if let picklock_clients::zookeeper::Request::Delete { version, .. } = &mut stale {
        *version = Some(5);
    }
    assert_eq!(refused(stale), ZkError::BadVersion);
    assert_eq!(refused(delete("/none")), ZkError::NoNode);
    assert_eq!(refused(delete("/")), ZkError::BadArguments);
    assert_eq!(refused(set_data("/none", b"")), ZkError::NoNode);
    assert_eq!(refused(get_data("/none", true)), ZkError::NoNode);
    cluster
        .ask(client, create("/e", CreateMode::Ephemeral))
        .unwrap();
    let child = cluster.ask(client, create("/e/x", persistent));
    assert_eq!(child, Err(ZkError::NoChildrenForEphemerals));
}

#[test]
fn a_multi_is_one_transaction_and_sees_its_own_work() {
    let mut cluster = Cluster::formed(3, &["/a"]);
    let client = cluster.connect(1);
    let op = |path: &str| Op::Create {
        path: Rc::from(path),
        data: Data::empty(),
        mode: CreateMode::PersistentSequential,
        acl: Acl::OPEN,
    };
    let request = multi(vec![
        op("/a/x-"),
        op("/a/x-"),
        Op::SetData {
            path: Rc::from("/a/x-0000000001"),
            data: Data::from(b"two"),
            version: Some(0),
        },
        Op::Delete {
            path: Rc::from("/a/x-0000000000"),
            version: None,
        },
    ]);
    let Ok(Response::Multi(results)) = cluster.ask(client, request) else {
        panic!("the multi failed");
    };
    assert_eq!(results[1], OpResult::Created(Rc::from("/a/x-0000000001")));
    assert!(matches!(&results[2], OpResult::Set(stat) if stat.version == 1));
    cluster.run_for(10 * LATENCY);
    let node = cluster.server(0).tree().get("/a/x-0000000001").unwrap();
    assert_eq!(node.czxid(), stat(&cluster, "/a").pzxid);
    assert_eq!(node.stat().mzxid, node.czxid());
}

#[test]
fn a_read_waits_for_the_writes_of_its_session_and_for_no_others() {
    let mut cluster = Cluster::formed(3, &["/a"]);
    let writer = cluster.connect(0);
    let reader = cluster.connect(0);
    let write = cluster.request(writer, set_data("/a", b"new"));
    let own = cluster.request(writer, get_data("/a", false));
    let other = cluster.request(reader, get_data("/a", false));
    cluster.run_for(2 * LATENCY);
    assert!(cluster.reply_to(reader, other).is_some());
    assert_eq!(cluster.reply_to(writer, own), None);
    cluster.run_for(20 * LATENCY);
    assert!(cluster.reply_to(writer, write).is_some());
    let read = cluster.reply_to(writer, own);
    assert!(matches!(read, Some(Ok(Response::Data { data, .. })) if *data == *b"new"));
}

#[test]
fn a_pong_waits_for_the_writes_of_its_session() {
    let mut cluster = Cluster::formed(3, &["/a"]);
    let writer = cluster.connect(0);
    let idle = cluster.connect(0);
    cluster.isolate(0);
    cluster.request(writer, set_data("/a", b"new"));
    cluster.inbox(writer);
    cluster.inbox(idle);
    cluster.ping_for(&[writer, idle], 2);
    assert_eq!(cluster.inbox(writer), []);
    assert_eq!(
        cluster.inbox(idle),
        [ServerMessage::Pong, ServerMessage::Pong]
    );
}

#[test]
fn children_come_newest_first_and_readers_share_the_list() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    for _ in 0..3 {
        let request = create("/q/n-", CreateMode::PersistentSequential);
        cluster.ask(client, request).unwrap();
    }
    let mut list = || match cluster.ask(client, get_children("/q", false)) {
        Ok(Response::Children(children)) => children,
        other => panic!("no list: {other:?}"),
    };
    let (one, two) = (list(), list());
    assert!(Rc::ptr_eq(&one, &two));
    assert_eq!(&**one.names().next().unwrap(), "n-0000000002");
    assert_eq!(&**one.names().nth(2).unwrap(), "n-0000000000");
}

#[test]
fn commits_come_once_each_in_the_order_of_zxids() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let clients = [cluster.connect(0), cluster.connect(1), cluster.connect(2)];
    for _ in 0..10 {
        for client in clients {
            let request = create("/q/n-", CreateMode::EphemeralSequential);
            cluster.request(client, request);
        }
    }
    cluster.run_for(50 * LATENCY);
    let zxids: Vec<u32> = cluster
        .observer
        .committed
        .keys()
        .map(|zxid| zxid.counter())
        .collect();
    assert_eq!(zxids, (1..=33).collect::<Vec<u32>>());
    let proposed = |said: &(_, Output)| matches!(said.1, Output::Proposed { .. });
    assert_eq!(
        cluster
            .observer
            .said
            .iter()
            .filter(|said| proposed(said))
            .count(),
        30
    );
}

#[test]
fn the_sequence_counter_sticks_at_its_end() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    cluster.servers[0].tree.set_creates("/q", i32::MAX);
    let sequential = || create("/q/n-", CreateMode::PersistentSequential);
    assert_eq!(made(cluster.ask(client, sequential())), "/q/n-2147483647");
    // One at a time, the next is the same again.
    let again = cluster.ask(client, sequential());
    assert_eq!(again, Err(ZkError::NodeExists));
    // In a pipeline, what is proposed wraps.
    let wraps = |prefix: &str| create(prefix, CreateMode::PersistentSequential);
    let one = cluster.request(client, wraps("/q/a-"));
    let two = cluster.request(client, wraps("/q/a-"));
    cluster.run_for(10 * LATENCY);
    let path = |xid| made(cluster.reply_to(client, xid).unwrap());
    assert_eq!(path(one), "/q/a-2147483647");
    assert_eq!(path(two), "/q/a--2147483648");
}

#[test]
fn paths_are_looked_at_where_zookeeper_looks_at_them() {
    let mut cluster = Cluster::formed(1, &["/a"]);
    let client = cluster.connect(0);
    let mut refused = |request| refused(cluster.ask(client, request));
    let persistent = CreateMode::Persistent;
    // What is above comes first, and may be no path.
    assert_eq!(refused(create("/none//x", persistent)), ZkError::NoNode);
    assert_eq!(refused(create("/a//", persistent)), ZkError::NoNode);
    assert_eq!(refused(create("//x", persistent)), ZkError::BadArguments);
    // A zero is looked for before anything else.
    assert_eq!(
        refused(create("/none/\0", persistent)),
        ZkError::BadArguments
    );
    assert_eq!(refused(delete("/none/\0")), ZkError::BadArguments);
    assert_eq!(refused(exists("/a\0", false)), ZkError::BadArguments);
    assert_eq!(refused(get_data("/a\0", false)), ZkError::NoNode);
    // Letters of more than 16 bits are refused, and those that are none.
    for name in ["/\u{10348}", "/\u{fff0}", "/\u{85}", "/\u{e000}"] {
        assert_eq!(refused(create(name, persistent)), ZkError::BadArguments);
        assert_eq!(refused(set_data(name, b"")), ZkError::BadArguments);
    }
    let check = |path: &str| Op::Check {
        path: Rc::from(path),
        version: None,
    };
    assert_eq!(refused(multi(vec![check("")])), ZkError::BadArguments);
    assert_eq!(refused(multi(vec![check("/b")])), ZkError::NoNode);
    // With its number `..` is a name like any other.
    let numbered = cluster.ask(client, create("/a/..", CreateMode::PersistentSequential));
    assert_eq!(made(numbered), "/a/..0000000000");
}

#[test]
fn the_empty_path_is_the_root_to_a_read() {
    let mut cluster = Cluster::formed(1, &[]);
    let client = cluster.connect(0);
    let root = cluster.ask(client, exists("/", false));
    assert!(root.is_ok());
    assert_eq!(cluster.ask(client, exists("", false)), root);
    assert_eq!(cluster.ask(client, delete("")), Err(ZkError::BadArguments));
}
