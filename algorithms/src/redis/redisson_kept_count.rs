//! `redisson`, except that the unlock script does not count down when the thread has entered more than once. Must be
//! caught by `redis/re-entry`.
//!
//! Seen in the wild: unlock scripts written from memory, which look whether the count is one, delete the key if it is,
//! and otherwise only set the lease again.

use super::redisson::RedissonLock;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-kept-count",
    summary: "Redisson's RLock whose unlock looks at the count of entries, and does not lower it.",
    source: "Unlock scripts written from memory",
    flaw: Some("the release of an inner entry leaves the count as it is"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonLock::new(redis, env, lease).with_unlock(UNLOCK))
    }),
    ..super::redisson::RECIPE
};

/// The flaw: `HGET` stands where `HINCRBY` with -1 does.
const UNLOCK: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if tonumber(redis.call('HGET', KEYS[1], ARGV[2])) > 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 'unlock')
return 1";
