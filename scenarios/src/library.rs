//! The scenarios that come with picklock.

/// Name and text of every scenario of the library, sorted by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("redis/clock-jump", include_str!("../redis/clock-jump.toml")),
    ("redis/eviction", include_str!("../redis/eviction.toml")),
    (
        "redis/hidden-retry",
        include_str!("../redis/hidden-retry.toml"),
    ),
    (
        "redis/holder-crash",
        include_str!("../redis/holder-crash.toml"),
    ),
    (
        "redis/late-release",
        include_str!("../redis/late-release.toml"),
    ),
    (
        "redis/look-then-delete",
        include_str!("../redis/look-then-delete.toml"),
    ),
    (
        "redis/lost-set-reply",
        include_str!("../redis/lost-set-reply.toml"),
    ),
    (
        "redis/lost-setnx-reply",
        include_str!("../redis/lost-setnx-reply.toml"),
    ),
    ("redis/pause", include_str!("../redis/pause.toml")),
    (
        "redis/redlock-clock-jump",
        include_str!("../redis/redlock-clock-jump.toml"),
    ),
    (
        "redis/redlock-minority-jump",
        include_str!("../redis/redlock-minority-jump.toml"),
    ),
    (
        "redis/redlock-pause",
        include_str!("../redis/redlock-pause.toml"),
    ),
    (
        "redis/redlock-restart",
        include_str!("../redis/redlock-restart.toml"),
    ),
    (
        "redis/redlock-slow",
        include_str!("../redis/redlock-slow.toml"),
    ),
    ("redis/restart", include_str!("../redis/restart.toml")),
    (
        "redis/setnx-expire",
        include_str!("../redis/setnx-expire.toml"),
    ),
    ("redis/stock", include_str!("../redis/stock.toml")),
    ("redis/swarm", include_str!("../redis/swarm.toml")),
    (
        "zookeeper/cancelled-waiter",
        include_str!("../zookeeper/cancelled-waiter.toml"),
    ),
    (
        "zookeeper/curator-cut-off-holder",
        include_str!("../zookeeper/curator-cut-off-holder.toml"),
    ),
    (
        "zookeeper/curator-lost-create-reply",
        include_str!("../zookeeper/curator-lost-create-reply.toml"),
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
