//! `redisson_red_lock_2`, except that each unlock deletes the keys of all servers, without a look at their fields. Must
//! be caught by `redis/red-lock-force-unlock`.

use super::redisson_red_lock_2::{self, RedLock, UnlockInner};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-red-lock-2-force-unlock",
    summary: "Redisson's first RedissonRedLock that deletes every key when it unlocks, and when a call fails.",
    source: "Redisson before 2.2.18, RedissonRedLock.unlockInner",
    flaw: Some("a call that got no majority deletes the keys of the holder"),
    requests: &[RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedLock::new(redis, env, lease, UnlockInner::ForceUnlock))
    }),
    ..redisson_red_lock_2::RECIPE
};
