//! Which commands a server refuses when it cannot serve, as `COMMAND INFO` of Redis 7.0.15 tells.

use picklock_clients::redis::Command;

use super::Row;
use super::options::is;

/// They may take more memory (`denyoom`).
const TAKE_MEMORY: &[&str] = &[
    "append",
    "bitfield",
    "bitop",
    "blmove",
    "brpoplpush",
    "copy",
    "decr",
    "decrby",
    "geoadd",
    "georadius",
    "georadiusbymember",
    "geosearchstore",
    "getset",
    "hincrby",
    "hincrbyfloat",
    "hmset",
    "hset",
    "hsetnx",
    "incr",
    "incrby",
    "incrbyfloat",
    "linsert",
    "lmove",
    "lpush",
    "lpushx",
    "lset",
    "mset",
    "msetnx",
    "pfadd",
    "pfmerge",
    "psetex",
    "restore",
    "restore-asking",
    "rpoplpush",
    "rpush",
    "rpushx",
    "sadd",
    "sdiffstore",
    "set",
    "setbit",
    "setex",
    "setnx",
    "setrange",
    "sinterstore",
    "sort",
    "sunionstore",
    "xadd",
    "zadd",
    "zdiffstore",
    "zincrby",
    "zinterstore",
    "zrangestore",
    "zunionstore",
];

/// They are answered while the keys are being read (`loading`), and by a replica without its primary (`stale`).
const ALWAYS: &[&str] = &[
    "auth",
    "client",
    "command",
    "config",
    "debug",
    "discard",
    "echo",
    "exec",
    "hello",
    "info",
    "lastsave",
    "monitor",
    "multi",
    "psubscribe",
    "publish",
    "pubsub",
    "punsubscribe",
    "quit",
    "readonly",
    "readwrite",
    "replconf",
    "reset",
    "role",
    "select",
    "shutdown",
    "spublish",
    "ssubscribe",
    "subscribe",
    "sunsubscribe",
    "time",
    "unsubscribe",
    "unwatch",
    "watch",
];

/// They are answered by a replica without its primary, and not while the keys are being read.
const WHEN_STALE: &[&str] = &[
    "cluster",
    "eval",
    "eval_ro",
    "evalsha",
    "evalsha_ro",
    "failover",
    "fcall",
    "fcall_ro",
    "replicaof",
    "slaveof",
];

impl Row {
    /// Whether it is refused when there is no memory left.
    pub(crate) fn takes_memory(&self) -> bool {
        TAKE_MEMORY.contains(&self.name)
    }

    /// Whether it is answered while the keys are being read.
    pub(crate) fn runs_while_loading(&self) -> bool {
        ALWAYS.contains(&self.name)
    }

    /// Whether it is answered by a replica that has lost its primary and is not to serve old keys.
    pub(crate) fn runs_when_stale(&self, command: &Command) -> bool {
        let known = ALWAYS.contains(&self.name) || WHEN_STALE.contains(&self.name);
        known || (self.name == "script" && is(command, 1, "load"))
    }
}
