//! python-redis-lock: SET NX with an expiry, and a list by which a release wakes one waiter, which waits in BLPOP.
//!
//! # Source
//!
//! python-redis-lock 4.0, `redis_lock.Lock`, without renewal.
//!
//! # Steps
//!
//! 1. `SET key id NX PX expire`. If it was set, we hold the lock.
//! 2. If not: `BLPOP signal expire` by a connection of its own; whatever comes of it, go to 1.
//! 3. Release: a script: if the key is not ours, say so. Otherwise empty the signal's list, push one element, which
//!    stays for a second at most, and delete the key.
//!
//! # Guarantees
//!
//! - A waiter does not ask again and again. A release wakes one waiter: the one that has waited longest.
//! - The signal is not the lock: a waiter that is woken asks for the key like any other client.
//!
//! # Hazards
//!
//! - The holder is not told that the expiry has passed, and goes on believing (scenario `redis/pause`).
//! - A waiter whose BLPOP comes more than a second after the release misses the signal, and so does the next if the
//!   waiter that took it dies: then they wait until their own BLPOP is over (scenario `redis/late-wait`).

use std::time::Duration;

use async_trait::async_trait;

use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The requests that it makes, but for `BLPOP`.
const REQUESTS: &[RequestKind] = &[RequestKind::Set, RequestKind::Script];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "python-redis-lock",
    summary: "python-redis-lock: SET NX PX, and waiters that wait in BLPOP for a signal.",
    source: "python-redis-lock 4.0, Lock",
    requests: REQUESTS,
    cancellable: false,
    build: Build::Redis(&|redis, env, lease| Box::new(PythonRedisLock::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

/// The registry row of the release before, which takes the signal back.
pub const RECIPE_3: Recipe = Recipe {
    name: "python-redis-lock-3",
    summary: "python-redis-lock as it was in 3.x: a release deletes its own signal again.",
    source: "python-redis-lock 3.3, Lock.release and Lock._delete_signal",
    flaw: Some("a waiter whose BLPOP comes a moment after the release is not woken"),
    requests: &[RequestKind::Set, RequestKind::Script, RequestKind::Del],
    cancellable: false,
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = PythonRedisLock::new(redis, env, lease);
        lock.deletes_signal = true;
        Box::new(lock)
    }),
    ..super::compare_and_delete::RECIPE
};

const UNLOCK: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 1
end
redis.call('DEL', KEYS[2])
redis.call('LPUSH', KEYS[2], 1)
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[1])
return 0";

/// How long a signal stays that no waiter takes (`signal_expire`).
const SIGNAL_EXPIRE: &str = "1000";

/// Between a connection that broke and the next attempt.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct PythonRedisLock {
    pub leased: Leased,
    /// The connection for waiting.
    waiting: Redis,
    unlock: Script,
    pub id: String,
    signal: String,
    /// Whether a release deletes the signal when it has been given.
    deletes_signal: bool,
}

impl PythonRedisLock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            waiting: redis.dedicated(),
            unlock: Script::new(UNLOCK),
            id: env.guid(),
            signal: format!("lock-signal:{{{}}}", lease.key),
            leased: Leased { redis, env, lease },
            deletes_signal: false,
        }
    }

    /// Steps 1 and 2.
    pub async fn set_or_wait(&self) -> Result<(), LockError> {
        while !self.leased.set_if_missing(&self.id).await? {
            let expire = self.leased.lease.time;
            // Step 2. An error of the wait is no more than a wait that has ended early.
            if self.waiting.blpop(&self.signal, expire).await.is_err() {
                self.leased.env.sleep(PAUSE).await;
            }
        }
        Ok(())
    }
}

#[async_trait(?Send)]
impl Lock for PythonRedisLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.id = self.leased.env.guid();
        self.set_or_wait().await?;
        Ok(self.leased.held(None))
    }

    /// Step 3.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let keys = [&*held.path_or_key, &*self.signal];
        let args = [&*self.id, SIGNAL_EXPIRE];
        let redis = &self.leased.redis;
        if redis.script(&self.unlock, &keys, &args).await? != Value::Integer(0) {
            return Err(LockError::PlaceLost);
        }
        if self.deletes_signal {
            redis.del(&self.signal).await?;
        }
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
