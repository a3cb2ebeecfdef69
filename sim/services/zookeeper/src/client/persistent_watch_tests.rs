//! Tests of the client handle: watches that stay, and the taking back of watches.

use picklock_clients::completion::Answer;
use picklock_clients::zookeeper::{
    EventType, Reply, Request, Response, WatchSide, Watcher, ZkError, Zxid, watch,
};

use super::test_harness::*;
use super::{Output, ZooKeeperClientConfig};
use crate::client_profile::Library;
use crate::messages::{ClientMessage, WatchTables, path};
use crate::version::Version;

fn add(node: &str, recursive: bool) -> Request {
    let path = path(node);
    Request::AddWatch { path, recursive }
}

fn watching() -> Reply {
    Ok(Response::Watching)
}

/// Asks to take back one watcher, or all of them.
fn take_back(
    harness: &mut ClientHarness,
    node: &str,
    one: Option<&Watcher>,
    (side, local): (WatchSide, bool),
) -> Answer<Reply> {
    let path = path(node);
    let request = match one {
        Some(_) => Request::CheckWatches { path, side, local },
        None => Request::RemoveWatches { path, side, local },
    };
    harness.ask(request, one.cloned()).0
}

#[test]
fn a_watch_that_stays_is_registered_by_the_answer_and_stays_when_it_fires() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, add("/a", false), Err(ZkError::Unimplemented), &watcher);
    assert!(watches(&harness).is_empty());
    harness.watch(2, add("/a", false), watching(), &watcher);
    for kind in [EventType::NodeCreated, EventType::NodeChildrenChanged] {
        harness.notify(1, kind, "/a");
        harness.notify(1, kind, "/a");
    }
    harness.notify(1, EventType::NodeCreated, "/a/b");
    let expected = ["created /a", "created /a", "children /a", "children /a"];
    assert_eq!(told(&events), expected);
    assert_eq!(watches(&harness), ["/a Persistent"]);
}

#[test]
fn a_recursive_watch_gets_all_below_it_but_no_list() {
    let mut harness = ClientHarness::connected();
    let ((watcher, events), (root, of_all)) = (watch(), watch());
    harness.watch(1, add("/a", true), watching(), &watcher);
    harness.watch(2, add("/", true), watching(), &root);
    harness.notify(1, EventType::NodeCreated, "/a");
    harness.notify(1, EventType::NodeDataChanged, "/a/b/c");
    harness.notify(1, EventType::NodeChildrenChanged, "/a");
    harness.notify(1, EventType::NodeDeleted, "/ab");
    assert_eq!(told(&events), ["created /a", "changed /a/b/c"]);
    assert_eq!(
        told(&of_all),
        ["created /a", "changed /a/b/c", "deleted /ab"]
    );
}

#[test]
fn a_watcher_object_is_told_once_however_many_kinds_of_watches_it_is_in() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, get_data("/a"), data(), &watcher);
    harness.watch(2, add("/a", false), watching(), &watcher);
    harness.watch(3, add("/", true), watching(), &watcher);
    harness.notify(1, EventType::NodeDataChanged, "/a");
    assert_eq!(told(&events), ["changed /a"]);
    assert_eq!(watches(&harness), ["/ Recursive", "/a Persistent"]);
}

#[test]
fn watches_that_stay_come_along_to_the_next_server_and_nothing_is_made_up() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, get_data("/a"), data(), &watcher);
    harness.watch(2, add("/a", false), watching(), &watcher);
    harness.watch(3, add("/b", true), watching(), &watcher);
    harness.broken(1);
    harness.pass_until(100 * MILLI);
    let tables = WatchTables {
        relative_zxid: Zxid(3),
        data: vec![path("/a")],
        persistent: vec![path("/a")],
        recursive: vec![path("/b")],
        ..WatchTables::default()
    };
    let sent = send(2, ClientMessage::SetWatches(Box::new(tables)));
    assert!(harness.accept(2).contains(&sent));
    assert_eq!(told(&events), ["disconnected", "connected"]);
}

#[test]
fn kazoo_brings_no_watches_along_that_stay_either() {
    let settings = ZooKeeperClientConfig::new(TIMEOUT, 3).of(Library::Kazoo, Version::V3_8);
    let mut harness = ClientHarness::new(settings);
    harness.start();
    harness.accept(1);
    let (watcher, events) = watch();
    harness.watch(1, add("/b", true), watching(), &watcher);
    harness.broken(1);
    harness.pass_until(MILLI);
    assert!(watches(&harness).is_empty());
    let outputs = harness.accept(2);
    let sets = |output: &Output| {
        matches!(
            output,
            Output::Send {
                message: ClientMessage::SetWatches(_),
                ..
            }
        )
    };
    assert!(!outputs.iter().any(sets));
    harness.notify(2, EventType::NodeCreated, "/b");
    assert_eq!(told(&events), ["disconnected"]);
}

