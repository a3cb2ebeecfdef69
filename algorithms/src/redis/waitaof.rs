//! SET NX PX, and WAITAOF until the key is on the primary's disk before believing.
//!
//! # Source
//!
//! redis.io, `WAITAOF` (Redis 7.2): "the client is blocked until all previous write commands are fsynced to the AOF".
//!
//! # Steps
//!
//! 1. Look at the monotonic clock, then `SET key token NX PX lease`.
//! 2. If it was set: `WAITAOF 1 0 1500` by the same connection. A log that goes to the disk every second answers within
//!    that time.
//! 3. If the key is on the disk, the lock is held until the time of step 1 and the lease, less what clocks may differ.
//!    If not, or if no answer came: delete the key if it holds the token, and try again later.
//! 4. Release as [`compare_and_delete`](super::compare_and_delete) does.
//!
//! # Guarantees
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete), and that a power loss does not forget a lock that a
//!   contender believes in (scenario `redis/waitaof`).
//!
//! # Hazards
//!
//! - The disk of the primary is not that of a replica: a failover forgets the key as before.
//! - A release that is not on the disk yet is undone by a power loss: the key is back until its lease ends.
//! - A caller that ignores the answer believes before the key is on the disk ([`RECIPE_IGNORED`], scenario
//!   `redis/waitaof`).

use std::time::Duration;

use super::version::{OverVersion, WITH_WAITAOF};
use super::wait::{WaitFor, Waited};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-waitaof",
    summary: "SET NX PX, believed when WAITAOF says that it is on the disk (Redis 7.2).",
    source: "redis.io, WAITAOF",
    requests: &[RequestKind::Set, RequestKind::Script, RequestKind::WaitAof],
    build: Build::Other(&OverVersion {
        versions: WITH_WAITAOF,
        build: &|redis, env, lease, _| {
            Box::new(Waited::new(redis, env, lease, WaitFor::Fsync(WAIT)))
        },
    }),
    ..super::compare_and_delete::RECIPE
};

/// The same, whatever `WAITAOF` answers.
pub const RECIPE_IGNORED: Recipe = Recipe {
    name: "redis-waitaof-ignored",
    summary: "The same with a WAITAOF of 100 ms, believed whatever it answers.",
    flaw: Some("WAITAOF answers whether the key is on the disk, and the answer is ignored"),
    build: Build::Other(&OverVersion {
        versions: WITH_WAITAOF,
        build: &|redis, env, lease, _| {
            let fsync = WaitFor::Fsync(SHORT_WAIT);
            Box::new(Waited::new(redis, env, lease, fsync).ignoring_answer())
        },
    }),
    ..RECIPE
};

/// How long step 2 waits for the disk, which the log reaches once a second.
const WAIT: Duration = Duration::from_millis(1_500);

/// How long the sibling waits that ignores the answer.
const SHORT_WAIT: Duration = Duration::from_millis(100);
