//! Data that is `null`, and what else there is to ask of nodes, clients, and servers.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::zookeeper::{
    Acl, CreateMode, Data, Identity, Op, Path, Permissions, Reconfiguration, Request, Response,
    Stat, ZkError, Zxid,
};

use super::super::messages::{ClientMessage, ConnectionId};
use super::super::settings::QuorumPeerConfig;
use super::super::testing::*;
use super::super::txn::TxnChange;
use super::super::version::Version;

fn create_with(path: &str, data: Data) -> Request {
    Request::create(
        Rc::from(path),
        data,
        CreateMode::Persistent,
        Acl::OPEN,
        true,
    )
}

fn data_of(cluster: &mut Cluster, client: ConnectionId, path: &str) -> (Data, Stat) {
    match cluster.ask(client, get_data(path, false)) {
        Ok(Response::Data { data, stat }) => (data, *stat),
        other => panic!("no data: {other:?}"),
    }
}

#[test]
fn null_stays_null_and_empty_stays_empty() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    let given = [("/null", Data::NULL), ("/empty", Data::empty())];
    for (path, data) in &given {
        cluster
            .ask(client, create_with(path, data.clone()))
            .unwrap();
    }
    let (path, version) = (Path::from("/q"), None);
    let data = Data::NULL;
    let request = Request::SetData {
        path,
        data,
        version,
    };
    cluster.ask(client, request).unwrap();
    cluster.run_for(10 * LATENCY);
    let check = |cluster: &mut Cluster, client| {
        for (path, data) in [
            ("/q", &Data::NULL),
            ("/null", &Data::NULL),
            ("/empty", &Data::empty()),
        ] {
            let (found, stat) = data_of(cluster, client, path);
            assert_eq!((&found, stat.data_length), (data, 0), "{path}");
        }
    };
    check(&mut cluster, client);
    // The log keeps it, and so does what a server is sent that comes back.
    for server in 0..3 {
        cluster.crash(server);
        cluster.run_for(20 * SECOND);
        cluster.restart(server);
        cluster.run_for(20 * SECOND);
    }
    for server in 0..3 {
        let reader = cluster.connect(server);
        check(&mut cluster, reader);
    }
}

#[test]
fn trees_that_differ_in_null_are_not_the_same() {
    let tree_with = |data: Data| {
        let mut cluster = Cluster::formed(1, &[]);
        let client = cluster.connect(0);
        cluster.ask(client, create_with("/a", data)).unwrap();
        cluster.server(0).tree().clone()
    };
    assert!(tree_with(Data::NULL) == tree_with(Data::NULL));
    assert!(tree_with(Data::NULL) != tree_with(Data::empty()));
}

#[test]
fn children_come_with_the_stat_of_the_same_moment_and_a_watch() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (client, writer) = (cluster.connect(0), cluster.connect(0));
    cluster
        .ask(writer, create("/q/a", CreateMode::Ephemeral))
        .unwrap();
    let (path, watch, with_stat) = (Rc::from("/q"), true, true);
    let request = Request::GetChildren {
        path,
        watch,
        with_stat,
    };
    match cluster.ask(client, request) {
        Ok(Response::ChildrenWithStat { children, stat }) => {
            assert_eq!(
                (children.len(), stat.num_children, stat.cversion),
                (1, 1, 1)
            );
        }
        other => panic!("no children: {other:?}"),
    }
    cluster.ask(writer, delete("/q/a")).unwrap();
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.events(client).len(), 1);
}

#[test]
fn all_children_are_counted_for_a_reader_of_the_node() {
    let mut cluster = Cluster::formed(1, &["/a", "/a/b", "/a/b/c", "/ab"]);
    let client = cluster.connect(0);
    let mut count = |path: &str| {
        let path = Rc::from(path);
        cluster.ask(client, Request::GetAllChildrenNumber { path })
    };
    let number = |number| Ok(Response::AllChildrenNumber(number));
    assert_eq!(count("/a"), number(2));
    assert_eq!(count("/a/b/c"), number(0));
    assert_eq!(count("/zookeeper"), number(2));
    // Four nodes of ours and three of the server; for the empty path the root counts too.
    assert_eq!((count("/"), count("")), (number(7), number(8)));
    assert_eq!(count("/none"), Err(ZkError::NoNode));
    let blind = Acl::of(Permissions::WRITE, "world", "anyone");
    let mode = CreateMode::Persistent;
    let hidden = Request::create(Rc::from("/hidden"), b"", mode, blind, false);
    cluster.ask(client, hidden).unwrap();
    let path = Rc::from("/hidden");
    let asked = cluster.ask(client, Request::GetAllChildrenNumber { path });
    assert_eq!(asked, Err(ZkError::NoAuth));
}

