//! python-redis-lock with `auto_renewal`: one object for all rounds, and a thread that extends each hold.
//!
//! # Source
//!
//! python-redis-lock 4.0.1, `redis_lock.Lock`: `acquire`, `_start_lock_renewer`, `_lock_renewer`,
//! `_stop_lock_renewer`, `release`.
//!
//! # Steps
//!
//! 1. `GET key`: if it holds the id of this object, the call fails (`AlreadyAcquired`). Then steps 1 and 2 of
//!    [`python_redis_lock`], with an id that the object keeps.
//! 2. If the object has a thread, the call fails (`AlreadyStarted`). Otherwise start one: every two thirds of `expire`
//!    a script sets the time of the key again if it holds the id. The first error ends the thread; the holder is not
//!    told.
//! 3. Release: stop the thread and forget it, if it lives. Then step 3 of `python_redis_lock`.
//!
//! # Hazards
//!
//! - A thread that has ended by itself is never forgotten: each later call takes the lock, and fails ([`RECIPE`],
//!   scenario `redis/renewal-thread-kept`).
//! - The holder is not told that its renewals have ended (scenario `redis/pause`).

use async_trait::async_trait;

use super::leased::never;
use super::python_redis_lock::{self, PythonRedisLock};
use super::renewed::Renewed;
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "python-redis-lock-auto-renewal",
    summary: "python-redis-lock with auto_renewal: an object whose thread extends each hold.",
    source: "python-redis-lock 4.0.1, Lock with auto_renewal",
    flaw: Some("once a renewal has failed, each call takes the lock, and fails"),
    requests: &[RequestKind::Set, RequestKind::Script, RequestKind::Get],
    build: Build::Redis(&|redis, env, lease| Box::new(AutoRenewal::new(redis, env, lease, false))),
    ..python_redis_lock::RECIPE
};

/// The registry row of the same that forgets a thread that has ended.
pub const RECIPE_HARDENED: Recipe = Recipe {
    name: "python-redis-lock-auto-renewal-hardened",
    summary: "python-redis-lock with auto_renewal, whose release forgets the thread also if it has ended.",
    source: "python-redis-lock 4.0.1, Lock._stop_lock_renewer, hardened",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| Box::new(AutoRenewal::new(redis, env, lease, true))),
    ..RECIPE
};

const EXTEND: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 1
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 0";

struct AutoRenewal {
    lock: PythonRedisLock,
    extend: Script,
    /// `_lock_renewal_thread`
    renewal_thread: Option<Renewed>,
    forgets_ended_thread: bool,
}

impl AutoRenewal {
    fn new(redis: Redis, env: Env, lease: Lease, forgets_ended_thread: bool) -> Self {
        Self {
            lock: PythonRedisLock::new(redis, env, lease),
            extend: Script::new(EXTEND),
            renewal_thread: None,
            forgets_ended_thread,
        }
    }

    /// `_start_lock_renewer`
    fn start_lock_renewer(&mut self) -> Result<(), LockError> {
        if self.renewal_thread.is_some() {
            return Err(LockError::AlreadyHeld); // `AlreadyStarted`
        }
        let leased = &self.lock.leased;
        let (redis, extend, id) = (
            leased.redis.clone(),
            self.extend.clone(),
            self.lock.id.clone(),
        );
        let (key, expire) = (leased.lease.key.clone(), leased.lease.time);
        let renew = async move || {
            let args = [&*id, &*expire.as_millis().to_string()];
            redis.script(&extend, &[&key], &args).await == Ok(Value::Integer(0))
        };
        self.renewal_thread = Some(Renewed::begin(&leased.env, expire * 2 / 3, renew));
        Ok(())
    }

    /// `_stop_lock_renewer`
    fn stop_lock_renewer(&mut self) {
        let forgets = self.forgets_ended_thread;
        if let Some(thread) = self
            .renewal_thread
            .take_if(|thread| forgets || !thread.is_over())
        {
            thread.stop();
        }
    }
}

#[async_trait(?Send)]
impl Lock for AutoRenewal {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let leased = &self.lock.leased;
        let owner = leased.redis.get(&leased.lease.key).await?;
        if owner.is_some_and(|owner| *owner == *self.lock.id.as_bytes()) {
            return Err(LockError::AlreadyHeld); // `AlreadyAcquired`
        }
        self.lock.set_or_wait().await?;
        self.start_lock_renewer()?;
        Ok(self.lock.leased.held(None))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.stop_lock_renewer();
        self.lock.release(held).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
