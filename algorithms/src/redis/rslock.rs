//! rslock: Redlock for Rust over redis-rs, whose `extend` is its `lock` with another script.
//!
//! # Source
//!
//! rslock 0.7.3, `src/lock.rs`: `LockManager::acquire_no_guard`, `lock`, `extend`, `using`, `unlock`, and
//! `exec_or_retry`.
//!
//! # Steps
//!
//! Defaults: a retry count of 3, a retry delay of 200 ms, a drift factor of 0.01.
//!
//! 1. `lock`: a value of its own, and up to three attempts. Each looks at the monotonic clock, sends
//!    `SET key value NX PX ttl` to every server, and waits for all of them.
//! 2. If what is left of the ttl, less the drift, is nothing, the call has failed at once (`TtlExceeded`). If more than
//!    half have set the key, we hold the lock for what is left. If not, `unlock` everywhere, sleep for a random part of
//!    the retry delay, and try again. `acquire_no_guard` calls `lock` until it is done.
//! 3. `extend`: the same attempts with a script that sets the key again if it holds the value. We call it 500 ms before
//!    the end of the validity, as `using` does; if it fails, we do not hold the lock any more.
//! 4. `unlock`: a script deletes the key on every server if it holds the value. It answers nothing.
//!
//! # Hazards
//!
//! - An attempt of `extend` without a majority unlocks everywhere, as one of `lock` does, and then tries again what
//!   cannot succeed any more. A connection that breaks at the wrong moment gives the lock away in the middle of its
//!   validity, and the holder is told after the retries (scenario `redis/rslock-extend`).
//! - `TtlExceeded` leaves what has been set where it is, for its ttl.
//! - All servers are waited for. redis-rs 0.32 has no time-out for answers: one server that is silent holds up all.

use std::cell::Cell;
use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{CLAIMS, Leased};
use super::quorum::{EXTEND_IF_OURS, majority, run_everywhere, set_everywhere};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "rslock",
    summary: "rslock: Redlock for Rust over redis-rs, extended before its validity ends.",
    source: "rslock 0.7.3, src/lock.rs",
    flaw: Some("an extension without a majority deletes the keys while the holder believes"),
    claims: CLAIMS,
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| Box::new(Rslock::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

const RETRY_COUNT: u32 = 3;
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// How long before the end of the validity `using` extends it.
const EXTENDED_BEFORE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Lock,
    Extend,
}

pub(super) struct Rslock {
    leased: Leased,
    unlock_script: Script,
    extend_script: Script,
    value: String,
    /// Until when the lock is valid, by the monotonic clock.
    validity: Cell<Duration>,
    /// Whether an extension that has failed deletes nothing, and an acquisition that came too late does.
    hardened: bool,
}

impl Rslock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            unlock_script: Script::new(DELETE_IF_OURS),
            extend_script: Script::new(EXTEND_IF_OURS),
            value: String::new(),
            validity: Cell::default(),
            hardened: false,
        }
    }

    /// The same with what it lacks.
    pub fn hardened(mut self) -> Self {
        self.hardened = true;
        self
    }

    /// How many servers have done it.
    async fn ask_all(&self, operation: Operation) -> usize {
        let Leased { redis, lease, .. } = &self.leased;
        let Lease { key, time } = lease;
        if operation == Operation::Extend {
            let ttl = time.as_millis().to_string();
            return run_everywhere(redis, &self.extend_script, key, &[&self.value, &ttl]).await;
        }
        set_everywhere(redis, lease, &self.value).await
    }

    /// Step 4. Answers how many servers have deleted the key.
    async fn unlock(&self) -> usize {
        let Leased { redis, lease, .. } = &self.leased;
        run_everywhere(redis, &self.unlock_script, &lease.key, &[&self.value]).await
    }

    /// Steps 1 and 2.
    async fn exec_or_retry(&self, operation: Operation) -> Result<(), LockError> {
        let Leased { redis, env, .. } = &self.leased;
        let unlocks = !self.hardened || operation == Operation::Lock;
        for attempt in 1..=RETRY_COUNT {
            let validity = self.leased.deadline(env.monotonic());
            let done = self.ask_all(operation).await;
            if validity <= env.monotonic() {
                if self.hardened && operation == Operation::Lock {
                    self.unlock().await;
                }
                return Err(LockError::TimedOut);
            }
            if done >= majority(redis) {
                self.validity.set(validity);
                return Ok(());
            }
            if unlocks {
                self.unlock().await;
            }
            if attempt < RETRY_COUNT {
                let most = RETRY_DELAY.as_micros() as u64;
                env.sleep(Duration::from_micros(env.random() % most)).await;
            }
        }
        Err(LockError::TimedOut)
    }

    /// Step 3.
    async fn extend_until_failed(&self) -> LockError {
        let env = &self.leased.env;
        loop {
            let at = self.validity.get().saturating_sub(EXTENDED_BEFORE);
            env.sleep(at.saturating_sub(env.monotonic())).await;
            if self.exec_or_retry(Operation::Extend).await.is_err() {
                return LockError::LeaseLapsed;
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for Rslock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.value = self.leased.env.guid();
            if self.exec_or_retry(Operation::Lock).await.is_ok() {
                return Ok(self.leased.held(None));
            }
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        match self.unlock().await >= majority(&self.leased.redis) {
            true => Ok(()),
            // `unlock` answers nothing. That it has failed is what a caller would have to look for.
            false => Err(LockError::TimedOut),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match self.hardened {
            false => self.extend_until_failed().await,
            true => {
                select(
                    self.extend_until_failed(),
                    self.leased.lapses(&self.validity),
                )
                .await
            }
        }
    }
}
