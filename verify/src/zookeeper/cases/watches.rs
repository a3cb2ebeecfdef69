//! Watches that stay, and the taking back of watches.

use picklock_clients::zookeeper::{Acl, CreateMode, ReadOp, Request, WatchSide};

use super::{Build, Case};
use crate::zookeeper::step::{Client, Step};

const PERSISTENT: CreateMode = CreateMode::Persistent;

/// A watch that stays gets every change; a recursive one gets everything below it, but no list of children.
pub(super) const LASTING: Case = Case {
    name: "watches that stay",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let plain = build.client(0);
        let recursive = build.client(servers - 1);
        let both = build.client(servers / 2);
        add(&mut build, plain, "/a", false);
        add(&mut build, recursive, "/a", true);
        add(&mut build, recursive, "/a/b/c", true);
        add(&mut build, both, "/a", false);
        add(&mut build, both, "", true);
        changes(&mut build, plain);
        changes(&mut build, plain);
        // Of several kinds on one path the last counts, and a read is a kind too.
        add(&mut build, plain, "/a", true);
        add(&mut build, recursive, "/a", false);
        build.ask(both, [build.create("/a", PERSISTENT), build.get_data("/a")]);
        build.ask(both, [build.get_children("/a"), build.delete("/a")]);
        changes(&mut build, both);
        build.steps
    },
};

/// Watches are taken back one side at a time; there is nothing to take back where there is no watch.
pub(super) const TAKEN_BACK: Case = Case {
    name: "watches taken back",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        let other = build.client(servers - 1);
        let sides = [WatchSide::Children, WatchSide::Data, WatchSide::Any];
        build.ask(client, [build.create("/a", PERSISTENT)]);
        for side in sides {
            build.ask(other, [build.get_data("/a"), build.get_children("/a")]);
            build.ask(client, [build.get_data("/a"), build.get_children("/a")]);
            take_back(&mut build, client, "/a", side);
            build.ask(
                client,
                [build.create("/a/x", PERSISTENT), build.delete("/a/x")],
            );
            take_back(&mut build, client, "/a", WatchSide::Any);
        }
        for recursive in [false, true] {
            for side in sides {
                add(&mut build, client, "/a", recursive);
                take_back(&mut build, client, "/a", side);
                build.ask(
                    other,
                    [build.create("/a/x", PERSISTENT), build.delete("/a/x")],
                );
                build.ask(other, [build.delete("/a"), build.create("/a", PERSISTENT)]);
                for side in sides {
                    take_back(&mut build, client, "/a", side);
                }
            }
        }
        take_back(&mut build, client, "/none", WatchSide::Any);
        build.steps
    },
};

/// Watches that stay come along to another connection; nothing is made up for what was missed.
pub(super) const BROUGHT_ALONG: Case = Case {
    name: "watches that stay come along",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        let other = build.client(servers - 1);
        add(&mut build, client, "/a", false);
        add(&mut build, client, "", true);
        changes(&mut build, other);
        let back = build.resume(client, servers - 1, true);
        changes(&mut build, other);
        build.steps.push(Step::SetWatches {
            client: back,
            answers_ago: 0,
            data: Vec::new(),
            exist: Vec::new(),
            child: Vec::new(),
            persistent: vec![build.path("/a")],
            recursive: vec![build.path("")],
        });
        changes(&mut build, other);
        for side in [WatchSide::Children, WatchSide::Data, WatchSide::Any] {
            take_back(&mut build, back, "", side);
        }
        build.steps
    },
};