#[test]
fn a_client_is_known_by_its_address_and_the_names_it_has_said() {
    let mut cluster = Cluster::formed(1, &[]);
    let client = cluster.connect(0);
    let address = Identity::new("ip", "127.0.0.1");
    let known = cluster.ask(client, Request::WhoAmI);
    assert_eq!(known, Ok(Response::ClientInfo(vec![address.clone()])));
    let (scheme, secret) = (Rc::from("digest"), Rc::from(*b"alice:a"));
    cluster.send(client, ClientMessage::Authenticate { scheme, secret });
    let alice = Identity::new("digest", "alice");
    let known = cluster.ask(client, Request::WhoAmI);
    assert_eq!(known, Ok(Response::ClientInfo(vec![address, alice])));
}

#[test]
fn reconfiguration_is_refused_in_a_transaction_of_its_own() {
    let mut cluster = Cluster::formed(3, &[]);
    let client = cluster.connect(0);
    let before = cluster.server(2).tree().last_zxid();
    let asked = Request::Reconfig(Rc::new(Reconfiguration::default()));
    assert_eq!(cluster.ask(client, asked), Err(ZkError::ReconfigDisabled));
    cluster.run_for(10 * LATENCY);
    let error = &cluster.observer.committed[&Zxid(before.0 + 1)].change;
    assert_eq!(*error, TxnChange::Error(ZkError::ReconfigDisabled));
    assert!(cluster.connections[&client].open);
}

#[test]
fn before_3_6_servers_know_no_who_am_i_and_count_no_children() {
    for version in [Version::V3_4, Version::V3_6] {
        for request in [
            Request::WhoAmI,
            Request::GetAllChildrenNumber {
                path: Rc::from("/"),
            },
        ] {
            let settings = QuorumPeerConfig {
                version,
                ..(*settings(1)).clone()
            };
            let mut cluster = Cluster::of(Rc::new(settings), &[]);
            let client = cluster.connect(0);
            let reply = cluster.ask(client, request);
            cluster.run_for(5 * LATENCY);
            let known = version == Version::V3_6;
            assert_eq!(reply == Err(ZkError::Unimplemented), !known);
            assert_eq!(cluster.connections[&client].open, known);
        }
    }
}

/// Servers as they are by default.
fn without_extended_types(servers: u8) -> Cluster {
    let extended_types = false;
    let settings = QuorumPeerConfig {
        extended_types,
        ..(*settings(servers)).clone()
    };
    Cluster::of(Rc::new(settings), &[])
}

#[test]
fn without_extended_types_there_are_no_nodes_with_a_time_to_live() {
    let mut cluster = without_extended_types(3);
    let client = cluster.connect(0);
    let ttl = Duration::from_secs(1);
    let modes = [
        CreateMode::PersistentWithTtl(ttl),
        CreateMode::PersistentSequentialWithTtl(ttl),
        CreateMode::PersistentWithTtl(Duration::ZERO),
    ];
    for path in ["/a", "/none/a"] {
        for mode in modes {
            let refused = cluster.ask(client, create(path, mode));
            assert_eq!(refused, Err(ZkError::Unimplemented), "{path} {mode:?}");
        }
    }
    // Containers are no extended type.
    cluster
        .ask(client, create("/box", CreateMode::Container))
        .unwrap();
    assert!(cluster.connections[&client].open);
}

#[test]
fn what_is_refused_to_all_is_refused_before_the_session_is_looked_at() {
    let mut cluster = without_extended_types(3);
    let old = cluster.connect(0);
    cluster.run_for(10 * LATENCY);
    let new = cluster.resume(old, 1, Zxid(0));
    cluster.run_for(10 * LATENCY);
    cluster
        .ask(new, create("/a", CreateMode::Persistent))
        .unwrap();
    let mode = CreateMode::PersistentWithTtl(Duration::from_secs(1));
    let ttl = || Op::Create {
        path: Rc::from("/t"),
        data: Data::NULL,
        mode,
        acl: Acl::OPEN,
    };
    let reconfig = Request::Reconfig(Rc::default());
    assert_eq!(cluster.ask(old, reconfig), Err(ZkError::ReconfigDisabled));
    assert_eq!(
        cluster.ask(old, create("/t", mode)),
        Err(ZkError::Unimplemented)
    );
    assert_eq!(
        refused(cluster.ask(old, multi(vec![ttl()]))),
        ZkError::Unimplemented
    );
    assert!(cluster.connections[&old].open);
    // Later parts of a multi are not looked at.
    let late = cluster.request(
        old,
        multi(vec![
            Op::Delete {
                path: Rc::from("/a"),
                version: None,
            },
            ttl(),
        ]),
    );
    cluster.run_for(10 * LATENCY);
    assert_eq!(cluster.reply_to(old, late), None);
    assert!(!cluster.connections[&old].open);
}
