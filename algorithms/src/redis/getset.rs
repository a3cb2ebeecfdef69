//! SETNX with the time when the lock ends as the value, and GETSET to take over one that has ended.
//!
//! # Source
//!
//! redis.io, commands/setnx: "Design pattern: Locking with SETNX", from before SET had NX and PX.
//!
//! # Steps
//!
//! 1. `SETNX key stamp`: the wall clock of the client, and the lease. If it was set, we hold the lock.
//! 2. `GET key`. If the stamp is not over by our own wall clock, try again later.
//! 3. `GETSET key stamp`. If the stamp that was there is over, we hold the lock; if not, another contender was faster,
//!    and our stamp stands in its place.
//! 4. Release: `DEL key`, unless our stamp is over.
//!
//! # Guarantees
//!
//! - A holder that has died is followed by one other, if the clocks of all clients agree.
//!
//! # Hazards
//!
//! - The clocks are those of the clients: one that is fast takes a lock whose holder is alive (scenario
//!   `redis/getset-fast-clock`), and what it writes lasts for longer than the lease by the clocks of others (scenario
//!   `redis/getset-fast-holder`).
//! - A contender that comes too late in step 3 has changed the stamp: the value of the key does not say any more whose
//!   lock it is, so that a release cannot compare it (scenario `redis/getset-loser`).
//! - Between the look at the clock and the DEL the lease can end (scenario `redis/getset-late-delete`).

use std::time::Duration;

use async_trait::async_trait;

use super::leased::{CLAIMS, Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Bytes, Command, Redis, RedisError, RedisResult, Value};
use crate::{
    Build, Env, Held, KeyHold, Keys, Lease, Lock, LockError, LockKind, OwnershipRule, Recipe,
    RecipeInput,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-getset",
    summary: "SETNX with the time when the lock ends, which GETSET takes over; released with DEL.",
    source: "redis.io, commands/setnx: Design pattern: Locking with SETNX",
    flaw: Some("each client says by its own clock when the lease of another is over"),
    claims: CLAIMS,
    ownership: OwnershipRule::of_keys(LockKind::Mutex, stamp),
    requests: &[
        RequestKind::SetNx,
        RequestKind::Get,
        RequestKind::GetSet,
        RequestKind::Del,
    ],
    inputs: &[RecipeInput::WallClock],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| Box::new(GetSet::new(redis, env, lease, true))),
};

/// The registry row of one that deletes a stamp that is over, and sets its own with SETNX.
pub const RECIPE_DEL: Recipe = Recipe {
    name: "redis-getset-del",
    summary: "SETNX with the time when the lock ends; one that is over is deleted, and set again.",
    source: "redis.io, commands/setnx: Handling deadlocks, which warns of it",
    flaw: Some("the DEL of a contender deletes the stamp that another has just set"),
    requests: &[RequestKind::SetNx, RequestKind::Get, RequestKind::Del],
    build: Build::Redis(&|redis, env, lease| Box::new(GetSet::new(redis, env, lease, false))),
    ..RECIPE
};

/// The stamp is the hold, and says until when.
fn stamp(keys: &dyn Keys, lock: &str, holds: &mut Vec<KeyHold>) {
    if let Some(Value::Bulk(stamp)) = keys.read(lock) {
        holds.push(KeyHold {
            expires: Some(until(&stamp)),
            ..KeyHold::exclusive(stamp)
        });
    }
}

/// What a stamp says, in milliseconds: a value that is no number is over.
fn until(stamp: &Bytes) -> i64 {
    let digits = std::str::from_utf8(stamp).ok();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

struct GetSet {
    leased: Leased,
    /// Whether a stamp that is over is replaced in one step.
    replaces: bool,
    /// Until when the lock is held, by the wall clock.
    until: Duration,
}

impl GetSet {
    fn new(redis: Redis, env: Env, lease: Lease, replaces: bool) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            replaces,
            until: Duration::ZERO,
        }
    }

    /// The stamp of a lease that begins now.
    fn stamp(&mut self) -> String {
        self.until = self.leased.env.wall() + self.leased.lease.time;
        self.until.as_millis().to_string()
    }

    /// Whether a stamp is over by our clock.
    fn is_over(&self, stamp: &Bytes) -> bool {
        i128::from(until(stamp)) < self.leased.env.wall().as_millis() as i128
    }

    /// Step 1.
    async fn set(&mut self) -> RedisResult<bool> {
        let stamp = self.stamp();
        self.leased
            .redis
            .setnx(&self.leased.lease.key, &stamp)
            .await
    }

    /// Step 3: whether the stamp that was there is over; one that was deleted since is.
    async fn replace(&mut self) -> RedisResult<bool> {
        let stamp = self.stamp();
        let command = Command::new("GETSET")
            .arg(&*self.leased.lease.key)
            .arg(stamp);
        match self.leased.redis.ask(command).await? {
            Value::Bulk(before) => Ok(self.is_over(&before)),
            Value::Nil => Ok(true),
            _ => Err(RedisError::Unexpected),
        }
    }
}

#[async_trait(?Send)]
impl Lock for GetSet {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            if self.set().await? {
                return Ok(self.leased.held(None)); // Step 1.
            }
            let there = self.leased.redis.get(&self.leased.lease.key).await?; // Step 2.
            if there.is_some_and(|stamp| self.is_over(&stamp)) {
                let taken = match self.replaces {
                    true => self.replace().await?, // Step 3.
                    false => {
                        self.leased.redis.del(&self.leased.lease.key).await?;
                        self.set().await?
                    }
                };
                if taken {
                    return Ok(self.leased.held(None));
                }
            }
            self.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if self.leased.env.wall() > self.until {
            return Err(LockError::LeaseLapsed);
        }
        self.leased.redis.del(&held.path_or_key).await?; // Step 4.
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
