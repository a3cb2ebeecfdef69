//! An `RLock` as one of several that are acquired by one call.

use std::time::Duration;

use async_trait::async_trait;

use super::RedissonLock;
use super::waits::Waits;
use crate::clients::redis::{Redis, Value};
use crate::{Env, Held, Lease, Lock, LockError};

/// An `RLock`, and what the call that it is a part of does when it throws.
pub struct SubLock {
    lock: RedissonLock,
    /// The process and the thread.
    thread_name: String,
    hardening: Hardening,
}

/// What is done for such a lock that Redisson does not do.
#[derive(Clone, Copy)]
pub struct Hardening {
    /// What any exception may have left is unlocked, and not what a response timeout may have left alone. The field
    /// names the acquisition, and not the thread, so that what is executed late is not counted for a later one.
    pub unlocks_after_doubt: bool,
    /// The lease is set only if the key has our field.
    pub looks_before_expire: bool,
}

impl Hardening {
    /// Redisson as it is.
    pub const NONE: Self = Self {
        unlocks_after_doubt: false,
        looks_before_expire: false,
    };
    /// All of it.
    pub const ALL: Self = Self {
        unlocks_after_doubt: true,
        looks_before_expire: true,
    };
}

impl SubLock {
    pub fn new(redis: Redis, env: Env, lease: Lease, hardening: Hardening) -> Self {
        let lock = RedissonLock::new(redis, env, lease);
        Self {
            thread_name: lock.lock_name.clone(),
            lock,
            hardening,
        }
    }

    /// The hold of the lock, if it were held.
    pub fn hold(&self) -> Held {
        self.lock.leased.held(None)
    }

    /// `tryLock`, and what its caller does where it throws.
    async fn try_lock(&mut self, waits: Waits) -> Result<(), LockError> {
        if self.hardening.unlocks_after_doubt {
            let acquisition = self.lock.leased.env.guid();
            self.lock.lock_name = format!("{}:{acquisition}", self.thread_name);
        }
        let Err(error) = self.lock.lock(waits).await else {
            return Ok(());
        };
        let in_doubt = self.hardening.unlocks_after_doubt && !error.definite();
        if error == LockError::TimedOut || in_doubt {
            let _ignored = self.lock.release(self.hold()).await;
        }
        Err(error)
    }
}

#[async_trait(?Send)]
impl Lock for SubLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.try_lock(Waits::ForEver).await?;
        Ok(self.lock.schedule_expiration_renewal(None))
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    /// `tryLock(time, -1)`: the watchdog renews the lease.
    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.try_lock(Waits::at_most(time)).await?;
        Ok(self.lock.schedule_expiration_renewal(None))
    }

    /// `tryLock(time, lease)`: nothing renews it.
    async fn acquire_leased(&mut self, time: Duration, lease: Duration) -> Result<Held, LockError> {
        self.lock.leased.lease.time = lease; // `internalLockLeaseTime`
        self.try_lock(Waits::at_most(time)).await?;
        Ok(self.hold())
    }

    async fn expire(&mut self, held: &Held, lease: Duration) -> Result<bool, LockError> {
        let (redis, key) = (&self.lock.leased.redis, &*held.path_or_key);
        if !self.hardening.looks_before_expire {
            return Ok(redis.expire(key, lease).await?);
        }
        let (lease, lock_name) = (lease.as_millis().to_string(), &*self.lock.lock_name);
        let script = &self.lock.scripts.renew_expiration;
        let set = redis.script(script, &[key], &[&lease, lock_name]).await?;
        Ok(set == Value::Integer(1))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.lock.leased.lapsed(held).await
    }
}
