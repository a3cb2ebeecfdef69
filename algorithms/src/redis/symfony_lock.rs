//! symfony/lock: a lock object that counts its life, over a Redis store that it asks again and again.
//!
//! # Source
//!
//! symfony/lock 5.1.8, `Lock::acquire(true)`, `Lock::release`, `Key`, `RedisStore`, `RetryTillSaveStore`.
//! `Lock::release` and what `RedisStore::delete` answers are the same in 7.1.1.
//!
//! # Steps
//!
//! 1. The object has a token, and an end, which each call forgets first.
//! 2. A try: end := the earlier one of the end and now and the lease, by the wall clock. A script: if the value is our
//!    token, set the lease, and answer 1; otherwise `SET key token NX PX lease`, and answer whether it was. After
//!    a 0, again 90 ms to 110 ms later, for as long as it takes.
//! 3. After a 1: if the end has passed, delete the key if it has our token, and fail. Otherwise the end := now and the
//!    lease: held.
//! 4. Release: delete the key if it has our token. What the script answers is not looked at: the call fails if the key
//!    still has our token (`exists`), and returns otherwise. The end is kept.
//!
//! # Guarantees
//!
//! - A call that waits for longer than the lease fails, and leaves nothing.
//!
//! # Hazards
//!
//! - The application is not told that the lease is over; it has to ask the object (scenario `redis/pause`).
//! - A release that finds no key, or that of another, returns as one that has released the lock ([`RECIPE`], scenario
//!   `redis/release-of-nothing`).
//! - An object that keeps the end of its first try gets the lock and calls it expired
//!   ([`symfony_lock_kept_end`](super::symfony_lock_kept_end), scenario `redis/lock-object-keeps-end`).

use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "symfony-lock",
    summary: "symfony/lock: SET NX PX asked for again and again, by an object that counts its own life.",
    source: "symfony/lock 5.1.8, RedisStore and RetryTillSaveStore; Lock::release as in 7.1.1",
    flaw: Some("a release that finds no lock says that it has released it"),
    requests: &[RequestKind::Script, RequestKind::Get],
    inputs: &[RecipeInput::WallClock],
    build: Build::Redis(&|redis, env, lease| Box::new(SymfonyLock::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

/// The registry row of the same whose release looks at the answer.
pub const RECIPE_HARDENED: Recipe = Recipe {
    name: "symfony-lock-hardened",
    summary: "symfony/lock whose release fails if it has deleted nothing.",
    source: "symfony/lock 7.1.1, Lock::release, hardened",
    flaw: None,
    requests: &[RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = SymfonyLock::new(redis, env, lease);
        lock.looks_at_answer = true;
        Box::new(lock)
    }),
    ..RECIPE
};

/// Step 2.
const SAVE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0";

/// Between two attempts pass 90 ms, and a random part of 20 ms more.
const RETRY_SLEEP_MIN: Duration = Duration::from_millis(90);
const RETRY_SLEEP_SPAN: u64 = 20_000;

pub(super) struct SymfonyLock {
    leased: Leased,
    save: Script,
    delete_if_ours: Script,
    token: String,
    /// The end of the object's life, by the wall clock.
    expiring_time: Option<Duration>,
    /// Whether a call begins with the end of the one before.
    pub keeps_end: bool,
    /// Whether what is acquired too late is left where it is.
    pub keeps_key: bool,
    /// Whether a release that has deleted nothing fails.
    looks_at_answer: bool,
}

impl SymfonyLock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            save: Script::new(SAVE),
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: env.guid(),
            leased: Leased { redis, env, lease },
            expiring_time: None,
            keeps_end: false,
            keeps_key: false,
            looks_at_answer: false,
        }
    }

    /// Now and the lease (`reduceLifetime`, `resetLifetime`).
    fn lifetime(&self) -> Duration {
        self.leased.env.wall() + self.leased.lease.time
    }

    /// Step 2, once.
    async fn save(&mut self) -> RedisResult<bool> {
        let end = self.lifetime();
        self.expiring_time = Some(self.expiring_time.map_or(end, |before| before.min(end)));
        let lease = self.leased.lease.time.as_millis().to_string();
        let (keys, args) = ([&*self.leased.lease.key], [&*self.token, &*lease]);
        let saved = self.leased.redis.script(&self.save, &keys, &args).await?;
        Ok(saved == Value::Integer(1))
    }

    async fn delete(&self) -> RedisResult<Value> {
        let (keys, args) = ([&*self.leased.lease.key], [&*self.token]);
        self.leased
            .redis
            .script(&self.delete_if_ours, &keys, &args)
            .await
    }
}

#[async_trait(?Send)]
impl Lock for SymfonyLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if !self.keeps_end {
            self.expiring_time = None; // Step 1.
        }
        while !self.save().await? {
            let more = Duration::from_micros(self.leased.env.random() % RETRY_SLEEP_SPAN);
            self.leased.env.sleep(RETRY_SLEEP_MIN + more).await;
        }
        if self
            .expiring_time
            .is_some_and(|end| end <= self.leased.env.wall())
        {
            if !self.keeps_key {
                self.delete().await?;
            }
            return Err(LockError::AcquireTimeout);
        }
        self.expiring_time = Some(self.lifetime()); // Step 3.
        Ok(self.leased.held(None))
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let deleted = self.delete().await? == Value::Integer(1);
        if self.looks_at_answer {
            return deleted.then_some(()).ok_or(LockError::PlaceLost);
        }
        let owner = self.leased.redis.get(&held.path_or_key).await?;
        match owner.is_some_and(|owner| *owner == *self.token.as_bytes()) {
            true => Err(LockError::Refused), // `LockReleasingException`
            false => Ok(()),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
