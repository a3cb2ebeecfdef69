//! A lock of three functions: a library that the server keeps with its keys, called by the names of its functions.
//!
//! # Source
//!
//! redis.io, "Redis functions" (7.0), and "Distributed locks with Redis".
//!
//! # Steps
//!
//! 1. A token that no other acquisition has. Look at the monotonic clock, then `FCALL lock_acquire 1 key token lease`,
//!    which sets the key if it is missing, and answers whether it holds the token. 1: the lock is held until that time
//!    and the lease, less what clocks may differ. 0: try again later. No answer: ask again, with the time of before.
//! 2. Every third of the lease: look at the clock, then `FCALL lock_renew`. 1: the hold lasts until that time and the
//!    lease. 0: the lock is lost. No answer: ask again at the next third.
//! 3. At the deadline, stop believing.
//! 4. Release: `FCALL lock_release`. Without an answer, ask again; a 0 after that counts as released.
//! 5. After `ERR Function not found`: `FUNCTION LOAD REPLACE` of the library, and ask again.
//!
//! # Guarantees
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete), for sections that are longer than a lease.
//! - A restart from the log and a failover keep the library with the keys, as they do not keep scripts (scenario
//!   `redis/scripts-forgotten`).
//!
//! # Hazards
//!
//! - Each primary of a cluster has libraries of its own, and a slot moves without them (Redis issue 11780): a client
//!   that does step 5 once is refused by the new primary of its key ([`RECIPE_LOADED_ONCE`], scenario
//!   `redis/cluster-function-not-found`).
//! - A pause across the end of the lease, as with every lease (scenario `redis/pause`).

use std::cell::Cell;
use std::time::Duration;

use async_trait::async_trait;

use super::leased::{Leased, until_answered};
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisError, RedisResult, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-function-lock",
    summary: "A library of functions that acquire, renew, and release; loaded where it is missing (Redis 7.0).",
    source: "redis.io, Redis functions",
    requests: &[RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| Box::new(FunctionLock::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

/// The same, but a process loads the library once.
pub const RECIPE_LOADED_ONCE: Recipe = Recipe {
    name: "redis-function-lock-loaded-once",
    summary: "The same, but a process loads the library with its first call at most.",
    source: "Redis issue 11780",
    flaw: Some("a primary that has not got the library refuses each call for good"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(FunctionLock {
            loads_again: false,
            ..FunctionLock::new(redis, env, lease)
        })
    }),
    ..RECIPE
};

/// The library.
const LIBRARY: &str = "#!lua name=lock
local function acquire(keys, args)
  if redis.call('SET', keys[1], args[1], 'NX', 'PX', args[2]) then
    return 1
  end
  return redis.call('GET', keys[1]) == args[1] and 1 or 0
end

local function renew(keys, args)
  if redis.call('GET', keys[1]) == args[1] then
    return redis.call('PEXPIRE', keys[1], args[2])
  end
  return 0
end

local function release(keys, args)
  if redis.call('GET', keys[1]) == args[1] then
    return redis.call('DEL', keys[1])
  end
  return 0
end

redis.register_function('lock_acquire', acquire)
redis.register_function('lock_renew', renew)
redis.register_function('lock_release', release)";

struct FunctionLock {
    leased: Leased,
    token: String,
    /// Until when the lock is held by the monotonic clock.
    deadline: Cell<Duration>,
    /// Whether this process has called a function already.
    has_called: Cell<bool>,
    /// Step 5 at each call, or at the first alone.
    loads_again: bool,
}

impl FunctionLock {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            token: String::new(),
            deadline: Cell::new(Duration::ZERO),
            has_called: Cell::new(false),
            loads_again: true,
        }
    }

    async fn fcall(&self, function: &str) -> RedisResult<bool> {
        let Lease { key, time } = &self.leased.lease;
        let call = Command::new("FCALL").arg(function).number(1);
        let call = call.arg(&**key).arg(&self.token);
        let answer = self.leased.redis.ask(call.number(time.as_millis() as i64));
        Ok(answer.await? == Value::Integer(1))
    }

    /// What a function says, with step 5.
    async fn says_yes(&self, function: &str) -> RedisResult<bool> {
        let loads = self.loads_again || !self.has_called.replace(true);
        match self.fcall(function).await {
            Err(RedisError::Refused(error))
                if error.text() == "ERR Function not found" && loads =>
            {
                let load = Command::new("FUNCTION").args(["LOAD", "REPLACE", LIBRARY]);
                self.leased.redis.ask(load).await?;
                self.fcall(function).await
            }
            answer => answer,
        }
    }
}

#[async_trait(?Send)]
impl Lock for FunctionLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.token = self.leased.env.guid(); // Step 1.
            let deadline = self.leased.deadline(self.leased.env.monotonic());
            let ask = async || self.says_yes("lock_acquire").await;
            if until_answered(&self.leased, &mut unanswered, ask).await?
                && self.leased.is_in_time(deadline, &mut unanswered)
            {
                self.deadline.set(deadline);
                return Ok(self.leased.held(None));
            }
            self.leased.pause().await;
        }
    }

    /// Step 4.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let release = async || self.says_yes("lock_release").await;
        self.leased.released(release).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        let renew = async || self.says_yes("lock_renew").await;
        self.leased.extended(&self.deadline, renew).await // Steps 2 and 3.
    }
}
