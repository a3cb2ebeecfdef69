//! Data that is `null`, and what there is to know of children.

use picklock_clients::zookeeper::{Acl, CreateMode, Data, Op, Path, ReadOp, Request, Version};

use super::{Build, Case};

/// `null` is not the same as no bytes: a client reads what was set, and both have no length.
pub(super) const NULL: Case = Case {
    name: "null data",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let (client, other) = (build.client(0), build.client(servers - 1));
        let create = |build: &Build, path: &str, data: Data, mode| {
            Request::create(build.path(path), data, mode, Acl::OPEN, true)
        };
        let modes = [
            CreateMode::Persistent,
            CreateMode::EphemeralSequential,
            CreateMode::Container,
        ];
        for (number, mode) in modes.into_iter().enumerate() {
            for (name, data) in [("null", Data::NULL), ("empty", Data::empty())] {
                let path = format!("/{name}-{number}");
                build.ask(client, [create(&build, &path, data, mode)]);
                build.ask(other, [build.get_data(&path), build.exists(&path)]);
            }
        }
        for data in [Data::NULL, Data::empty(), Data::from(b"x"), Data::NULL] {
            build.ask(client, [build.set_data("/empty-0", data)]);
            build.ask(
                other,
                [build.get_data("/empty-0"), build.exists("/empty-0")],
            );
        }
        let path = build.path("/null-0");
        build.ask(
            client,
            [several(&path, Data::empty()), build.get_data("/null-0")],
        );
        build.ask(
            client,
            [several(&path, Data::NULL), build.get_data("/null-0")],
        );
        let made = Op::Create {
            path: build.path("/made"),
            data: Data::NULL,
            mode: CreateMode::Ephemeral,
            acl: Acl::OPEN,
        };
        build.ask(client, [Request::Multi([made].into())]);
        let read = [ReadOp::Data(path), ReadOp::Data(build.path("/made"))];
        build.ask(other, [Request::MultiRead(read.into())]);
        // A server that has it from its log and its snapshot gives back the same.
        let moved = build.resume(client, servers - 1, true);
        build.ask(moved, [build.get_data("/null-0"), build.get_data("/made")]);
        build.steps
    },
};

/// Sets data in a `multi`.
fn several(path: &Path, data: Data) -> Request {
    let version: Option<Version> = None;
    let path = Path::clone(path);
    Request::Multi(
        [Op::SetData {
            path,
            data,
            version,
        }]
        .into(),
    )
}

/// `getChildren2` answers the stat of the same moment, and leaves the same watch; `create2` answers that of the new
/// node.
pub(super) const WITH_STAT: Case = Case {
    name: "children with their stat",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let (client, other) = (build.client(0), build.client(servers - 1));
        build.ask(
            client,
            [
                build.get_children2("/none"),
                build.create("/box", CreateMode::Container),
            ],
        );
        build.ask(
            other,
            [build.get_children2("/box"), build.get_children2("/box")],
        );
        for path in ["/box/a", "/box/b"] {
            build.ask(client, [build.create(path, CreateMode::Ephemeral)]);
            build.ask(
                other,
                [build.get_children2("/box"), build.get_children("/box")],
            );
        }
        build.ask(
            client,
            [build.delete("/box/a"), build.get_children2("/box")],
        );
        build.ask(client, [build.delete("/box/b"), build.delete("/box")]);
        build.ask(
            other,
            [build.get_children2("/box"), build.get_children2("")],
        );
        let plain = |mode| Request::create(build.path("/plain-"), b"x", mode, Acl::OPEN, false);
        let (one, two) = (
            CreateMode::PersistentSequential,
            CreateMode::EphemeralSequential,
        );
        let requests = [plain(one), plain(two), build.create("/stat-", two)];
        build.ask(client, requests);
        build.steps
    },
};

/// How many nodes are below a node, at any depth.
pub(super) const COUNTED: Case = Case {
    name: "all children counted",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        let count = |path: Path| Request::GetAllChildrenNumber { path };
        build.ask(client, [count(build.path("/none")), count(build.path(""))]);
        for path in ["/a", "/a/b", "/a/b/c", "/ab", "/a/b/d"] {
            build.ask(client, [build.create(path, CreateMode::Persistent)]);
        }
        let only_making = Acl::of(
            picklock_clients::zookeeper::Permissions(4),
            "world",
            "anyone",
        );
        build.ask(client, [build.create_for("/hidden", only_making)]);
        build.ask(client, [build.create("/hidden/x", CreateMode::Persistent)]);
        for path in ["", "/a", "/a/b", "/a/b/c", "/ab", "/hidden"] {
            build.ask(client, [count(build.path(path))]);
        }
        build.ask(client, [count(build.path("/a/")), count(build.path("//a"))]);
        // What the last parts left of themselves is the same on both sides.
        build.ask(
            client,
            [count("/zookeeper".into()), count("zookeeper".into())],
        );
        build.steps
    },
};
