//! Quotas, throttling, and what differs between versions.

use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, CreateMode, EventType, Permissions, Request, Response, ZkError,
};

use super::super::messages::{ClientMessage, ServerMessage};
use super::super::state::{QuorumPeerConfig, Role};
use super::super::testing::*;
use super::super::version::Version;

fn cluster(servers: u8, nodes: &[&str], change: impl FnOnce(&mut QuorumPeerConfig)) -> Cluster {
    let mut settings = QuorumPeerConfig::clone(&settings(servers));
    change(&mut settings);
    Cluster::of(Rc::new(settings), nodes)
}

fn of_version(version: Version) -> Cluster {
    cluster(1, &["/q"], |settings| settings.version = version)
}

fn persistent(path: &str) -> Request {
    create(path, CreateMode::Persistent)
}

fn with_data(path: &str, data: &str) -> Request {
    let mode = CreateMode::Persistent;
    Request::create(Rc::from(path), data.as_bytes(), mode, Acl::OPEN, false)
}

/// How the creates of three nodes end below a limit of two, and what is counted then.
fn below_two(limit: &str, enforce: bool) -> (Vec<bool>, String) {
    let mut cluster = cluster(1, &["/q"], |settings| settings.enforce_quota = enforce);
    let client = cluster.connect(0);
    let quota = "/zookeeper/quota/q";
    cluster.ask(client, persistent(quota)).unwrap();
    let limits = format!("{quota}/zookeeper_limits");
    cluster.ask(client, with_data(&limits, limit)).unwrap();
    let stats = format!("{quota}/zookeeper_stats");
    cluster.ask(client, with_data(&stats, "")).unwrap();
    let made = ["/q/a", "/q/b"].map(|path| cluster.ask(client, with_data(path, "12")).is_ok());
    let sum = cluster
        .server(0)
        .tree()
        .get(&stats)
        .unwrap()
        .data()
        .to_vec();
    (made.to_vec(), String::from_utf8(sum).unwrap())
}

#[test]
fn a_hard_quota_refuses_and_a_soft_one_counts() {
    let hard = "count=-1,bytes=-1;countHardLimit=2";
    let counted = |sum: &str| sum.to_string();
    let (all, first) = (vec![true, true], vec![true, false]);
    assert_eq!(
        below_two("count=2,bytes=-1", true),
        (all.clone(), counted("count=3,bytes=4"))
    );
    assert_eq!(
        below_two(hard, true),
        (first.clone(), counted("count=2,bytes=2"))
    );
    assert_eq!(below_two(hard, false), (all, counted("count=3,bytes=4")));
    let bytes = "count=-1,bytes=-1;byteHardLimit=3";
    assert_eq!(below_two(bytes, true).0, first);
}

#[test]
fn a_server_with_too_much_to_do_reads_no_more_of_its_clients() {
    let mut cluster = cluster(3, &["/q"], |settings| settings.outstanding_limit = 2);
    let clients = [0; 4].map(|server| cluster.connect(server));
    let xids =
        clients.map(|client| cluster.request(client, persistent(&format!("/q/{}", client.0))));
    cluster.run_for(LATENCY);
    // The third is one too many: its connection, and the fourth's, are not read from until they are answered.
    for client in clients {
        cluster.inbox(client);
        cluster.request(client, get_children("/q", false));
        cluster.send(client, ClientMessage::Ping);
    }
    cluster.run_for(20 * LATENCY);
    for (client, xid) in clients.into_iter().zip(xids) {
        let Some(Ok(_)) = cluster.reply_to(client, xid) else {
            panic!("{client:?} was not answered");
        };
        // Nothing is lost: it is read later, in order.
        assert_eq!(cluster.inbox(client).last(), Some(&ServerMessage::Pong));
    }
}

#[test]
fn at_its_largest_the_sequence_number_sticks_or_wraps() {
    let numbers = |version| {
        let mut cluster = of_version(version);
        let client = cluster.connect(0);
        cluster.servers[0].tree.set_creates("/q", i32::MAX - 1);
        [0; 4].map(|_| {
            let kind = CreateMode::PersistentSequential;
            // Another name each time, so that equal numbers do not get in each other's way.
            let name = format!("/q/{}-", cluster.server(0).tree().node_count());
            let path = made(cluster.ask(client, create(&name, kind)));
            path.split_once('-').unwrap().1.to_string()
        })
    };
    let (before, last) = ("2147483646", "2147483647");
    assert_eq!(numbers(Version::V3_8), [before, last, last, last]);
    assert_eq!(
        numbers(Version::V3_4),
        [before, last, "-2147483648", "-2147483647"]
    );
}

#[test]
fn before_3_8_4_a_watcher_that_may_not_read_gets_the_event() {
    let told_by = |version| {
        let mut cluster = of_version(version);
        let client = cluster.connect(0);
        cluster.ask(client, exists("/q/x", true)).unwrap_err();
        cluster.inbox(client);
        let acl = Acl::of(Permissions::WRITE, "world", "anyone");
        let mode = CreateMode::Persistent;
        let blind = Request::create(Rc::from("/q/x"), b"", mode, acl, false);
        cluster.ask(client, blind).unwrap();
        (
            cluster.events(client).len(),
            cluster.ask(client, exists("/q/x", false)).err(),
        )
    };
    assert_eq!(told_by(Version::V3_6), (1, None));
    assert_eq!(told_by(Version::V3_8), (0, None));
    assert_eq!(told_by(Version::V3_10), (0, Some(ZkError::NoAuth)));
}

