//! node-redlock's `using`: Redlock over ioredis, with a timer that extends the lock while the routine runs.
//!
//! # Source
//!
//! node-redlock, main branch of August 2025, `src/index.ts`: `using`, `acquire`, `extend`, `release`, `_execute`, and
//! `_attemptOperation`. Its release 5.0.0-beta.2 counts the duration from the first attempt instead of the successful
//! one (its issue 299).
//!
//! # Steps
//!
//! Defaults: `driftFactor` 0.01, `retryCount` 10, `retryDelay` 200 ms, `retryJitter` 100 ms,
//! `automaticExtensionThreshold` 500 ms.
//!
//! 1. `acquire`: the client chooses a value. A script on every server sets the key to it, for the duration, if the key
//!    does not exist. If more than half of the servers agree, the lock is acquired. If more than half refuse, the
//!    client waits for the retry delay, give or take the jitter, and sends the script again with the same value.
//! 2. After the last retry, a script on every server deletes the key if it holds the value, and the call fails.
//! 3. The lock expires at: start of the attempt + duration - drift. `acquire` does not check whether that has passed
//!    (its issue 296).
//! 4. `using` starts the routine, and a timer that fires one threshold before the lock expires. It extends the lock:
//!    a script on every server sets the key again if it holds the value, with the retries of step 1. After the last
//!    retry, they begin again if the lock has not expired; if it has, the routine's signal is aborted.
//! 5. `release`: the script of step 2, with the retries of step 1, on a majority.
//!
//! # Guarantees
//!
//! - A signal informs the routine that its lock could not be extended.
//!
//! # Hazards
//!
//! - The signal comes after the retries of step 4. They take ten times the delay, but the lock expires one threshold
//!   after the first attempt: for the rest another may hold it (scenario `redis/node-redlock-late-abort`).
//! - If half of an even number of servers agree and half refuse, there is no majority, and the promise of the attempt
//!   is never settled (scenario `redis/node-redlock-tie`).
//! - Nothing is deleted between two attempts, and a key with the client's own value counts as a refusal: split votes
//!   stay split until the retries are over (its issue 369).
//! - The expiration is counted by `Date.now()`, the wall clock.

use std::cell::Cell;
use std::time::Duration;

use async_trait::async_trait;

