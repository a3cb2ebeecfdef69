//! The scenarios that come with picklock.

/// Name and text of every scenario of the library, sorted by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    (
        "zookeeper/cancelled-waiter",
        include_str!("../zookeeper/cancelled-waiter.toml"),
    ),
    (
        "zookeeper/delayed-write",
        include_str!("../zookeeper/delayed-write.toml"),
    ),
    (
        "zookeeper/gc-pause",
        include_str!("../zookeeper/gc-pause.toml"),
    ),
    ("zookeeper/herd", include_str!("../zookeeper/herd.toml")),
    (
        "zookeeper/holder-crash",
        include_str!("../zookeeper/holder-crash.toml"),
    ),
    (
        "zookeeper/holder-expiry",
        include_str!("../zookeeper/holder-expiry.toml"),
    ),
    (
        "zookeeper/isolated-follower",
        include_str!("../zookeeper/isolated-follower.toml"),
    ),
    (
        "zookeeper/leader-crash",
        include_str!("../zookeeper/leader-crash.toml"),
    ),
    (
        "zookeeper/lookup-without-sync",
        include_str!("../zookeeper/lookup-without-sync.toml"),
    ),
    (
        "zookeeper/lost-create-reply",
        include_str!("../zookeeper/lost-create-reply.toml"),
    ),
    (
        "zookeeper/lost-delete-reply",
        include_str!("../zookeeper/lost-delete-reply.toml"),
    ),
    (
        "zookeeper/parent-recreated",
        include_str!("../zookeeper/parent-recreated.toml"),
    ),
    (
        "zookeeper/read-then-write",
        include_str!("../zookeeper/read-then-write.toml"),
    ),
    (
        "zookeeper/session-killed",
        include_str!("../zookeeper/session-killed.toml"),
    ),
    ("zookeeper/stock", include_str!("../zookeeper/stock.toml")),
    (
        "zookeeper/stock-pause",
        include_str!("../zookeeper/stock-pause.toml"),
    ),
    ("zookeeper/swarm", include_str!("../zookeeper/swarm.toml")),
    (
        "zookeeper/unsorted-children",
        include_str!("../zookeeper/unsorted-children.toml"),
    ),
    (
        "zookeeper/waiter-death",
        include_str!("../zookeeper/waiter-death.toml"),
    ),
    (
        "zookeeper/waiter-expiry",
        include_str!("../zookeeper/waiter-expiry.toml"),
    ),
];
