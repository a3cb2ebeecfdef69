//! Quotas.

use picklock_clients::zookeeper::{Acl, CreateMode, Data, Path, Request};

use super::{Build, Case};
use crate::zookeeper::step::Client;

/// A soft limit refuses nothing, a hard one does; what there is is counted either way.
pub(super) const QUOTAS: Case = Case {
    name: "quotas",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(0);
        let ephemeral = CreateMode::Ephemeral;
        build.ask(client, [data_of(&build, "", b"12345")]);
        for node in ["/soft", "/hard", "/hardly"] {
            build.ask(client, [build.create(node, CreateMode::Persistent)]);
        }
        build.ask(client, [build.create("/hard/early", ephemeral)]);
        build.ask(client, [data_of(&build, "/hard/early", b"12345")]);
        let (soft, hard) = (
            "count=2,bytes=10",
            "count=-1,bytes=-1;byteHardLimit=20,countHardLimit=3",
        );
        limit(&mut build, client, "/soft", soft);
        limit(&mut build, client, "/hard", hard);
        for node in [
            "/soft/a",
            "/soft/b",
            "/soft/c",
            "/hard/a",
            "/hard/b",
            "/hardly/a",
        ] {
            build.ask(client, [build.create(node, ephemeral)]);
            build.ask(client, [data_of(&build, node, b"12345678")]);
            sums(&mut build, client);
        }
        // Of data, what it has more than before.
        for length in [10, 11, 15, 16, 5, 15] {
            let data = vec![b'x'; length];
            build.ask(client, [data_of(&build, "/hard/a", &data)]);
        }
        // What is looked at first: the quota, then the version.
        let mut wrong = data_of(&build, "/hard/a", &[b'x'; 30]);
        if let Request::SetData { version, .. } = &mut wrong {
            *version = Some(77);
        }
        build.ask(client, [wrong]);
        sums(&mut build, client);
        build.ask(client, [build.delete("/hard/early")]);
        sums(&mut build, client);
        build.ask(client, [build.create("/hard/b", ephemeral)]);
        build.ask(client, [build.create("/hard/c", ephemeral)]);
        let limits = quota(&build, "/hard/zookeeper_limits");
        build.ask(
            client,
            [Request::Delete {
                path: limits,
                version: None,
            }],
        );
        build.ask(client, [build.create("/hard/c", ephemeral)]);
        sums(&mut build, client);
        build.steps
    },
};

fn data_of(build: &Build, path: &str, data: &[u8]) -> Request {
    Request::SetData {
        path: build.path(path),
        data: Data::from(data),
        version: None,
    }
}

/// The path of a node below `/zookeeper/quota`.
fn quota(build: &Build, path: &str) -> Path {
    format!("/zookeeper/quota{}", build.path(path)).into()
}

/// Sets a limit, as ZooKeeper's shell does it.
fn limit(build: &mut Build, client: Client, path: &str, limit: &str) {
    let make = |path: Path, data: &str| {
        let mode = CreateMode::Persistent;
        Request::create(path, data.as_bytes(), mode, Acl::OPEN, false)
    };
    let nodes = [("", ""), (path, "")].map(|(below, data)| make(quota(build, below), data));
    for node in nodes {
        build.ask(client, [node]);
    }
    let limits = quota(build, &format!("{path}/zookeeper_limits"));
    build.ask(client, [make(limits, limit)]);
    let stats = quota(build, &format!("{path}/zookeeper_stats"));
    build.ask(client, [make(stats, "count=0,bytes=0")]);
}

/// Looks at what there is, and at the stats of these nodes.
fn sums(build: &mut Build, client: Client) {
    for path in ["/soft/zookeeper_stats", "/hard/zookeeper_stats"] {
        let path = quota(build, path);
        build.ask(client, [Request::GetData { path, watch: true }]);
    }
}
