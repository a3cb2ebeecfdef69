//! `redisson`, except that a release that finds no key publishes, and says that it is done. Must be caught by
//! `redis/release-of-nothing`.

use super::redisson::scripts::UNLOCK_WITHOUT_LATCH;
use super::redisson::{self, RedissonLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-unlock-missing-key",
    summary: "Redisson's RLock whose unlock of a missing key says that it is done.",
    source: "Redisson before 3.10.6, RedissonLock.unlockInnerAsync",
    flaw: Some("a caller that has lost the lock is told that it has released it"),
    build: Build::Redis(&|redis, env, lease| {
        let unlock = format!("{MISSING_KEY}{UNLOCK_WITHOUT_LATCH}");
        Box::new(RedissonLock::new(redis, env, lease).with_unlock(&unlock))
    }),
    ..redisson::RECIPE
};

/// What stands before the script of a release.
const MISSING_KEY: &str = "\
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('PUBLISH', KEYS[2], 'unlock')
  return 1
end
";