/// To ask whether there is a watch changes nothing: if one watcher of several is taken back, the others stay.
pub(super) const ASKED_FOR: Case = Case {
    name: "watches asked for",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(servers - 1);
        let other = build.client(servers - 1);
        let sides = [WatchSide::Children, WatchSide::Data, WatchSide::Any];
        build.ask(client, [build.create("/a", PERSISTENT)]);
        for (round, path) in ["/a", "/a/b", "/none"].into_iter().enumerate() {
            for side in sides {
                ask_for(&mut build, client, path, side);
            }
            match round {
                0 => build.ask(client, [build.get_children(path)]),
                1 => build.ask(client, [build.exists(path)]),
                _ => add(&mut build, client, path, true),
            }
            for side in sides {
                ask_for(&mut build, client, path, side);
            }
            // Before 3.9 a client without a watch gets the answer for the watches of others.
            for side in sides {
                ask_for(&mut build, other, path, side);
            }
            changes(&mut build, client);
            for side in sides {
                ask_for(&mut build, client, path, side);
            }
        }
        build.steps
    },
};

/// Several reads in one request: each has an answer of its own, and none leaves a watch.
pub(super) const SEVERAL: Case = Case {
    name: "several reads in one",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let (client, other) = (build.client(0), build.client(servers - 1));
        for path in ["/a", "/a/b", "/a/c"] {
            build.ask(client, [build.create(path, PERSISTENT)]);
        }
        build.authenticate(other, "digest", "alice:a");
        build.ask(other, [build.create_for("/mine", Acl::creator_all())]);
        for client in [client, other] {
            for paths in [
                &["/a", "/a/b", "/none", "/mine", ""][..],
                &["/mine"],
                &["/none", "/none"],
                &["//", "/a/"],
                &[],
            ] {
                let data = paths.iter().map(|path| ReadOp::Data(build.path(path)));
                let children = paths.iter().map(|path| ReadOp::Children(build.path(path)));
                let both: Vec<ReadOp> = data.chain(children).collect();
                build.ask(client, [Request::MultiRead(both.into())]);
            }
        }
        // Behind a write of its own, in one go.
        let own = [ReadOp::Children(build.path("/a"))];
        build.ask(
            other,
            [
                build.create("/a/d", PERSISTENT),
                Request::MultiRead(own.into()),
                build.delete("/a/d"),
            ],
        );
        build.steps
    },
};

/// The nodes of a session, by the beginnings of their paths.
pub(super) const EPHEMERALS: Case = Case {
    name: "nodes of a session",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        for place in 0..servers {
            let client = build.client(place);
            for name in ["a", "ab", "b"] {
                let path = format!("/{name}{place}");
                build.ask(client, [build.create(&path, CreateMode::Ephemeral)]);
            }
            build.ask(client, [build.create(&format!("/p{place}"), PERSISTENT)]);
            for prefix in [build.path("/a"), build.path("/ab"), build.path("/none")] {
                build.ask(client, [Request::GetEphemerals { prefix }]);
            }
            for prefix in ["", " ", "/", " / ", "x", "/s"] {
                let prefix = prefix.into();
                build.ask(client, [Request::GetEphemerals { prefix }]);
            }
        }
        build.steps
    },
};

fn add(build: &mut Build, client: Client, path: &str, recursive: bool) {
    let path = build.path(path);
    build.ask(client, [Request::AddWatch { path, recursive }]);
}

fn take_back(build: &mut Build, client: Client, path: &str, side: WatchSide) {
    let path = build.path(path);
    let local = false;
    build.ask(client, [Request::RemoveWatches { path, side, local }]);
}

fn ask_for(build: &mut Build, client: Client, path: &str, side: WatchSide) {
    let (path, local) = (build.path(path), false);
    build.ask(client, [Request::CheckWatches { path, side, local }]);
}

/// All that can happen to a node and to one below it.
fn changes(build: &mut Build, client: Client) {
    for path in ["/a", "/a/b", "/a/b/c"] {
        build.ask(client, [build.create(path, PERSISTENT)]);
        let request = Request::SetData {
            path: build.path(path),
            data: b"x".into(),
            version: None,
        };
        build.ask(client, [request]);
    }
    for path in ["/a/b/c", "/a/b", "/a"] {
        build.ask(client, [build.delete(path)]);
    }
}
