//! Redisson's `RLock` as it is where there are replicas: a script counts only if one of them has heard of it.
//!
//! # Source
//!
//! Redisson 4.x, `CommandAsyncService.syncedEval` and `LockTask.renew`, with `checkLockSyncedSlaves` and
//! `slavesSyncTimeout` as they are by default.
//!
//! # Steps
//!
//! Those of [`redisson`](super::redisson), but all its scripts are run so, each by one connection, and the watchdog's
//! by another than the rest:
//!
//! 1. `INFO replication`: how many replicas are connected?
//! 2. The script.
//! 3. If there are replicas: `WAIT` for all of them, for one second.
//! 4. If none has heard of step 1: run the script of step 5, wait for a second or two, and try again, five times in
//!    all. If one has, that is enough; if there was none to wait for, too. If none has heard of a renewal, nothing
//!    happens.
//!
//! # Guarantees
//!
//! - Those of [`redisson`](super::redisson), and that a client holds the lock only if a replica has heard of it, as
//!   long as there is one (scenario `redis/redisson-failover`).
//!
//! # Hazards
//!
//! - One of two is enough, and the other may be promoted (scenario `redis/redisson-one-of-two`).
//! - Where no replica is connected, none is waited for.

use super::redisson::RedissonLock;
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-lock-replicated",
    summary: "Redisson's RLock where there are replicas: it waits until one of them has heard.",
    source: "Redisson 4.x, CommandAsyncService.syncedEval",
    requests: &[
        RequestKind::Script,
        RequestKind::Del,
        RequestKind::Subscribe,
        RequestKind::Wait,
    ],
    build: Build::Redis(&|redis, env, lease| {
        // WAIT speaks of what its own connection wrote, and holds up whatever comes after it there.
        let mut lock = RedissonLock::new(redis.dedicated(), env, lease);
        lock.watchdog = redis.dedicated();
        lock.waits_for_replicas = true;
        Box::new(lock)
    }),
    ..super::redisson::RECIPE
};
