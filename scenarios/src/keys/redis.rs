//! The keys of `[service.redis]`.

use super::words;
use picklock_sim::plan::{Holds, Key, KeyTable, Variant};

/// [service.redis].
pub(crate) const REDIS: KeyTable = KeyTable {
    title: "[service.redis]",
    about: "The servers, and how their clients are set.",
    keys: &[REDIS_KEYS],
};

const REDIS_KEYS: &[Key] = &[
    Key::new(
        "servers",
        Holds::OneOrList(&Holds::Whole(1, 15)),
        "1",
        "Servers that know nothing of each other: 1 to 15.",
    ),
    Key::new(
        "replicas",
        Holds::Whole(0, 5),
        "0",
        "Replicas of the only server: 0 to 5.",
    ),
    Key::new(
        "sentinels",
        Holds::Whole(0, 7),
        "0",
        "Sentinels that watch the primary and its replicas: 0 to 7; they need replicas.",
    ),
    Key::new(
        "quorum",
        Holds::Whole(1, 7),
        "the majority",
        "How many of them must find the primary down.",
    ),
    Key::new(
        "down-after",
        Holds::Duration,
        r#"`"30s"`"#,
        "How long a server must not answer before it is down.",
    ),
    Key::new(
        "failover-timeout",
        Holds::Duration,
        r#"`"180s"`"#,
        "How long the steps of a failover may take; the next one waits for twice this long.",
    ),
    Key::new(
        "parallel-syncs",
        Holds::Whole(1, 5),
        "1",
        "Replicas that are told to follow the new primary at the same time.",
    ),
    Key::new(
        "poll",
        Holds::Duration,
        "the library's",
        "How often clients ask a Sentinel who the primary is, and the replicas, if they read from them, \
        and leave one that is not, or a node of a cluster who serves what, without another reason.",
    ),
    Key::new(
        "switch-master",
        Holds::Words(words::SENTINELS_TO_SUBSCRIBE_TO),
        "the library's",
        "At which Sentinels clients are subscribed to `+switch-master`, to leave the old primary as soon as one \
        of them names another: `\"nowhere\"`, `\"one\"`, or `\"every\"`.",
    ),
    Key::new(
        "read-from",
        Holds::Words(words::NODES_TO_READ_FROM),
        r#"`"primary"`"#,
        "Where clients send what only reads, if there are replicas: `\"primary\"`, `\"replicas\"`, or \
        `\"any\"`; a case may say otherwise.",
    ),
    Key::new(
        "cluster",
        Holds::Table(&CLUSTER),
        "none",
        "The servers are the nodes of a cluster; then there are none besides.",
    ),
    Key::new(
        "persistence",
        Holds::Words(words::PERSISTENCE),
        r#"`"none"`"#,
        "What servers keep on their disks: `\"none\"`, `\"rdb\"`, `\"aof-no\"`, `\"aof-everysec\"`, or \
        `\"aof-always\"`.",
    ),
    Key::new(
        "load-time",
        Holds::DurationOrZero,
        r#"`"0s"`"#,
        "How long a server reads what is on its disk when it is started again, and refuses almost \
        everything (`LOADING`).",
    ),
    Key::new(
        "serve-stale-data",
        Holds::Boolean,
        "`true`",
        "Whether a replica that does not hear its primary serves what it has, or refuses (`MASTERDOWN`).",
    ),
    Key::new(
        "min-replicas-to-write",
        Holds::Whole(0, 5),
        "0",
        "A primary that so many replicas have not told of themselves lately refuses to write \
        (`NOREPLICAS`).",
    ),
    Key::new(
        "min-replicas-max-lag",
        Holds::Duration,
        r#"`"10s"`"#,
        "How long ago \"lately\" may be, in whole seconds.",
    ),
    Key::new(
        "notify-keyspace-events",
        Holds::KeyspaceEvents,
        "none",
        "Which events of keys servers send to those that listen, in the letters of `redis.conf`: `\"Exg\"`.",
    ),
    Key::new(
        "busy-reply-threshold",
        Holds::DurationOrZero,
        r#"`"5s"`"#,
        "For how long a script runs before the server answers others that it is busy (`BUSY`).",
    ),
    Key::new(
        "lease",
        Holds::Duration,
        r#"`"10s"`"#,
        "How long a lock is held before it goes by itself.",
    ),
    Key::new(
        "timeout",
        Holds::Duration,
        r#"`"500ms"`"#,
        "How long a client waits for an answer.",
    ),
    Key::new(
        "connect-timeout",
        Holds::Duration,
        r#"`"1s"`"#,
        "How long a client waits for a connection before it tries again, and asks again where to.",
    ),
    Key::new(
        "retries",
        Holds::Whole(0, 100),
        "0",
        "How often a client sends a command again whose answer was lost, without telling the recipe.",
    ),
    Key::new(
        "retry-pause",
        Holds::DurationOrZero,
        r#"`"100ms"`"#,
        "How long a client waits before it connects again.",
    ),
    Key::new(
        "retry-pause-max",
        Holds::Duration,
        "none",
        "How long that may become: the pause doubles with each try in a row that fails; without, it stays \
        the same; not in a cluster.",
    ),
    Key::new(
        "replay",
        Holds::Boolean,
        "`false`",
        "`true`: what is not answered when a connection breaks, and what comes before the next one stands, \
        is sent by that one, until the `timeout` of each command, as Lettuce does it; there are no \
        `retries` then; not in a cluster.",
    ),
    Key::new(
        "resend",
        Holds::Boolean,
        "`true`",
        "`false`: `retries` are for commands without a connection alone, and one that was sent is not sent \
        again, as Redisson does it with scripts of locks.",
    ),
    Key::new(
        "close-on-timeout",
        Holds::Boolean,
        "see `docs/redis.md`",
        "Whether a client closes a connection whose answer does not come within the `timeout`.",
    ),
    Key::new(
        "tcp-user-timeout",
        Holds::Duration,
        "none",
        "How long what a client has sent may stay unacknowledged before its kernel gives the connection up \
        (`TCP_USER_TIMEOUT`); without, Linux goes on for 924.6 s.",
    ),
    Key::new(
        "client",
        Holds::Words(words::REDIS_CLIENTS),
        "with `sentinels` that of the recipe, otherwise `\"none\"`",
        "A client library that sets `timeout`, `connect-timeout`, `retries`, `retry-pause`, \
        `retry-pause-max`, `replay`, `resend`, `close-on-timeout`, `poll`, `switch-master`, and \
        `connections` as it has them: `\"lettuce\"`, `\"jedis\"`, `\"redis-py\"`, `\"go-redis\"`, \
        `\"ioredis\"`, or `\"redisson\"` (`picklock list clients`); keys beside it override it; a case may \
        say otherwise; not in a cluster.",
    ),
    Key::new(
        "connections",
        CONNECTIONS,
        r#"`"multiplexed"`"#,
        "How the tasks of a contender share connections to a server: `\"multiplexed\"`, all commands go by \
        one, or `{ pool = 2 }`, each has one of two for itself until it is answered; a case may say \
        otherwise.",
    ),
    Key::new(
        "command-time",
        Holds::DurationOrZero,
        r#"`"5us"`"#,
        "How long a server is busy with a command.",
    ),
];

/// How the tasks of a process share connections, there or in a case.
pub(super) const CONNECTIONS: Holds = Holds::Variants(
    "way to share connections",
    &[
        Variant::word("multiplexed", "All commands go by one connection."),
        Variant::with(
            "pool",
            Holds::Whole(1, 100),
            "Each command has one of so many connections for itself until it is answered.",
        ),
    ],
);

/// The table that a cluster is.
pub(super) const CLUSTER: KeyTable = KeyTable {
    title: "cluster of [service.redis]",
    about: "The primaries are the first servers, and share the slots. One replica of each comes next, and then the \
        next of each.",
    keys: &[&[
        Key::needed(
            "primaries",
            Holds::Whole(3, 9),
            "Nodes that share the slots.",
        ),
        Key::new(
            "replicas-of-each",
            Holds::Whole(0, 3),
            "0",
            "Replicas of each primary.",
        ),
        Key::new(
            "node-timeout",
            Holds::Duration,
            r#"`"15s"`"#,
            "How long a node must not answer before it is suspected.",
        ),
        Key::new(
            "validity-factor",
            Holds::Whole(0, 1_000),
            "10",
            "For how many of these a replica may have been without its primary to take its place; zero for ever.",
        ),
    ]],
};
