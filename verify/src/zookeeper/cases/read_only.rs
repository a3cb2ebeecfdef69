//! Servers that find no leader, and answer reads.

use picklock_clients::zookeeper::{Acl, CreateMode, Op, ReadOp, Request, WatchSide};

use super::{Build, Case};
use crate::zookeeper::backend::ServerIndex;
use crate::zookeeper::step::{Client, Step};

/// The leader is left alone.
pub(super) const LEADER_ALONE: Case = Case {
    name: "a leader left alone answers reads",
    servers: 3,
    steps: |root, first, servers| left_alone(root, first, servers, servers - 1),
};

/// A follower is left alone.
pub(super) const FOLLOWER_ALONE: Case = Case {
    name: "a follower left alone answers reads",
    servers: 3,
    steps: |root, first, servers| left_alone(root, first, servers, 0),
};

/// A server that does not vote is left alone; it is the last.
pub(super) const OBSERVER_ALONE: Case = Case {
    name: "an observer left alone answers reads",
    servers: 4,
    steps: |root, first, servers| left_alone(root, first, servers, servers - 1),
};

fn left_alone(root: &str, first: usize, servers: usize, place: usize) -> Vec<Step> {
    let mut build = Build::new(root, first, servers);
    // With its first ephemeral node a real session becomes one of the ensemble.
    for server in 0..servers {
        let node = build.create(&format!("/first-{server}"), CreateMode::Ephemeral);
        build.ask(Client(first + server), [node]);
    }
    let (old, also) = (build.client(place), build.reader(place));
    for (client, name) in [(old, "/old"), (also, "/also")] {
        build.ask(client, [build.create(name, CreateMode::Ephemeral)]);
    }
    build.authenticate(old, "digest", "alice:a");
    build.ask(old, [build.create_for("/mine", Acl::creator_all())]);
    build.ask(
        old,
        [
            build.create("/a", CreateMode::Persistent),
            set(&build, "/a"),
        ],
    );
    build.steps.push(Step::Isolate {
        place: ServerIndex(place),
    });
    // A client that must be able to write is turned away, and so is one with a session of the ensemble.
    build.client(place);
    build.resume(old, place, true);
    build.resume_reader(also, place, false);
    build.reader((place + 1) % servers);
    let reader = build.reader(place);
    reads(&mut build, reader);
    refused(&mut build, reader);
    build.authenticate(reader, "digest", "alice:a");
    build.ask(reader, [build.get_data("/mine"), build.get_data("/a")]);
    let back = build.resume_reader(reader, place, false);
    build.ask(back, [build.get_children("")]);
    build.resume_reader(back, place, true);
    let gone = build.reader(place);
    build.ask(gone, [build.get_data("/a")]);
    build.steps.push(Step::Close { client: gone });
    build.resume_reader(gone, place, false);
    let stays = build.reader(place);
    build.ask(stays, [build.exists("/none"), build.get_children("/a")]);
    build.steps.push(Step::RestartKilled);
    // What began at a server without a leader is known nowhere; what was there before goes on.
    build.resume_reader(stays, place, false);
    build.resume_reader(stays, (place + 1) % servers, false);
    let old = build.resume(old, (place + 1) % servers, true);
    build.ask(old, [build.get_children(""), set(&build, "/a")]);
    let also = build.resume_reader(also, place, false);
    build.ask(also, [build.delete("/also"), build.get_children("")]);
    for server in 0..servers {
        let client = build.resume(Client(first + server), server, true);
        let node = format!("/first-{server}");
        build.ask(client, [build.get_data(&node), build.delete(&node)]);
    }
    build.steps
}

fn set(build: &Build, path: &str) -> Request {
    Request::SetData {
        path: build.path(path),
        data: b"x".into(),
        version: None,
    }
}

/// Everything that needs no leader.
fn reads(build: &mut Build, client: Client) {
    build.ask(client, [build.get_data("/a"), build.get_children("")]);
    build.ask(client, [build.exists("/a"), build.exists("/none")]);
    build.ask(client, [build.get_data("/none"), build.get_data("/mine")]);
    build.ask(client, [build.get_data("/old"), build.get_data("/first-1")]);
    let several = [
        ReadOp::Data(build.path("/a")),
        ReadOp::Children(build.path("/none")),
        ReadOp::Children(build.path("")),
    ];
    let path = build.path("/a");
    for request in [
        Request::MultiRead(several.into()),
        Request::GetAcl { path: path.clone() },
        Request::GetEphemerals { prefix: "/".into() },
        Request::AddWatch {
            path: path.clone(),
            recursive: true,
        },
        Request::CheckWatches {
            path: path.clone(),
            side: WatchSide::Any,
            local: false,
        },
        Request::RemoveWatches {
            path,
            side: WatchSide::Any,
            local: false,
        },
    ] {
        build.ask(client, [request]);
    }
}

/// Everything that needs one, also if it would be refused anyhow.
fn refused(build: &mut Build, client: Client) {
    let check = Op::Check {
        path: build.path("/a"),
        version: None,
    };
    for request in [
        build.create("/b", CreateMode::Persistent),
        build.create("/b", CreateMode::EphemeralSequential),
        build.create("/b", CreateMode::Container),
        build.create("//", CreateMode::Persistent),
        build.delete("/a"),
        build.delete("/none"),
        set(build, "/a"),
        set(build, "/none"),
        Request::SetAcl {
            path: build.path("/a"),
            acl: Acl::OPEN,
            version: None,
        },
        Request::Multi([check].into()),
        Request::Multi([].into()),
        Request::Sync {
            path: build.path(""),
        },
    ] {
        build.ask(client, [request]);
    }
}
