//! SET NX PX and INCR in one script: a lease with a fencing token.
//!
//! # Source
//!
//! M. Kleppmann, "How to do distributed locking", 2016: the lock gives out a number that only rises, and the resource
//! refuses a lower one.
//!
//! # Steps
//!
//! 1. A script sets the key as `SET key token NX PX lease` does, and answers the next number of a counter if it did.
//! 2. Send the number with every write.
//! 3. Release as [`compare_and_delete`](super::compare_and_delete) does.
//!
//! # Guarantees
//!
//! - `no-stale-effect` on a resource that looks at the token, whatever stands still.
//! - `fencing-monotonic`, as long as the server forgets nothing.
//!
//! # Hazards
//!
//! - The counter is a key like any other: a server that restarts without its data gives out the same numbers again
//!   (scenario `redis/restart`).

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{Leased, until_answered};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisError, RedisResult, Script, Value};
use crate::{Build, Claim, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-fencing-token",
    summary: "SET NX PX and INCR in one script: a lease with a number that the resource can check.",
    source: "M. Kleppmann, How to do distributed locking, 2016",
    claims: &[
        Claim::MutualExclusion,
        Claim::ExclusiveOwnership,
        Claim::NoStaleEffect,
        Claim::FencingMonotonic,
        Claim::Progress,
        Claim::NoOrphan,
        Claim::OwnReleaseOnly,
        Claim::HonestAnswer,
    ],
    requests: &[RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| Box::new(FencingToken::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

/// Answers the number that comes with the key, if it holds this token already or is set now.
const SET_AND_COUNT: &str = "\
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return tonumber(redis.call('GET', KEYS[2]))
end
return false";

struct FencingToken {
    leased: Leased,
    counter: String,
    set_and_count: Script,
    delete_if_ours: Script,
    token: String,
}

impl FencingToken {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            // In a cluster, the braces keep it where the lock's key is.
            counter: format!("{{{}}}:counter", lease.key),
            leased: Leased { redis, env, lease },
            set_and_count: Script::new(SET_AND_COUNT),
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: String::new(),
        }
    }

    /// Asks again until an answer comes: the token says whether an earlier request was ours.
    async fn ask(&self, unanswered: &mut Option<RedisError>) -> RedisResult<Value> {
        let lease = self.leased.lease.time.as_millis().to_string();
        let (keys, args) = (
            [&*self.leased.lease.key, &*self.counter],
            [&*self.token, &*lease],
        );
        let redis = &self.leased.redis;
        until_answered(&self.leased, unanswered, async || {
            redis.script(&self.set_and_count, &keys, &args).await
        })
        .await
    }
}

#[async_trait(?Send)]
impl Lock for FencingToken {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.token = self.leased.env.guid();
            let asked = self.leased.env.monotonic();
            let deadline = self.leased.deadline(asked);
            if let Value::Integer(number) = self.ask(&mut unanswered).await?
                && let number = u64::try_from(number).ok()
                && let Some(held) = self.leased.in_time(deadline, number, &mut unanswered)
            {
                return Ok(held); // Step 1.
            }
            self.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let redis = &self.leased.redis;
        let ask = async || {
            redis
                .script(&self.delete_if_ours, &[&held.path_or_key], &[&self.token])
                .await
        };
        let mut unanswered = None;
        match until_answered(&self.leased, &mut unanswered, ask).await? {
            Value::Integer(1) => Ok(()),
            // Our own script may have deleted it.
            _ if unanswered.is_some() => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.leased.lapsed(held).await
    }
}
