//! A semaphore in one hash: a field for each permit that is out, with a time to live of its own.
//!
//! # Source
//!
//! redis.io, `HPEXPIRE` (7.4): "active expiration of hash fields". Before, Redisson kept the times of its permits in a
//! sorted set by hand ([`redisson_permit_expirable_semaphore`](super::redisson_permit_expirable_semaphore)).
//!
//! # Steps
//!
//! 1. A token that no other acquisition has. Look at the monotonic clock, then a script: if the hash has the token, or
//!    fewer fields than there are permits, `HSET key token 1` and `HPEXPIRE key lease FIELDS 1 token`. 1: the permit is
//!    ours until that time and the lease, less what clocks may differ. 0: try again later. No answer: ask again.
//! 2. Every third of the lease: look at the clock, then a script: if the hash has the token, `HPEXPIRE` again. 1: the
//!    hold lasts until that time and the lease. 0: it is lost. No answer: ask again at the next third.
//! 3. At the deadline, stop believing.
//! 4. Release: `HDEL key token`. Without an answer, ask again; a 0 after that counts as released.
//!
//! # Guarantees
//!
//! - The permit of a dead holder comes back a lease after it was renewed last, by the server's clock alone.
//!
//! # Hazards
//!
//! - `HSET` of a field that is there lets it stay, as `SET` does with a key: a renewal that writes a heartbeat into the
//!   field makes the permit of a dead holder stay for ever ([`RECIPE_HEARTBEAT`], scenario
//!   `redis/field-ttl-heartbeat`).
//! - A pause across the end of the lease, as with every lease (scenario `redis/pause`).

use std::cell::Cell;
use std::time::Duration;

use async_trait::async_trait;

use super::leased::{Leased, until_answered};
use super::version::{OverVersion, WITH_FIELD_EXPIRY};
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, KeyHold, Lease, Lock, LockError, LockKind, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-field-ttl-semaphore",
    summary: "A hash with a field for each permit that is out, which expires by itself (Redis 7.4).",
    source: "redis.io, HPEXPIRE",
    ownership: OWNERSHIP,
    requests: &[RequestKind::Script],
    build: Build::Other(&OverVersion {
        versions: WITH_FIELD_EXPIRY,
        build: &|redis, env, lease, permits| {
            Box::new(FieldTtlSemaphore::new(redis, env, lease, permits, RENEW))
        },
    }),
    ..super::compare_and_delete::RECIPE
};

/// The same, renewed by a heartbeat.
pub const RECIPE_HEARTBEAT: Recipe = Recipe {
    name: "redis-field-ttl-semaphore-heartbeat",
    summary: "The same, but a renewal writes the time into the field.",
    flaw: Some("HSET of a field takes away its time to live"),
    build: Build::Other(&OverVersion {
        versions: WITH_FIELD_EXPIRY,
        build: &|redis, env, lease, permits| {
            Box::new(FieldTtlSemaphore::new(
                redis, env, lease, permits, HEARTBEAT,
            ))
        },
    }),
    ..RECIPE
};

/// Each field of the hash is a hold until its time is over.
const OWNERSHIP: OwnershipRule =
    OwnershipRule::of_keys(LockKind::Semaphore, |keys, lock, holds| {
        let Some(Value::Map(pairs)) = keys.read(lock) else {
            return;
        };
        for pair in pairs.chunks_exact(2) {
            if let Value::Bulk(token) = &pair[0] {
                holds.push(KeyHold {
                    takeable: keys.field_expires_at(lock, token),
                    ..KeyHold::exclusive(token.clone())
                });
            }
        }
    });

/// Step 1.
const ACQUIRE: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return 1
end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], 1)
redis.call('HPEXPIRE', KEYS[1], ARGV[2], 'FIELDS', 1, ARGV[1])
return 1";

/// Step 2.
const RENEW: &str = "\
return redis.call('HPEXPIRE', KEYS[1], ARGV[2], 'FIELDS', 1, ARGV[1])[1]";

/// The same by a heartbeat.
const HEARTBEAT: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], redis.call('TIME')[1])
return 1";

struct FieldTtlSemaphore {
    leased: Leased,
    permits: u32,
    token: String,
    /// Until when the permit is held by the monotonic clock.
    deadline: Cell<Duration>,
    acquire: Script,
    renew: Script,
}

impl FieldTtlSemaphore {
    fn new(redis: Redis, env: Env, lease: Lease, permits: u32, renew: &str) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            permits,
            token: String::new(),
            deadline: Cell::new(Duration::ZERO),
            acquire: Script::new(ACQUIRE),
            renew: Script::new(renew),
        }
    }

    async fn says_yes(&self, script: &Script) -> RedisResult<bool> {
        let Lease { key, time } = &self.leased.lease;
        let (time, permits) = (time.as_millis().to_string(), self.permits.to_string());
        let (keys, args) = ([&**key], [&*self.token, &*time, &*permits]);
        let answer = self.leased.redis.script(script, &keys, &args).await?;
        Ok(answer == Value::Integer(1))
    }
}

#[async_trait(?Send)]
impl Lock for FieldTtlSemaphore {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.token = self.leased.env.guid(); // Step 1.
            let deadline = self.leased.deadline(self.leased.env.monotonic());
            let ask = async || self.says_yes(&self.acquire).await;
            if until_answered(&self.leased, &mut unanswered, ask).await?
                && self.leased.is_in_time(deadline, &mut unanswered)
            {
                self.deadline.set(deadline);
                return Ok(self.leased.held(None));
            }
            self.leased.pause().await;
        }
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let delete = async || {
            let delete = Command::new("HDEL").arg(&*held.path_or_key);
            let answer = self.leased.redis.ask(delete.arg(&self.token)).await;
            Ok(answer? == Value::Integer(1))
        };
        self.leased.released(delete).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        let renew = async || self.says_yes(&self.renew).await;
        self.leased.extended(&self.deadline, renew).await // Steps 2 and 3.
    }
}
