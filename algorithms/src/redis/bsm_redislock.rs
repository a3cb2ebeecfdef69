//! bsm/redislock: a script that sets the key, or takes it back by its token, and a watchdog that refreshes it.
//!
//! # Source
//!
//! bsm/redislock 0.10.0, `redislock.go`: `Obtain`, `Refresh`, `Release`; `obtain.lua`, `refresh.lua`, `release.lua`;
//! `ExampleLock_Refresh_watchdog`. Over go-redis 9.
//!
//! # Steps
//!
//! Defaults: no retry. The README waits by `LinearBackoff(100 * time.Millisecond)`.
//!
//! 1. A token of 16 random bytes, or that of `Options.Token`; the value is the token with the metadata behind it.
//! 2. `obtain.lua`: `MSETNX key value`. If there is a key, and as many bytes of it as our token has are our token, set
//!    the value all the same; otherwise we do not have the lock. If it was set, `PEXPIRE key ttl`.
//! 3. If we do not have it, wait for the back-off, and go to 2, for as long as the ttl. An error ends the call.
//! 4. The watchdog of the example refreshes the lock every third of the ttl: `refresh.lua` sets its time again if the
//!    key has our value. If that fails, for whatever reason, it cancels the context of the work.
//! 5. Release: `release.lua` deletes the key if it has our value.
//!
//! # Guarantees
//!
//! - Who comes again with its own token has the lock again, with a new ttl.
//!
//! # Hazards
//!
//! - A token that another's begins with passes for it: `worker-1` takes the lock of `worker-10`
//!   ([`bsm_redislock_own_token`](super::bsm_redislock_own_token), scenario `redis/bsm-redislock-own-token`).
//! - An error of step 2 ends the call, and what it may have set stays for the ttl.

use std::time::Duration;

use async_trait::async_trait;

use super::leased::{CLAIMS, Leased};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "bsm-redislock",
    summary: "bsm/redislock: a script sets the key, or takes it back by its token; a watchdog refreshes it.",
    source: "bsm/redislock 0.10.0, redislock.go and ExampleLock_Refresh_watchdog",
    claims: CLAIMS,
    requests: &[RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| Box::new(BsmRedislock::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

const OBTAIN: &str = "\
if redis.call('MSETNX', KEYS[1], ARGV[1]) ~= 1 then
  local length = tonumber(ARGV[2])
  if redis.call('GETRANGE', KEYS[1], 0, length - 1) ~= string.sub(ARGV[1], 1, length) then
    return false
  end
  redis.call('MSET', KEYS[1], ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.status_reply('OK')";

const REFRESH: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return false
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.status_reply('OK')";

const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return false
end
redis.call('DEL', KEYS[1])
return redis.status_reply('OK')";

const BACKOFF: Duration = Duration::from_millis(100);

pub(super) struct BsmRedislock {
    leased: Leased,
    obtain: Script,
    refresh: Script,
    release: Script,
    token: String,
    /// `Options.Token`
    own_token: Option<String>,
}

impl BsmRedislock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            obtain: Script::new(OBTAIN),
            refresh: Script::new(REFRESH),
            release: Script::new(RELEASE),
            token: String::new(),
            own_token: None,
        }
    }

    /// The same, of which the token is the name of the machine.
    pub fn with_own_token(mut self) -> Self {
        self.own_token = Some(self.leased.env.host());
        self
    }

    /// What a script answers for our key: whether it was done.
    async fn run(&self, script: &Script, args: &[&str]) -> Result<bool, LockError> {
        let Leased { redis, lease, .. } = &self.leased;
        Ok(redis.script(script, &[&lease.key], args).await? != Value::Nil)
    }

    fn ttl(&self) -> String {
        self.leased.lease.time.as_millis().to_string()
    }
}

#[async_trait(?Send)]
impl Lock for BsmRedislock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let env = self.leased.env.clone();
        self.token = self.own_token.clone().unwrap_or_else(|| env.guid()); // Step 1.
        let (length, ttl) = (self.token.len().to_string(), self.ttl());
        let deadline = env.monotonic() + self.leased.lease.time;
        while !self
            .run(&self.obtain, &[&self.token, &length, &ttl])
            .await?
        {
            if env.monotonic() + BACKOFF > deadline {
                return Err(LockError::AcquireTimeout);
            }
            env.sleep(BACKOFF).await; // Step 3.
        }
        Ok(self.leased.held(None))
    }

    /// Step 5.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        match self.run(&self.release, &[&self.token]).await? {
            true => Ok(()),
            false => Err(LockError::PlaceLost),
        }
    }

    /// Step 4.
    async fn lost(&self, _held: &Held) -> LockError {
        loop {
            self.leased.env.sleep(self.leased.lease.time / 3).await;
            match self.run(&self.refresh, &[&self.token, &self.ttl()]).await {
                Ok(true) => {}
                Ok(false) => return LockError::PlaceLost,
                Err(error) => return error,
            }
        }
    }
}
