//! Laravel's cache lock on Redis: a key with its owner, which another process can give back if it has the owner's name.
//!
//! # Source
//!
//! laravel/framework 13.26.1, `Illuminate\Cache\RedisLock`, `Lock::block`, `RedisStore::restoreLock`. The lease is
//! `seconds`.
//!
//! # Steps
//!
//! 1. `SET name owner EX seconds NX`, a random owner for each lock object. If it was not set, again 250 ms later.
//! 2. Release, a script: delete the key if its value is the owner; otherwise no.
//! 3. Restore: the process that holds sends `owner()` with a job. The other one calls `restoreLock(name, owner)`, and
//!    step 2 of that object.
//!
//! # Guarantees
//!
//! - A release that comes when the lease is over takes nothing from the next owner, whichever process it is of.
//!
//! # Hazards
//!
//! - The application is not told that its lease is over (scenario `redis/pause`).
//! - [`laravel_cache_lock_force_release`](super::laravel_cache_lock_force_release) gives back without the owner
//!   (scenario `redis/late-restored-lock`).

use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "laravel-cache-lock",
    summary: "Laravel's cache lock: SET EX NX, and a release by the owner's name, in whichever process.",
    source: "laravel/framework 13.26.1, RedisLock and restoreLock",
    requests: &[RequestKind::Set, RequestKind::Script],
    inputs: &[RecipeInput::RestoredLock],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedisLock::new(redis, env, lease, Release::ByOwner))
    }),
    ..super::compare_and_delete::RECIPE
};

/// Between two attempts (`sleepMilliseconds`).
const SLEEP: Duration = Duration::from_millis(250);

/// How another process gives the lock back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Release {
    /// By the owner that it was sent.
    ByOwner,
    /// Without one (`forceRelease`).
    Force,
}

pub(super) struct RedisLock {
    leased: Leased,
    restored: Release,
    delete_if_ours: Script,
    owner: String,
}

impl RedisLock {
    pub fn new(redis: Redis, env: Env, lease: Lease, restored: Release) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            restored,
            delete_if_ours: Script::new(DELETE_IF_OURS),
            owner: String::new(),
        }
    }

    /// Step 1, once.
    async fn set(&self) -> RedisResult<bool> {
        let Lease { key, time } = &self.leased.lease;
        let seconds = time.as_secs().max(1).to_string();
        let set = Command::new("SET").args([&**key, &self.owner, "EX", &seconds, "NX"]);
        Ok(self.leased.redis.ask(set).await?.is_ok())
    }

    /// Step 2.
    async fn delete(&self, owner: &str) -> Result<(), LockError> {
        let (redis, keys) = (&self.leased.redis, [&*self.leased.lease.key]);
        match redis.script(&self.delete_if_ours, &keys, &[owner]).await? {
            Value::Integer(1) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }
}

#[async_trait(?Send)]
impl Lock for RedisLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.owner = self.leased.env.guid();
        while !self.set().await? {
            self.leased.env.sleep(SLEEP).await;
        }
        Ok(self.leased.held(None))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.delete(&self.owner).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    /// Step 3.
    fn owner(&self) -> Option<String> {
        Some(self.owner.clone())
    }

    async fn release_by(&mut self, owner: &str) -> Result<(), LockError> {
        if self.restored == Release::Force {
            self.leased.redis.del(&self.leased.lease.key).await?;
            return Ok(());
        }
        self.delete(owner).await
    }
}
