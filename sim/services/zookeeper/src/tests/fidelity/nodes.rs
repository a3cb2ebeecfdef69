//! Nodes: their numbers, versions, lists, and times.

use picklock_clients::zookeeper::{CreateMode, Request, Response, Stat, ZkError};

use crate::state::WALL_CLOCK_AT_START;
use crate::testing::*;

fn stat(cluster: &Cluster, path: &str) -> Stat {
    cluster.server(0).tree().stat(path).unwrap()
}

/// D20. At its largest value: `at_its_largest_the_sequence_number_sticks_or_wraps`.
#[test]
fn the_sequence_number_counts_children_ever_made_of_this_parent() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    let numbered = |prefix| create(prefix, CreateMode::EphemeralSequential);
    assert_eq!(
        made(cluster.ask(client, numbered("/q/a-"))),
        "/q/a-0000000000"
    );
    let plain = create("/q/plain", CreateMode::Persistent);
    cluster.ask(client, plain.clone()).unwrap();
    cluster.ask(client, plain).unwrap_err();
    cluster.ask(client, delete("/q/a-0000000000")).unwrap();
    assert_eq!(
        made(cluster.ask(client, numbered("/q/b-"))),
        "/q/b-0000000002"
    );
    // What is shown is another number: twice the children ever made, less those that there are.
    assert_eq!(stat(&cluster, "/q").cversion, 2 * 3 - 2);
    for path in ["/q/plain", "/q/b-0000000002", "/q"] {
        cluster.ask(client, delete(path)).unwrap();
    }
    cluster
        .ask(client, create("/q", CreateMode::Persistent))
        .unwrap();
    assert_eq!(
        made(cluster.ask(client, numbered("/q/b-"))),
        "/q/b-0000000000"
    );
}

/// D21.
#[test]
fn a_version_does_not_identify_the_owner_of_a_node() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let (mine, other) = (cluster.connect(0), cluster.connect(1));
    let lock = || create("/q/lock", CreateMode::Ephemeral);
    let unlock = |version| Request::Delete {
        path: "/q/lock".into(),
        version,
    };
    for version in [None, Some(0)] {
        cluster.ask(mine, lock()).unwrap();
        cluster.ask(mine, set_data("/q/lock", b"mine")).unwrap();
        cluster.ask(mine, delete("/q/lock")).unwrap();
        // The next is another's, in version 0 again, and any client may delete it.
        cluster.ask(other, lock()).unwrap();
        assert_eq!(stat(&cluster, "/q/lock").version, 0);
        cluster.ask(mine, unlock(version)).unwrap();
    }
}

/// D26. When they do: `containers_vanish_under_you`.
#[test]
fn a_container_may_be_gone_before_its_next_child_is_created() {
    let mut cluster = Cluster::formed(1, &[]);
    let client = cluster.connect_for(0, 40);
    cluster
        .ask(client, create("/box", CreateMode::Container))
        .unwrap();
    let child = || create("/box/x", CreateMode::Ephemeral);
    cluster.ask(client, child()).unwrap();
    cluster.ask(client, delete("/box/x")).unwrap();
    cluster.ping_for(&[client], 61);
    assert_eq!(cluster.ask(client, child()), Err(ZkError::NoNode));
}

/// D27.
#[test]
fn a_list_of_children_is_in_no_order_that_helps() {
    let mut cluster = Cluster::formed(1, &["/q"]);
    let client = cluster.connect(0);
    for _ in 0..3 {
        let numbered = create("/q/n-", CreateMode::EphemeralSequential);
        cluster.ask(client, numbered).unwrap();
    }
    let Ok(Response::Children(list)) = cluster.ask(client, get_children("/q", false)) else {
        panic!("no list");
    };
    let names: Vec<&str> = list.names().map(|name| &**name).collect();
    assert!(!names.is_sorted(), "a missing sort is to be caught");
}

/// D31.
#[test]
fn nodes_have_the_times_of_the_leaders_wall_clock() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect_for(0, 40);
    cluster.run_for(5 * SECOND);
    cluster.ask(client, set_data("/q", b"x")).unwrap();
    let stat = stat(&cluster, "/q");
    assert_eq!(stat.ctime, WALL_CLOCK_AT_START);
    assert_eq!((stat.mtime - stat.ctime) / 1_000, 5);
}
