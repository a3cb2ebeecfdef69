//! Access control lists.

use picklock_clients::zookeeper::{Acl, CreateMode, Op, Path, Permissions, Request, Version};

use super::{Build, Case};

/// A node for its creator: other clients can do nothing with it, until they say that they are the same.
pub(super) const CREATOR: Case = Case {
    name: "all for the creator",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let (maker, other) = (build.client(0), build.client(servers - 1));
        let mine = || Acl::creator_all();
        build.ask(maker, [build.create_for("/early", mine())]);
        build.authenticate(maker, "digest", "alice:a");
        build.ask(maker, [build.create_for("/box", mine())]);
        build.ask(
            maker,
            [build.create_for("/box/x", mine()), get_acl(&build, "/box")],
        );
        let tried = |build: &mut Build| {
            build.ask(other, [build.get_children("/box"), build.get_data("/box")]);
            build.ask(other, [build.exists("/box"), get_acl(build, "/box")]);
            build.ask(other, [build.create("/box/y", CreateMode::Ephemeral)]);
            build.ask(other, [build.delete("/box/x"), set_data(build, "/box")]);
            let check = Request::Multi([check(build, "/box")].into());
            build.ask(other, [check]);
            build.ask(other, [set_acl(build, "/box", Acl::OPEN, None)]);
        };
        tried(&mut build);
        build.authenticate(other, "digest", "alice:wrong");
        tried(&mut build);
        build.authenticate(other, "digest", "alice:a");
        tried(&mut build);
        // What it has said counts for its connection alone.
        let moved = build.resume(maker, servers - 1, true);
        build.ask(moved, [build.create_for("/late", mine())]);
        build.authenticate(moved, "digest", "alice:a");
        build.authenticate(moved, "digest", "bob:b");
        build.ask(moved, [build.create_for("/late", mine())]);
        build.ask(moved, [get_acl(&build, "/late")]);
        build.steps
    },
};

/// A client is known by its address and by the names that it has said, without what is secret.
pub(super) const KNOWN_AS: Case = Case {
    name: "who a client is",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(servers - 1);
        build.ask(client, [Request::WhoAmI]);
        for said in ["alice:a", "bob:b", "alice:a", "alice:other", "carol"] {
            build.authenticate(client, "digest", said);
            build.ask(client, [Request::WhoAmI]);
        }
        let moved = build.resume(client, 0, true);
        build.ask(moved, [Request::WhoAmI]);
        build.steps
    },
};

/// Each permission, and what it is good for.
pub(super) const PERMISSIONS: Case = Case {
    name: "permissions",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        for permission in 0..32 {
            let node = format!("/n{permission}");
            let child = format!("{node}/x");
            let only = Acl::of(Permissions(permission), "world", "anyone");
            build.ask(client, [build.create_for(&node, Acl::OPEN)]);
            build.ask(client, [build.create_for(&child, Acl::OPEN)]);
            build.ask(client, [set_acl(&build, &node, only, Some(0))]);
            build.ask(
                client,
                [
                    build.get_data(&node),
                    build.get_children(&node),
                    build.exists(&node),
                ],
            );
            build.ask(client, [get_acl(&build, &node), set_data(&build, &node)]);
            build.ask(client, [Request::Multi([check(&build, &node)].into())]);
            build.ask(client, [build.create_for(&format!("{node}/y"), Acl::OPEN)]);
            build.ask(
                client,
                [build.delete(&child), build.create_for(&child, Acl::OPEN)],
            );
            build.ask(client, [set_acl(&build, &node, Acl::OPEN, Some(0))]);
            build.ask(client, [set_acl(&build, &node, Acl::OPEN, Some(1))]);
            build.ask(client, [build.get_data(&node)]);
        }
        build.steps
    },
};

/// A failed authentication is answered, and ends the connection; the session goes on.
pub(super) const DISBELIEVED: Case = Case {
    name: "failed authentication",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        build.ask(client, [build.create("/e", CreateMode::Ephemeral)]);
        build.authenticate(client, "magic", "wand");
        let back = build.resume(client, 0, true);
        build.ask(back, [build.exists("/e")]);
        build.authenticate(back, "ip", "anything");
        build.ask(back, [build.create_for("/none", Acl::creator_all())]);
        let empty = || Acl::new([]);
        build.ask(back, [build.create_for("/none", empty())]);
        // What is looked at first: the list, then the parent, then the name.
        build.ask(back, [build.create_for("/no/ne", empty())]);
        build.ask(back, [build.create_for("/no/..", Acl::OPEN)]);
        build.ask(back, [build.create_for("/a\0", empty())]);
        build.ask(back, [set_acl(&build, "/no", empty(), None)]);
        build.ask(back, [set_acl(&build, "/no/../x", empty(), None)]);
        build.ask(back, [set_acl(&build, "/no", Acl::OPEN, None)]);
        build.ask(back, [get_acl(&build, "/no"), get_acl(&build, "/no/..")]);
        build.ask(back, [get_acl(&build, "/e"), get_acl(&build, "/a\0")]);
        // Of ZooKeeper's own nodes one is closed to all.
        for path in ["/zookeeper/config", "/zookeeper/config/x"] {
            let (path, acl) = (Path::from(path), Acl::OPEN);
            build.ask(
                back,
                [Request::SetAcl {
                    path: path.clone(),
                    acl: acl.clone(),
                    version: None,
                }],
            );
            let request = Request::create(path, b"", CreateMode::Persistent, acl, false);
            build.ask(back, [request]);
        }
        build.steps
    },
};

fn get_acl(build: &Build, path: &str) -> Request {
    Request::GetAcl {
        path: build.path(path),
    }
}

fn set_acl(build: &Build, path: &str, acl: Acl, version: Option<Version>) -> Request {
    Request::SetAcl {
        path: build.path(path),
        acl,
        version,
    }
}

fn set_data(build: &Build, path: &str) -> Request {
    Request::SetData {
        path: build.path(path),
        data: b"new".into(),
        version: None,
    }
}

fn check(build: &Build, path: &str) -> Op {
    Op::Check {
        path: build.path(path),
        version: None,
    }
}
