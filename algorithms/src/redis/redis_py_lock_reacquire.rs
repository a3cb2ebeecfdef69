//! redis-py's `Lock` whose holder calls `reacquire`, or `extend`, while its section goes on.
//!
//! # Source
//!
//! redis-py 8, `redis/lock.py`: `Lock.reacquire`, `do_reacquire`, `extend`, `do_extend`. `redis/asyncio/lock.py` has
//! the same.
//!
//! # Steps
//!
//! 1. Acquire as [`redis_py_lock`](super::redis_py_lock) does.
//! 2. Every third of the timeout, `reacquire`: a script sets the time of the key to the timeout again if the key holds
//!    the token of this thread. If it does not: `LockNotOwnedError`, and we stop.
//! 3. Or `extend(timeout)`, of which the script adds the timeout to what is left of the time, unless `replace_ttl` is
//!    true.
//! 4. Release as [`redis_py_lock`](super::redis_py_lock) does.
//!
//! # Guarantees
//!
//! - The holder hears at the next `reacquire` that another has the lock, or that none has.
//!
//! # Hazards
//!
//! - What is added each third of a timeout adds up to two thirds of one each time: a holder that dies after a long
//!   section leaves a key that lives for longer than its section took ([`RECIPE_EXTEND`], scenario
//!   `redis/redis-py-extend`).

use async_trait::async_trait;

use super::leased::Leased;
use super::redis_py_lock::{Local, RedisPyLock};
use crate::clients::RequestKind;
use crate::clients::redis::{Script, Value};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-py-lock-reacquire",
    summary: "redis-py's Lock whose holder calls reacquire every third of its timeout.",
    source: "redis-py 8, redis/lock.py, Lock.reacquire",
    requests: &[RequestKind::Set, RequestKind::Script],
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        let lock = RedisPyLock::new(redis, env, lease, Local::OfThread);
        Box::new(Renewed::new(lock, REACQUIRE))
    }),
    ..super::redis_py_lock::RECIPE
};

/// The registry row of the same that calls `extend`.
pub const RECIPE_EXTEND: Recipe = Recipe {
    name: "redis-py-lock-extend",
    summary: "redis-py's Lock whose holder calls extend(timeout) every third of its timeout.",
    source: "redis-py 8, redis/lock.py, Lock.extend with replace_ttl=False",
    flaw: Some("the time that is left grows with each call, and outlives a holder that dies"),
    build: Build::Redis(&|redis, env, lease| {
        let lock = RedisPyLock::new(redis, env, lease, Local::OfThread);
        Box::new(Renewed::new(lock, EXTEND))
    }),
    ..RECIPE
};

const REACQUIRE: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1";

const EXTEND: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + ARGV[2])
return 1";

struct Renewed {
    lock: RedisPyLock,
    renew: Script,
}

impl Renewed {
    fn new(lock: RedisPyLock, renew: &str) -> Self {
        let renew = Script::new(renew);
        Self { lock, renew }
    }
}

#[async_trait(?Send)]
impl Lock for Renewed {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.lock.acquire().await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    /// Steps 2 and 3.
    async fn lost(&self, held: &Held) -> LockError {
        let Leased { redis, env, lease } = &self.lock.leased;
        let timeout = lease.time.as_millis().to_string();
        loop {
            env.sleep(lease.time / 3).await;
            let Some(token) = self.lock.token.borrow().clone() else {
                return LockError::NotHeld;
            };
            let keys = [&*held.path_or_key];
            match redis.script(&self.renew, &keys, &[&token, &timeout]).await {
                Ok(Value::Integer(1)) => {}
                Ok(_) => return LockError::PlaceLost,
                Err(error) => return error.into(),
            }
        }
    }
}
