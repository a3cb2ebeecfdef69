//! SET NX PX, extended by `SET … IFEQ`, and released by `DELEX … IFEQ`: no script.
//!
//! # Source
//!
//! redis.io, `SET` and `DELEX` (Redis 8.4): "compare-and-set" and "compare-and-delete".
//!
//! # Steps
//!
//! 1. A token that no other acquisition has. Look at the monotonic clock, then `SET key token NX PX lease`. If it was
//!    set, the lock is held until that time and the lease, less what clocks may differ. If not, try again later.
//! 2. If no answer came: `GET key`. If it is the token, the lock is held, from the time before the `SET`.
//! 3. Every third of the lease: look at the clock, then `SET key token IFEQ token PX lease`. `OK`: the hold lasts until
//!    that time and the lease. Nil: the lock is lost. No answer: ask again at the next third.
//! 4. At the deadline, stop believing.
//! 5. Release: `DELEX key IFEQ token`. Without an answer, ask again; a 0 after that counts as released.
//!
//! # Guarantees
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete), for sections that are longer than a lease.
//!
//! # Hazards
//!
//! - `SET` without a time to live takes away the one that was there: extended so, the key of a dead holder stays for
//!   ever ([`RECIPE_NO_EXPIRY`], scenario `redis/set-ifeq-no-expiry`).
//! - A pause across the end of the lease, as with every lease (scenario `redis/pause`).

use std::cell::Cell;
use std::time::Duration;

use async_trait::async_trait;

use super::leased::{Leased, until_answered};
use super::version::{OverVersion, REDIS_8_4, VALKEY_9_0};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisError, RedisResult};
use crate::{Build, Claim, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-set-ifeq",
    summary: "SET NX PX, extended by SET IFEQ and released by DELEX IFEQ (Redis 8.4).",
    source: "redis.io, SET and DELEX",
    requests: &[RequestKind::Set, RequestKind::Get, RequestKind::Del],
    build: Build::Other(&OverVersion {
        versions: REDIS_8_4,
        build: &|redis, env, lease, _| Box::new(SetIfEqual::new(redis, env, lease)),
    }),
    ..super::compare_and_delete::RECIPE
};

/// The same over Valkey, where `DELIFEQ` deletes.
pub const RECIPE_VALKEY: Recipe = Recipe {
    name: "valkey-delifeq",
    summary: "SET NX PX, extended by SET IFEQ and released by DELIFEQ (Valkey 9.0).",
    source: "valkey.io, SET and DELIFEQ",
    build: Build::Other(&OverVersion {
        versions: VALKEY_9_0,
        build: &|redis, env, lease, _| {
            Box::new(SetIfEqual {
                has_delifeq: true,
                ..SetIfEqual::new(redis, env, lease)
            })
        },
    }),
    ..RECIPE
};

/// The same, extended without a time to live.
pub const RECIPE_NO_EXPIRY: Recipe = Recipe {
    name: "redis-set-ifeq-no-expiry",
    summary: "The same, but SET IFEQ extends without PX.",
    flaw: Some("a SET without a time to live makes the key stay for ever"),
    claims: &[
        Claim::MutualExclusion,
        Claim::ExclusiveOwnership,
        Claim::OwnReleaseOnly,
    ],
    build: Build::Other(&OverVersion {
        versions: REDIS_8_4,
        build: &|redis, env, lease, _| {
            Box::new(SetIfEqual {
                extends_with_ttl: false,
                ..SetIfEqual::new(redis, env, lease)
            })
        },
    }),
    ..RECIPE
};

struct SetIfEqual {
    leased: Leased,
    token: String,
    /// Until when the lock is held by the monotonic clock.
    deadline: Cell<Duration>,
    /// Whether `DELIFEQ` deletes, and not `DELEX`.
    has_delifeq: bool,
    /// Whether step 3 names the lease.
    extends_with_ttl: bool,
}

impl SetIfEqual {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            token: String::new(),
            deadline: Cell::new(Duration::ZERO),
            has_delifeq: false,
            extends_with_ttl: true,
        }
    }

    /// Step 2: whether the key holds the token.
    async fn is_ours(&self, unanswered: &mut Option<RedisError>) -> RedisResult<bool> {
        let ask = async || self.leased.redis.get(&self.leased.lease.key).await;
        let there = until_answered(&self.leased, unanswered, ask).await?;
        Ok(there.as_deref() == Some(self.token.as_bytes()))
    }

    async fn delete(&self, key: &str) -> RedisResult<bool> {
        match self.has_delifeq {
            true => self.leased.redis.delifeq(key, &self.token).await,
            false => self.leased.redis.delex(key, &self.token).await,
        }
    }
}

#[async_trait(?Send)]
impl Lock for SetIfEqual {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.token = self.leased.env.guid(); // Step 1.
            let deadline = self.leased.deadline(self.leased.env.monotonic());
            let set = match self.leased.set_if_missing(&self.token).await {
                Ok(set) => set,
                Err(error) if !error.definite() => {
                    unanswered = Some(error);
                    self.is_ours(&mut unanswered).await?
                }
                // An earlier SET may be executed yet.
                Err(refused) => return Err(unanswered.unwrap_or(refused).into()),
            };
            if set && self.leased.is_in_time(deadline, &mut unanswered) {
                self.deadline.set(deadline);
                return Ok(self.leased.held(None));
            }
            self.leased.pause().await;
        }
    }

    /// Step 5.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let delete = async || self.delete(&held.path_or_key).await;
        self.leased.released(delete).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        let Lease { key, time } = &self.leased.lease;
        let ttl = self.extends_with_ttl.then_some(*time);
        let token = &self.token;
        let extend = async || self.leased.redis.set_if_equal(key, token, token, ttl).await;
        self.leased.extended(&self.deadline, extend).await // Steps 3 and 4.
    }
}
