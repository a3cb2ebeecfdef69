//! SET NX PX, a deadline of our own, and a script that deletes the key only if it is ours.
//!
//! # Source
//!
//! redis.io, "Distributed locks with Redis": the correct implementation with a single instance.
//!
//! # Steps
//!
//! 1. Make a unique token, for this acquisition alone.
//! 2. Look at the monotonic clock, then `SET key token NX PX lease`. If it was set, we hold the lock until that time
//!    and the lease, less what clocks may differ. If not, try again later.
//! 3. If no answer came: `GET key`. If it is our token, we hold the lock, from the time before the `SET`.
//! 4. At the deadline, stop believing.
//! 5. Release: a script deletes the key if it holds our token. Ask again until an answer comes; the script does
//!    nothing to another's key.
//!
//! # Guarantees
//!
//! - `mutual-exclusion` and `own-release-only`, as long as clocks keep their pace, the server forgets nothing, and no
//!   process stands still.
//!
//! # Hazards
//!
//! - A pause across the end of the lease: the resource must refuse what is stale, and for that there must be a token
//!   ([`fencing_token`](super::fencing_token), scenario `redis/pause`).
//! - A client that counts the lease from the answer believes in it for longer than the server does
//!   ([`deadline_from_answer`](super::deadline_from_answer), scenario `redis/answer-read-late`).
//! - A server that restarts without its data, or whose clock jumps forward, lets a second one in (scenarios
//!   `redis/restart`, `redis/clock-jump`).
//! - Step 3 reads, and a client may read from a replica, which need not have heard of the key: then we wait for our own
//!   ([`set_nx_get`](super::set_nx_get) does not, scenarios
//!   `redis/cluster-stale-look` and `redis/sentinel-stale-look`).

use async_trait::async_trait;

use super::leased::{CLAIMS, Leased, until_answered};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisError, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-compare-and-delete",
    summary: "SET NX PX with a token and a deadline; released by a script that deletes only its own.",
    source: "redis.io, Distributed locks with Redis: single instance",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::KEY,
    requests: &[RequestKind::Set, RequestKind::Get, RequestKind::Script],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| Box::new(CompareAndDelete::new(redis, env, lease))),
};

/// Deletes the key if it holds this token.
pub const DELETE_IF_OURS: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0";

pub(super) struct CompareAndDelete {
    pub leased: Leased,
    delete_if_ours: Script,
    pub token: String,
    /// Step 2 as it is, or with a look at the clock when the answer has been read.
    pub counts_from_answer: bool,
}

impl CompareAndDelete {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: String::new(),
            counts_from_answer: false,
        }
    }

    /// Deletes the key if it holds our token, whatever was lost before.
    pub async fn withdraw(&self, key: &str) -> RedisResult<()> {
        let redis = &self.leased.redis;
        let ask = async || {
            redis
                .script(&self.delete_if_ours, &[key], &[&self.token])
                .await
        };
        until_answered(&self.leased, &mut None, ask).await?;
        Ok(())
    }

    /// Whether the key holds our token.
    async fn is_ours(&self, unanswered: &mut Option<RedisError>) -> RedisResult<bool> {
        let ask = async || self.leased.redis.get(&self.leased.lease.key).await;
        let there = until_answered(&self.leased, unanswered, ask).await?;
        Ok(there.as_deref() == Some(self.token.as_bytes()))
    }
}

#[async_trait(?Send)]
impl Lock for CompareAndDelete {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.token = self.leased.env.guid(); // Step 1.
            let asked = self.leased.env.monotonic();
            let deadline = self.leased.deadline(asked);
            let set = match self.leased.set_if_missing(&self.token).await {
                Ok(set) => set,
                Err(error) if !error.definite() => {
                    unanswered = Some(error);
                    self.is_ours(&mut unanswered).await? // Step 3.
                }
                // An earlier SET may be executed yet.
                Err(refused) => return Err(unanswered.unwrap_or(refused).into()),
            };
            let deadline = match self.counts_from_answer {
                false => deadline,
                true => self.leased.deadline(self.leased.env.monotonic()),
            };
            if set && let Some(held) = self.leased.in_time(deadline, None, &mut unanswered) {
                return Ok(held);
            }
            self.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let delete = async || {
            let (script, keys) = (&self.delete_if_ours, [&*held.path_or_key]);
            let redis = &self.leased.redis;
            let answer = redis.script(script, &keys, &[&self.token]).await?;
            Ok(answer == Value::Integer(1))
        };
        self.leased.released(delete).await
    }

    /// Step 4.
    async fn lost(&self, held: &Held) -> LockError {
        self.leased.lapsed(held).await
    }
}
