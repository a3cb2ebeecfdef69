//! Sessions that expire, and servers that die.

use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode};

use super::{Build, Case};
use crate::zookeeper::step::{Client, Step};

/// A short timeout: two ticks.
const SHORT: Duration = Duration::from_secs(1);

/// A cut client's ephemeral nodes go when its session expires, and their watchers are notified.
pub(super) const EXPIRY: Case = Case {
    name: "expiry of a cut client",
    servers: 1,
    steps: |root, first, servers| expiry(Build::new(root, first, servers), servers, true),
};

/// The same for one that is connected and says nothing.
pub(super) const SILENT_EXPIRY: Case = Case {
    name: "expiry of a silent client",
    servers: 1,
    steps: |root, first, servers| expiry(Build::new(root, first, servers), servers, false),
};

fn expiry(mut build: Build, servers: usize, cut: bool) -> Vec<Step> {
    let watcher = build.client(servers - 1);
    for place in 0..servers {
        let dying = build.open(place, SHORT);
        let (one, two) = (format!("/one-{place}"), format!("/two-{place}"));
        let ephemeral = CreateMode::Ephemeral;
        build.ask(
            dying,
            [build.create(&one, ephemeral), build.create(&two, ephemeral)],
        );
        build.ask(watcher, [build.exists(&one), build.get_children("")]);
        build.steps.push(Step::Silence {
            clients: vec![dying],
            cut,
            first: None,
            nodes: vec![build.path(&one), build.path(&two)],
            timeout: SHORT,
        });
        build.ask(watcher, [build.get_children(""), build.get_data(&two)]);
        // It is told that it is gone.
        build.resume(dying, place, !cut);
    }
    build.steps
}

/// The leader dies: every connection ends, every session and its nodes live on, with their watches set again.
pub(super) const LEADER_KILLED: Case = Case {
    name: "leader killed",
    servers: 3,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        killed(&mut build, first, servers, Step::KillLeader);
        build.steps
    },
};

/// A new leader tells its clients of its epoch before there was a transaction in it, and a follower does not know it.
pub(super) const NEW_EPOCH: Case = Case {
    name: "the epoch of a new leader",
    servers: 3,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let (moving, staying) = (build.client(1), build.client(0));
        build.steps.push(Step::KillLeader);
        let at_leader = build.resume(moving, 1, true);
        build.ask(at_leader, [build.get_children("")]);
        let at_follower = build.resume(staying, 0, true);
        build.ask(at_follower, [build.get_children("")]);
        // It has seen the epoch, so the follower refuses it, until there is a transaction.
        let refused = build.resume(at_leader, 0, true);
        build.ask(refused, [build.get_children("")]);
        build.ask(at_follower, [build.create("/new", CreateMode::Persistent)]);
        let moved = build.resume(at_leader, 0, true);
        build.ask(moved, [build.get_children("")]);
        build.steps.push(Step::RestartKilled);
        build.steps
    },
};

/// A server that stands alone dies and comes back: it has what was written, and its sessions have their full time
/// again.
pub(super) const RESTARTED: Case = Case {
    name: "a server that stands alone comes back",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        if servers > 1 {
            return build.steps;
        }
        let sequential = CreateMode::EphemeralSequential;
        let (one, other) = (build.client(0), build.client(0));
        build.authenticate(one, "digest", "alice:a");
        for client in [one, other] {
            build.ask(
                client,
                [build.create("/lock-", sequential), build.get_children("")],
            );
        }
        build.ask(one, [build.create_for("/mine", Acl::creator_all())]);
        build.ask(other, [build.create("/box", CreateMode::Container)]);
        build.ask(other, [build.exists("/lock-0000000000")]);
        for _ in 0..2 {
            build.steps.push(Step::KillLeader);
            build.steps.push(Step::RestartKilled);
        }
        let back = build.resume(other, 0, true);
        build.steps.push(Step::SetWatches {
            client: back,
            answers_ago: 0,
            data: vec![build.path("/lock-0000000000")],
            exist: vec![build.path("/mine"), build.path("/none")],
            child: vec![build.path("")],
            persistent: Vec::new(),
            recursive: Vec::new(),
        });
        build.ask(
            back,
            [build.create("/lock-", sequential), build.get_children("")],
        );
        let new = build.client(0);
        build.ask(
            new,
            [build.create("/lock-", sequential), build.get_data("/mine")],
        );
        let also = build.resume(one, 0, true);
        build.ask(also, [build.delete("/lock-0000000000")]);
        build.resume(Client(first), 0, true);
        build.steps
    },
};

/// A follower dies: only its connections end.
pub(super) const FOLLOWER_KILLED: Case = Case {
    name: "follower killed",
    servers: 3,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        killed(&mut build, first, servers, Step::KillFollower);
        build.steps
    },
};

fn killed(build: &mut Build, first: usize, servers: usize, fault: Step) {
    let sequential = CreateMode::EphemeralSequential;
    let clients: Vec<Client> = (0..servers).map(|place| build.client(place)).collect();
    for client in &clients {
        build.ask(
            *client,
            [build.create("/lock-", sequential), build.get_children("")],
        );
    }
    build.ask(
        clients[0],
        [build.exists("/lock-0000000001"), build.exists("/none")],
    );
    build.steps.push(fault.clone());
    // Server 2 is not killed in either case: with it the sessions go on.
    let place = 1;
    let resumed: Vec<Client> = clients
        .iter()
        .map(|client| build.resume(*client, place, true))
        .collect();
    build.steps.push(Step::SetWatches {
        client: resumed[0],
        answers_ago: 0,
        data: vec![build.path("/lock-0000000001"), build.path("/gone")],
        exist: vec![build.path("/none"), build.path("/lock-0000000000")],
        child: vec![build.path("")],
        persistent: Vec::new(),
        recursive: Vec::new(),
    });
    build.ask(
        resumed[1],
        [build.get_children(""), build.delete("/lock-0000000001")],
    );
    build.ask(
        resumed[2],
        [
            build.create("/lock-", sequential),
            build.create("/none", CreateMode::Persistent),
        ],
    );
    build.steps.push(Step::RestartKilled);
    for server in 0..servers {
        // The first connections: a client that was cut off comes back where it was.
        let back = build.resume(Client(first + server), server, true);
        build.ask(
            back,
            [build.get_children(""), build.get_data("/lock-0000000000")],
        );
    }
    let late = build.resume(resumed[0], 0, true);
    build.ask(
        late,
        [build.create("/lock-", sequential), build.get_children("")],
    );
}
