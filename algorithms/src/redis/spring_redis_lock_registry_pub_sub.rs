//! Spring Integration's `RedisLockRegistry` with `PUB_SUB_LOCK`: an unlock publishes, and waiters wait for its message.
//!
//! # Source
//!
//! Spring Integration 7.2.0-SNAPSHOT of August 2026, `RedisLockRegistry.RedisPubSubLock`: `subscribeLock`,
//! `runRedisMessageListenerContainer`, `UNLINK_UNLOCK_SCRIPT`; Spring Data Redis 4.2.0-SNAPSHOT of August 2026,
//! `RedisMessageListenerContainer`: `start`, `lazyListen`, `handleSubscriptionException`, over Lettuce.
//!
//! # Steps
//!
//! Those of [`spring_redis_lock_registry`], except for these two:
//!
//! 2. The script of step 2, once (`obtainLock`). If another holds the lock, start the container of listeners, which
//!    subscribes to the channel, unless it runs. Then again and again: the script; wait for a message, or until
//!    `expireAfter` is over; the script.
//!    `tryLock` waits for as long as its caller wants to, each time that it waits, so for up to twice as long in all.
//! 4. `unlock`: a script deletes the key if it holds the id, and publishes.
//!
//! The container subscribes when it is started for the first time, and again 5 s after there was no connection. Any
//! other error ends the call. Here it subscribes to the channel of one key; the library's, to all channels of the
//! registry.
//!
//! # Guarantees
//!
//! - A message is a reason to look, and not the lock.
//! - A message that comes between a refusal and the wait is seen: a waiter looks once more when it is ready for one.
//!
//! # Hazards
//!
//! - A message that is lost costs a waiter up to `expireAfter` from its last look, however soon the lease is over
//!   (scenario `redis/lost-message`).
//! - A container whose start has failed counts as started: its process never subscribes, receives no message as long as
//!   it lives, and looks once in `expireAfter` ([`RECIPE`], scenario `redis/spring-failed-subscription`).

use super::spring_redis_lock_registry::pub_sub_lock::{FailedStart, PubSubLock};
use super::spring_redis_lock_registry::{self, RedisLockRegistry, Renewal};
use crate::clients::RequestKind;
use crate::clients::redis::Redis;
use crate::{Build, Env, Lease, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "spring-redis-lock-registry-pub-sub",
    summary: "Spring Integration's RedisLockRegistry whose waiters wait for the message of an unlock.",
    source: "Spring Integration 7.2, RedisLockRegistry.RedisPubSubLock",
    flaw: Some("a process whose first subscription has failed never subscribes again"),
    requests: &[RequestKind::Script, RequestKind::Subscribe],
    inputs: &[RecipeInput::Channels],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(registry(redis, env, lease, FailedStart::CountsAsStarted))
    }),
    ..spring_redis_lock_registry::RECIPE
};

/// The registry row of the same whose container is stopped when its start has failed.
pub const RECIPE_HARDENED: Recipe = Recipe {
    name: "spring-redis-lock-registry-pub-sub-hardened",
    summary: "Spring Integration's RedisLockRegistry with PUB_SUB_LOCK, which subscribes until it has succeeded.",
    source: "Spring Integration 7.2, RedisLockRegistry.runRedisMessageListenerContainer, hardened",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(registry(redis, env, lease, FailedStart::IsUndone))
    }),
    ..RECIPE
};

const UNLINK_UNLOCK: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('UNLINK', KEYS[1]) == 1 then
  redis.call('PUBLISH', ARGV[2], KEYS[1])
  return 1
end
return 0";

fn registry(redis: Redis, env: Env, lease: Lease, failed_start: FailedStart) -> RedisLockRegistry {
    let pub_sub = PubSubLock::new(&env, &lease, failed_start);
    RedisLockRegistry::new(redis, env, lease, Renewal::None).with_pub_sub(pub_sub, UNLINK_UNLOCK)
}
