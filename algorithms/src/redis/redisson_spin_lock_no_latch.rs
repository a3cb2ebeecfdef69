//! `redisson_spin_lock`, except that the unlock script leaves no latch. Must be caught by `incidents/redisson-4871`.

use super::leased::REENTRANT_CLAIMS;
use super::redisson_spin_lock::{REQUESTS, RedissonSpinLock};
use crate::{Build, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-spin-lock-no-latch",
    summary: "Redisson's RSpinLock whose unlock counts down again when the client sends it again.",
    source: "Redisson #4871: RedissonSpinLock.unlockInnerAsync before 3.24",
    flaw: Some("an unlock whose answer was lost counts twice"),
    claims: REENTRANT_CLAIMS,
    ownership: OwnershipRule::Key,
    requests: REQUESTS,
    inputs: &[],
    cancellable: false,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonSpinLock::new(redis, env, lease).with_unlock(UNLOCK))
    }),
};

const UNLOCK: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 0
end
redis.call('DEL', KEYS[1])
return 1";
