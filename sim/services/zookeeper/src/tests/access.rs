//! Who may do what.

use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, CreateMode, EventType, Identity, Permissions, Permit, Request, Response, ZkError,
};

use super::super::messages::{ClientMessage, ConnectionId, ServerMessage};
use super::super::testing::*;

fn create_for(path: &str, acl: Acl) -> Request {
    Request::create(Rc::from(path), b"", CreateMode::Persistent, acl, false)
}

fn set_acl(path: &str, acl: Acl) -> Request {
    Request::SetAcl {
        path: Rc::from(path),
        acl,
        version: None,
    }
}

fn acl_of(cluster: &mut Cluster, client: ConnectionId, path: &str) -> Vec<Permit> {
    let path = Rc::from(path);
    match cluster.ask(client, Request::GetAcl { path }) {
        Ok(Response::Acl { acl, .. }) => acl.permits(),
        other => panic!("no list: {other:?}"),
    }
}

/// Says who a client is, and answers what it is told.
fn say(cluster: &mut Cluster, client: ConnectionId, scheme: &str, secret: &str) -> ServerMessage {
    cluster.inbox(client);
    let (scheme, secret) = (scheme.into(), secret.as_bytes().into());
    cluster.send(client, ClientMessage::Authenticate { scheme, secret });
    cluster.run_for(2 * LATENCY);
    cluster.inbox(client).remove(0)
}

#[test]
fn a_creators_node_is_for_any_client_of_the_same_identity() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (maker, other) = (cluster.connect(0), cluster.connect(1));
    let mine = || create_for("/q/mine", Acl::creator_all());
    assert_eq!(cluster.ask(maker, mine()), Err(ZkError::InvalidAcl));
    let told = say(&mut cluster, maker, "digest", "alice:a");
    assert_eq!(told, ServerMessage::Authenticated);
    cluster.ask(maker, mine()).unwrap();
    cluster.ask(other, sync()).unwrap();
    for request in [
        get_data("/q/mine", false),
        get_children("/q/mine", false),
        set_data("/q/mine", b"x"),
        create("/q/mine/x", CreateMode::Persistent),
        set_acl("/q/mine", Acl::OPEN),
    ] {
        assert_eq!(cluster.ask(other, request), Err(ZkError::NoAuth));
    }
    // Deleting it is up to its parent.
    say(&mut cluster, other, "digest", "alice:a");
    cluster.ask(other, get_data("/q/mine", false)).unwrap();
    cluster.ask(other, set_acl("/q/mine", Acl::OPEN)).unwrap();
    assert_eq!(acl_of(&mut cluster, maker, "/q/mine"), Acl::OPEN.permits());
}

#[test]
fn hashes_are_shown_only_to_clients_that_may_change_them() {
    let mut cluster = Cluster::formed(1, &[]);
    let (maker, other) = (cluster.connect(0), cluster.connect(0));
    say(&mut cluster, maker, "digest", "alice:a");
    let read = Permit {
        permissions: Permissions::READ,
        who: Identity::new("world", "anyone"),
    };
    let mine = Acl::creator_all().permits().into_iter();
    let both = Acl::new(mine.chain([read]));
    cluster.ask(maker, create_for("/box", both)).unwrap();
    let shown = |cluster: &mut Cluster, client| {
        let permits = acl_of(cluster, client, "/box");
        permits[0].who.id.to_string()
    };
    let hash = "alice:AIueg8ag5ALfqeEyKdLnva1Wvi0=";
    assert_eq!(shown(&mut cluster, maker), hash);
    assert_eq!(shown(&mut cluster, other), "alice:x");
}

#[test]
fn a_watch_of_a_client_that_may_not_read_fires_without_an_event() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let (watcher, writer) = (cluster.connect(0), cluster.connect(0));
    cluster.ask(watcher, exists("/q/x", true)).unwrap_err();
    cluster.ask(watcher, get_children("/q", true)).unwrap();
    cluster.inbox(watcher);
    let blind = Acl::of(Permissions::WRITE, "world", "anyone");
    cluster.ask(writer, create_for("/q/x", blind)).unwrap();
    cluster.run_for(LATENCY);
    let children = (EventType::NodeChildrenChanged, "/q".to_string());
    assert_eq!(cluster.events(watcher), [children]);
    assert_eq!(cluster.server(0).watch_count(), 0);
}

#[test]
fn a_failed_authentication_ends_the_connection_alone() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    let ephemeral = create("/q/e", CreateMode::Ephemeral);
    cluster.ask(client, ephemeral).unwrap();
    let told = say(&mut cluster, client, "magic", "wand");
    assert_eq!(told, ServerMessage::AuthFailed);
    assert!(!cluster.connections[&client].open);
    assert!(cluster.server(0).tree().get("/q/e").is_some());
}

#[test]
fn a_refused_operation_of_a_multi_is_told_apart() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    cluster
        .ask(client, create_for("/q/x", Acl::read_only()))
        .unwrap();
    let op = |request| match request {
        Request::Delete { path, version } => {
            picklock_clients::zookeeper::Op::Delete { path, version }
        }
        other => panic!("{other:?}"),
    };
    let parts = vec![op(delete("/q/none")), op(delete("/q/x"))];
    let Ok(Response::MultiFailed(failed)) = cluster.ask(client, multi(parts)) else {
        panic!("it was done");
    };
    let errors: Vec<Option<ZkError>> = failed.errors().collect();
    let after = ZkError::RuntimeInconsistency;
    assert_eq!(errors, [Some(ZkError::NoNode), Some(after)]);
}
