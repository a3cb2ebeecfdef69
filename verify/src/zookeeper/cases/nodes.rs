//! Nodes that go by themselves, and requests that are too long.

use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode, Data, Op, Request};

use super::{Build, Case};
use crate::zookeeper::step::{Client, Step};

/// Whatever a client asks for, it is granted a timeout between two bounds, also when it comes back.
pub(super) const GRANTED: Case = Case {
    name: "timeouts that are granted",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        for place in 0..servers {
            for millis in [
                0, 1, 999, 1_000, 1_699, 1_701, 9_299, 9_301, 10_001, 3_600_000,
            ] {
                let client = build.open(place, Duration::from_millis(millis));
                let back = build.resume(client, servers - 1 - place, true);
                build.ask(back, [build.get_children("")]);
                build.steps.push(Step::Close { client: back });
            }
        }
        build.steps
    },
};

/// How long a node may be without children and changes.
const TTL: Duration = Duration::from_millis(700);

/// A container goes when its last child has gone; one that never had a child stays.
pub(super) const CONTAINERS: Case = Case {
    name: "containers",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        let (container, ephemeral) = (CreateMode::Container, CreateMode::Ephemeral);
        for path in ["/box", "/fresh", "/outer"] {
            build.ask(client, [build.create(path, container)]);
        }
        build.ask(client, [build.create("/outer/inner", container)]);
        build.ask(client, [build.create("/outer/inner/x", ephemeral)]);
        build.ask(
            client,
            [build.create("/box/x", ephemeral), build.exists("/box")],
        );
        build.ask(client, [build.get_children("/box"), build.get_children("")]);
        let last = build.delete("/box/x");
        gone(&mut build, Some((client, last)), &["/box"], Duration::ZERO);
        build.ask(
            client,
            [build.create("/box/x", ephemeral), build.exists("/fresh")],
        );
        let last = build.delete("/outer/inner/x");
        let nodes = ["/outer/inner", "/outer"];
        gone(&mut build, Some((client, last)), &nodes, Duration::ZERO);
        build.ask(client, [build.get_children(""), build.get_data("/fresh")]);
        build.steps
    },
};

/// A node with a time to live goes when it had no child and no change for so long.
pub(super) const TIME_TO_LIVE: Case = Case {
    name: "time to live",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        let mode = CreateMode::PersistentWithTtl(TTL);
        let numbered = CreateMode::PersistentSequentialWithTtl(TTL);
        let never = CreateMode::PersistentWithTtl(Duration::ZERO);
        let long = CreateMode::PersistentWithTtl(Duration::from_millis(1 << 40));
        build.ask(
            client,
            [build.create("/never", never), build.create("/long", long)],
        );
        build.ask(
            client,
            [build.create("/n-", numbered), build.create("/parent", mode)],
        );
        build.ask(client, [build.create("/parent/x", CreateMode::Persistent)]);
        build.ask(
            client,
            [build.exists("/n-0000000000"), build.get_children("")],
        );
        gone(&mut build, None, &["/n-0000000000"], TTL);
        build.ask(client, [build.get_data("/parent")]);
        let last = build.delete("/parent/x");
        gone(
            &mut build,
            Some((client, last)),
            &["/parent"],
            Duration::ZERO,
        );
        build.ask(client, [build.get_children("")]);
        build.steps
    },
};

/// By default there are no nodes with a time to live. That is looked at before anything else; containers there are.
pub(super) const NO_TIME_TO_LIVE: Case = Case {
    name: "no time to live by default",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(servers - 1);
        let (mode, numbered) = (
            CreateMode::PersistentWithTtl(TTL),
            CreateMode::PersistentSequentialWithTtl(TTL),
        );
        let never = CreateMode::PersistentWithTtl(Duration::ZERO);
        build.ask(
            client,
            [build.create("/n-", numbered), build.create("/a", mode)],
        );
        build.ask(
            client,
            [build.create("/none/a", mode), build.create("/a//b", never)],
        );
        build.ask(client, [build.create("/box", CreateMode::Container)]);
        let op = |path, mode| Op::Create {
            path,
            data: Data::NULL,
            mode,
            acl: Acl::OPEN,
        };
        let stays = CreateMode::Persistent;
        let (one, two) = (op(build.path("/b"), stays), op(build.path("/c"), mode));
        build.ask(client, [Request::Multi([one.clone(), two.clone()].into())]);
        build.ask(client, [Request::Multi([two, one].into())]);
        build.ask(client, [build.get_children2("")]);
        build.steps
    },
};

/// A parent that is a container, and its container, go when the last child has; the next client creates them again, and
/// the numbers begin again.
pub(super) const PARENTS: Case = Case {
    name: "parents that go",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        let (container, ticket) = (CreateMode::Container, CreateMode::EphemeralSequential);
        for _ in 0..2 {
            build.ask(client, [build.create("/locks/a/_c_x-lock-", ticket)]);
            build.ask(client, [build.exists("/locks"), build.exists("/locks/a")]);
            build.ask(client, [build.create("/locks", container)]);
            build.ask(client, [build.create("/locks/a", container)]);
            build.ask(client, [build.create("/locks/a/_c_x-lock-", ticket)]);
            build.ask(client, [build.get_children2("/locks/a")]);
            let last = build.delete("/locks/a/_c_x-lock-0000000000");
            let nodes = ["/locks/a", "/locks"];
            gone(&mut build, Some((client, last)), &nodes, Duration::ZERO);
        }
        build.steps
    },
};

/// Asks, and waits until nodes are gone: they may be before another answer comes.
fn gone(build: &mut Build, first: Option<(Client, Request)>, nodes: &[&str], timeout: Duration) {
    let nodes = nodes.iter().map(|path| build.path(path)).collect();
    build.steps.push(Step::Silence {
        clients: Vec::new(),
        cut: false,
        first,
        nodes,
        timeout,
    });
}

/// A request of a mebibyte is read; one that is longer costs the connection, and does nothing.
pub(super) const TOO_LONG: Case = Case {
    name: "too long a request",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        for place in 0..servers {
            let client = build.client(place);
            let path = build.path("");
            // Type, number, path, length of the data, and version.
            let rest = 4 + 4 + 4 + path.len() + 4 + 4;
            let longest = 0xf_ffff - rest;
            for length in [longest - 1, longest, longest + 1] {
                build.ask(
                    client,
                    [Request::SetData {
                        path: path.clone(),
                        data: vec![b'x'; length].into(),
                        version: None,
                    }],
                );
            }
            let back = build.resume(client, place, true);
            build.ask(back, [build.get_data("")]);
        }
        build.steps
    },
};