#[test]
fn since_3_9_several_kinds_of_watches_are_kept_apart() {
    let told_by = |version| {
        let mut cluster = of_version(version);
        let client = cluster.connect(0);
        for recursive in [true, false] {
            let path = Rc::from("/q");
            cluster
                .ask(client, Request::AddWatch { path, recursive })
                .unwrap();
        }
        cluster.ask(client, get_data("/q", true)).unwrap();
        cluster.inbox(client);
        cluster.ask(client, set_data("/q", b"1")).unwrap();
        cluster.ask(client, set_data("/q", b"2")).unwrap();
        cluster.ask(client, persistent("/q/x")).unwrap();
        let events = cluster.events(client).into_iter();
        events.map(|(kind, _)| kind).collect::<Vec<EventType>>()
    };
    let (changed, children) = (EventType::NodeDataChanged, EventType::NodeChildrenChanged);
    // The watch that fires once has taken the place of the others on the side of the data.
    assert_eq!(told_by(Version::V3_8), [changed, children]);
    let made = EventType::NodeCreated;
    assert_eq!(told_by(Version::V3_9), [changed, changed, made, children]);
}

#[test]
fn since_3_10_a_container_that_was_never_used_goes_after_five_minutes() {
    let is_there = |version, minutes: u64| {
        let mut cluster = of_version(version);
        let client = cluster.connect(0);
        cluster
            .ask(client, create("/q/box", CreateMode::Container))
            .unwrap();
        cluster.run_for(minutes * 60 * SECOND);
        cluster.server(0).tree().get("/q/box").is_some()
    };
    assert!(is_there(Version::V3_8, 20));
    assert!(is_there(Version::V3_10, 4));
    assert!(!is_there(Version::V3_10, 7));
}

#[test]
fn an_answer_to_a_read_needs_no_room() {
    let mut cluster = cluster(1, &["/q"], |settings| settings.outstanding_limit = 0);
    let client = cluster.connect(0);
    let read = cluster.ask(client, get_data("/q", false));
    assert!(matches!(read, Ok(Response::Data { .. })));
}

#[test]
fn before_3_10_a_version_may_come_to_be_the_one_that_stands_for_any() {
    let versions = |version| {
        let mut cluster = of_version(version);
        let client = cluster.connect(0);
        cluster.servers[0].tree.set_version("/q", -3);
        [0; 3].map(|_| {
            cluster.ask(client, set_data("/q", b"x")).unwrap();
            cluster.server(0).tree().stat("/q").unwrap().version
        })
    };
    assert_eq!(versions(Version::V3_8), [-2, -1, 0]);
    assert_eq!(versions(Version::V3_10), [-2, 0, 1]);
}

#[test]
fn an_epoch_whose_numbers_have_run_out_gives_way_to_another() {
    let mut cluster = Cluster::formed(3, &["/q"]);
    let client = cluster.connect(0);
    let Role::Leading(leading) = &mut cluster.servers[2].role else {
        panic!("the last leads");
    };
    leading.counter = u32::MAX - 2;
    cluster.ask(client, persistent("/q/last")).unwrap();
    let last = cluster.server(2).tree().last_zxid();
    assert_eq!((last.epoch(), last.counter()), (1, u32::MAX - 1));
    let lost = cluster.request(client, persistent("/q/lost"));
    cluster.run_for(2 * SECOND);
    assert_eq!(cluster.reply_to(client, lost), None);
    assert!(!cluster.connections[&client].open);
    let client = cluster.connect(0);
    cluster.ask(client, persistent("/q/next")).unwrap();
    let tree = cluster.server(2).tree();
    let there = ["/q/last", "/q/lost", "/q/next"].map(|path| tree.get(path).is_some());
    assert_eq!(there, [true, false, true]);
    assert_eq!(tree.last_zxid().epoch(), 2);
}

#[test]
fn once_the_sequence_number_sticks_a_list_of_children_that_has_changed_shows_no_change() {
    let told_by = |version| {
        let mut cluster = of_version(version);
        let (writer, client) = (cluster.connect(0), cluster.connect(0));
        cluster.servers[0].tree.set_creates("/q", i32::MAX);
        let since = cluster.server(0).tree().last_zxid();
        cluster.cut(client);
        cluster.ask(writer, persistent("/q/late")).unwrap();
        let client = cluster.resume(client, 0, since);
        cluster.run_for(10 * LATENCY);
        cluster.inbox(client);
        cluster.send(client, tables(since, &[], &[], &["/q"]));
        cluster.run_for(10 * LATENCY);
        cluster.events(client).len()
    };
    assert_eq!(told_by(Version::V3_8), 0);
    assert_eq!(told_by(Version::V3_4), 1);
}
