//! `redisson`, except that a release that finds no key publishes, and says that it is done. Must be caught by
//! `redis/release-of-nothing`.

use super::redisson::{self, RedissonLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-unlock-missing-key",
    summary: "Redisson's RLock whose unlock of a missing key says that it is done.",
    source: "Redisson before 3.10.6, RedissonLock.unlockInnerAsync",
    flaw: Some("who has lost the lock is told that it has released it"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonLock::new(redis, env, lease).with_unlock(UNLOCK))
    }),
    ..redisson::RECIPE
};

const UNLOCK: &str = "\
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('PUBLISH', KEYS[2], 'unlock')
  return 1
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 'unlock')
return 1";