use super::leased::{CLAIMS, Leased, drift};
use super::quorum::{EXTEND_IF_OURS, Outcome, first_majority, unresolved};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, RecipeInput, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "node-redlock",
    summary: "node-redlock's using: Redlock over ioredis, extended by a timer while the routine runs.",
    source: "node-redlock 5.0.0-beta.2 and main of August 2025, src/index.ts",
    flaw: Some("the signal that the lock could not be extended comes when all retries are over"),
    claims: CLAIMS,
    requests: &[RequestKind::Script],
    inputs: &[RecipeInput::WallClock],
    cancellable: false,
    build: Build::Redis(&|redis, env, lease| Box::new(NodeRedlock::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

const ACQUIRE: &str = "\
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1";

const ACQUIRE_AGAIN: &str = "\
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1";

const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return 1
end
return 0";

const RETRY_COUNT: u32 = 10;
const RETRY_DELAY: Duration = Duration::from_millis(200);
const RETRY_JITTER: Duration = Duration::from_millis(100);
const AUTOMATIC_EXTENSION_THRESHOLD: Duration = Duration::from_millis(500);

pub(super) struct NodeRedlock {
    leased: Leased,
    acquire_script: Script,
    extend_script: Script,
    release_script: Script,
    value: String,
    /// When the lock expires, by the wall clock.
    expiration: Cell<Duration>,
    /// Whether a tied attempt fails, a failed one is undone, and the signal comes before the lock expires.
    hardened: bool,
}

impl NodeRedlock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            acquire_script: Script::new(ACQUIRE),
            extend_script: Script::new(EXTEND_IF_OURS),
            release_script: Script::new(RELEASE),
            value: String::new(),
            expiration: Cell::default(),
            hardened: false,
        }
    }

    /// The same lock with ties, failed attempts, and late signals mended.
    pub fn hardened(mut self) -> Self {
        self.acquire_script = Script::new(ACQUIRE_AGAIN);
        self.hardened = true;
        self
    }

    /// One attempt on all servers (`_attemptOperation`). Returns when it began if a majority agrees.
    async fn attempt_operation(&self, script: &Script, with_duration: bool) -> Option<Duration> {
        let Leased { redis, env, lease } = &self.leased;
        let start = env.wall();
        let duration = lease.time.as_millis().to_string();
        let args = [&*self.value, &*duration];
        let args = &args[..1 + usize::from(with_duration)];
        match first_majority(redis, script, &lease.key, args).await {
            Outcome::For => Some(start),
            Outcome::Tied if !self.hardened => unresolved().await,
            Outcome::Tied | Outcome::Against => None,
        }
    }

    /// Attempts until a majority agrees or the retries are over (`_execute`).
    async fn execute(&self, script: &Script, with_duration: bool) -> Result<Duration, LockError> {
        for attempt in 0..=RETRY_COUNT {
            if attempt > 0 {
                let jitter = RETRY_JITTER.as_micros() as u64;
                let part = Duration::from_micros(self.leased.env.random() % (2 * jitter));
                let delay = RETRY_DELAY - RETRY_JITTER + part;
                self.leased.env.sleep(delay).await;
            }
            if let Some(start) = self.attempt_operation(script, with_duration).await {
                return Ok(start);
            }
            if self.hardened && with_duration && self.expiration.get().is_zero() {
                self.attempt_operation(&self.release_script, false).await;
            }
        }
        Err(LockError::TimedOut)
    }

    fn has_expired(&self) -> bool {
        self.expiration.get() < self.leased.env.wall()
    }

    fn set_expiration(&self, start: Duration) {
        let duration = self.leased.lease.time;
        self.expiration
            .set((start + duration).saturating_sub(drift(duration)));
    }

    /// Step 4.
    async fn extend(&self) -> Result<(), LockError> {
        if self.has_expired() {
            return Err(LockError::LeaseLapsed);
        }
        let start = self.execute(&self.extend_script, true).await?;
        self.set_expiration(start);
        Ok(())
    }

    fn left(&self) -> Duration {
        self.expiration.get().saturating_sub(self.leased.env.wall())
    }

    /// Extends the lock whenever the threshold is reached, until an extension fails after the lock has expired.
    async fn extend_until_failed(&self) -> LockError {
        loop {
            let env = &self.leased.env;
            env.sleep(self.left().saturating_sub(AUTOMATIC_EXTENSION_THRESHOLD))
                .await;
            while self.extend().await.is_err() {
                if self.has_expired() {
                    return LockError::LeaseLapsed;
                }
            }
        }
    }

    /// The time at which the lock has expired, however often it is extended meanwhile.
    async fn expired(&self) -> LockError {
        while !self.left().is_zero() {
            self.leased.env.sleep(self.left()).await;
        }
        LockError::LeaseLapsed
    }
}

#[async_trait(?Send)]
impl Lock for NodeRedlock {
    /// Steps 1 to 3.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.value = self.leased.env.guid();
        self.expiration.set(Duration::ZERO);
        let start = self.execute(&self.acquire_script, true).await;
        let start = match start {
            Ok(start) => start,
            Err(error) => {
                self.attempt_operation(&self.release_script, false).await;
                return Err(error);
            }
        };
        self.set_expiration(start);
        if self.hardened && self.has_expired() {
            self.attempt_operation(&self.release_script, false).await;
            return Err(LockError::TimedOut);
        }
        Ok(self.leased.held(None))
    }

    /// Step 5.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.expiration.set(Duration::ZERO);
        self.execute(&self.release_script, false).await.map(|_| ())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match self.hardened {
            false => self.extend_until_failed().await,
            true => select(self.extend_until_failed(), self.expired()).await,
        }
    }
}