#[test]
fn one_watcher_is_taken_back_and_the_others_stay() {
    let mut harness = ClientHarness::connected();
    let ((one, of_one), (other, of_other)) = (watch(), watch());
    harness.watch(1, get_data("/a"), data(), &one);
    harness.watch(2, get_data("/a"), data(), &other);
    harness.watch(3, add("/a", false), watching(), &one);
    let mut answer = take_back(&mut harness, "/a", Some(&one), (WatchSide::Data, false));
    harness.reply(1, 4, watching());
    assert_eq!(answered(&mut answer), Some(watching()));
    assert_eq!(told(&of_one), ["data watch removed /a"]);
    assert_eq!(watches(&harness), ["/a Data", "/a Persistent"]);
    harness.notify(1, EventType::NodeDataChanged, "/a");
    assert_eq!(told(&of_one), ["changed /a"], "by the watch that stays");
    assert_eq!(told(&of_other), ["changed /a"]);
}

#[test]
fn all_are_taken_back_and_each_gets_each_kind_once() {
    let mut harness = ClientHarness::connected();
    let ((one, of_one), (other, of_other)) = (watch(), watch());
    harness.watch(1, get_data("/a"), data(), &one);
    harness.watch(2, exists("/a"), Err(ZkError::NoNode), &one);
    harness.watch(3, get_children("/a"), children(), &one);
    harness.watch(4, add("/a", false), watching(), &other);
    harness.watch(5, add("/a", true), watching(), &other);
    harness.watch(6, add("/b", true), watching(), &other);
    let mut answer = take_back(&mut harness, "/a", None, (WatchSide::Any, false));
    harness.reply(1, 7, watching());
    assert_eq!(answered(&mut answer), Some(watching()));
    assert_eq!(
        told(&of_one),
        ["data watch removed /a", "child watch removed /a"]
    );
    assert_eq!(told(&of_other), ["lasting watch removed /a"]);
    assert_eq!(watches(&harness), ["/b Recursive"]);
    harness.notify(1, EventType::NodeCreated, "/b/c");
    assert_eq!(told(&of_other), ["created /b/c"]);
}

#[test]
fn what_stays_is_on_neither_side_alone() {
    let mut harness = ClientHarness::connected();
    let (watcher, _events) = watch();
    harness.watch(1, add("/a", true), watching(), &watcher);
    for (xid, side) in [(2, WatchSide::Data), (3, WatchSide::Children)] {
        // The server has done it, but the client has nothing there.
        let mut answer = take_back(&mut harness, "/a", None, (side, false));
        harness.reply(1, xid, watching());
        assert_eq!(answered(&mut answer), Some(Err(ZkError::NoWatcher)));
    }
    assert_eq!(watches(&harness), ["/a Recursive"]);
}

#[test]
fn a_refusal_leaves_the_watch_unless_the_client_is_to_forget_it_all_the_same() {
    let mut harness = ClientHarness::connected();
    let (watcher, events) = watch();
    harness.watch(1, get_children("/a"), children(), &watcher);
    let mut answer = take_back(&mut harness, "/a", None, (WatchSide::Children, false));
    harness.reply(1, 2, Err(ZkError::NoWatcher));
    assert_eq!(answered(&mut answer), Some(Err(ZkError::NoWatcher)));
    assert_eq!(watches(&harness), ["/a Child"]);
    let mut answer = take_back(&mut harness, "/a", None, (WatchSide::Children, true));
    harness.reply(1, 3, Err(ZkError::NoWatcher));
    assert_eq!(answered(&mut answer), Some(watching()));
    assert_eq!(told(&events), ["child watch removed /a"]);
    assert!(watches(&harness).is_empty());
}

#[test]
fn a_lost_connection_takes_back_a_watch_only_if_that_is_local() {
    for (local, expected) in [
        (false, Err(ZkError::ConnectionLoss)),
        (true, Ok(Response::Watching)),
    ] {
        let mut harness = ClientHarness::connected();
        let (watcher, events) = watch();
        harness.watch(1, add("/a", true), watching(), &watcher);
        let mut answer = take_back(&mut harness, "/a", Some(&watcher), (WatchSide::Any, local));
        harness.broken(1);
        harness.pass_until(100 * MILLI);
        assert_eq!(answered(&mut answer), Some(expected));
        assert_eq!(watches(&harness).is_empty(), local);
        let removed = told(&events).contains(&"lasting watch removed /a".to_owned());
        assert_eq!(removed, local);
    }
}
