//! The keys of `[service.zookeeper]`.

use super::key::{Holds, Key, KeyTable};
use super::words;

/// [service.zookeeper].
pub(crate) const ZOOKEEPER: KeyTable = KeyTable {
    title: "[service.zookeeper]",
    about: "The ensemble, and how its clients are set.",
    keys: ZOOKEEPER_KEYS,
};

const ZOOKEEPER_KEYS: &[Key] = &[
    Key::new(
        "servers",
        Holds::OneOrList(&Holds::OneOf(&[1, 3, 5, 7])),
        "3",
        "Servers that vote: 1, 3, 5, or 7.",
    ),
    Key::new(
        "observers",
        Holds::Whole(0, 5),
        "0",
        "Servers that follow and do not vote, besides: 0 to 5; for ensembles. Clients know of them as of \
        the others.",
    ),
    Key::new(
        "tick",
        Holds::Duration,
        r#"`"2s"`"#,
        "The length of a tick.",
    ),
    Key::new(
        "sync-limit",
        Holds::Whole(1, 10_000),
        "5",
        "Ticks without a word from the leader after which a follower gives up, and the other way round.",
    ),
    Key::new(
        "init-limit",
        Holds::Whole(1, 10_000),
        "10",
        "Ticks that a server has to find and join a leader.",
    ),
    Key::new(
        "session-timeout",
        Holds::Duration,
        r#"`"6s"`"#,
        "What clients ask for: between 2 and 20 ticks, unless one of the next two keys says what is \
        granted.",
    ),
    Key::new(
        "min-session-timeout",
        Holds::Duration,
        "2 ticks",
        "The shortest session timeout that servers grant; both sides go by what is granted.",
    ),
    Key::new(
        "max-session-timeout",
        Holds::Duration,
        "20 ticks",
        "The longest.",
    ),
    Key::new(
        "fsync",
        Holds::DurationOrZero,
        r#"`"500us"`"#,
        "How long a write to the log takes to be safe on disk.",
    ),
    Key::new(
        "read-time",
        Holds::DurationOrZero,
        r#"`"15us"`"#,
        "How long a server is busy with a read.",
    ),
    Key::new(
        "write-time",
        Holds::DurationOrZero,
        r#"`"30us"`"#,
        "How long the client's server is busy with a write.",
    ),
    Key::new(
        "notification-time",
        Holds::DurationOrZero,
        r#"`"5us"`"#,
        "How long a server is busy with a notification.",
    ),
    Key::new(
        "proposal-time",
        Holds::DurationOrZero,
        r#"`"0s"`"#,
        "How long the leader is busy with each proposal to each follower, and the follower with its \
        answer; if it is not zero, what servers say to each other waits, as answers to clients do, until \
        they are done with what came before.",
    ),
    Key::new(
        "version",
        Holds::Words(words::zookeeper_versions),
        r#"`"3.8"`"#,
        "Of servers and clients: `\"3.4\"`, `\"3.6\"`, `\"3.8\"`, `\"3.9\"`, or `\"3.10\"`; what differs \
        stands in `docs/zookeeper.md`.",
    ),
    Key::new(
        "request-timeout",
        Holds::Duration,
        "none",
        "How long a client waits for an answer before the request fails and the connection is given up.",
    ),
    Key::new(
        "jute-max-buffer",
        Holds::Bytes,
        "`1048575`",
        "The longest message that servers, and Java's clients, read (`jute.maxbuffer`): bytes, or such as \
        `\"4MiB\"`.",
    ),
    Key::new(
        "read-only",
        Holds::Boolean,
        "`false`",
        "`true`: servers that find no leader answer reads, and clients put up with that; for ensembles, \
        and the client `\"java\"`.",
    ),
    Key::new(
        "extended-types",
        Holds::Boolean,
        "`false`",
        "`true`: servers make nodes with a time to live (`zookeeper.extendedTypesEnabled`); they refuse \
        them otherwise, with `Unimplemented`.",
    ),
    Key::new(
        "container-check-interval",
        Holds::Duration,
        r#"`"60s"`"#,
        "How often the leader looks for containers, and for nodes with a time to live, that are to go \
        (`znode.container.checkIntervalMs`).",
    ),
    Key::new(
        "lock-node",
        Holds::Words(words::lock_nodes),
        r#"`"persistent"`"#,
        "What the lock's own node is at the start: `\"persistent\"`; `\"container\"`, as Curator makes it, \
        which goes some time after its last child; or `\"missing\"`, for algorithms that make it.",
    ),
    Key::new(
        "client",
        Holds::OneOrList(&Holds::Words(words::zookeeper_clients)),
        r#"`"java"`"#,
        "The library of the clients: `\"java\"`, `\"kazoo\"`, `\"rust\"`, or `\"go\"` (`picklock list \
        clients`), or a list of them of which each seed takes one; what differs stands in \
        `docs/zookeeper.md`.",
    ),
];
