//! redsync: Redlock for Go over pools of go-redis, with one value for all tries of a call.
//!
//! # Source
//!
//! redsync 4.17, `mutex.go` and `redsync.go`: `LockContext`, `UnlockContext`, `actOnPoolsAsync`; over go-redis 9.
//!
//! # Steps
//!
//! Defaults: `WithExpiry` 8 s, `WithTries` 32, a retry delay of 50 ms to 250 ms, `WithDriftFactor` 0.01,
//! `WithTimeoutFactor` 0.05.
//!
//! 1. A value of its own for the call.
//! 2. A try: look at the monotonic clock, `SET key value NX PX expiry` on every pool, and wait for all of them. The
//!    context of these has a deadline of the timeout factor times the expiry; go-redis heeds it while it waits for a
//!    connection, and reads for as long as its `ReadTimeout` unless `ContextTimeoutEnabled` is set.
//! 3. If more than half have set it, and the clock is before the expiry less the drift, we hold the lock until then
//!    (`Until`). If not, delete the value on every pool, wait for the retry delay, and go to 2 with the same value.
//! 4. Our caller looks at `Until`, and stops believing then.
//! 5. `Unlock`: a script deletes the key on every pool if it holds the value; it is done if more than half have.
//!
//! # Guarantees
//!
//! - `mutual-exclusion`, as Redlock has it, as long as no delete is late.
//!
//! # Hazards
//!
//! - A delete of an earlier try that is late finds the value of the later one, and deletes its key: the specification
//!   asks for a value of each request (scenario `redis/redlock-late-delete`).
//! - With an expiry that is shorter than go-redis's `ReadTimeout`, no try is done in time while one server is silent,
//!   although all others answer (scenario `redis/redsync-silent-server`).

use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{CLAIMS, Leased};
use super::quorum::{majority, run_everywhere, servers};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, join, timeout};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redsync",
    summary: "redsync: Redlock for Go, with one value for all tries of a call.",
    source: "redsync 4.17, mutex.go",
    flaw: Some("a late delete of an earlier try deletes the keys of a later one"),
    claims: CLAIMS,
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| Box::new(Redsync::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

const TRIES: u32 = 32;
const RETRY_DELAY_MIN: Duration = Duration::from_millis(50);
const RETRY_DELAY_MAX: Duration = Duration::from_millis(250);

/// The drift factor and the timeout factor, as parts of the expiry.
const DRIFT_PART: u32 = 100;
const TIMEOUT_PART: u32 = 20;

pub(super) struct Redsync {
    leased: Leased,
    delete_script: Script,
    value: String,
    /// Whether each try has a value of its own.
    value_per_try: bool,
    /// Whether reads end at the deadline of their context.
    context_timeout_enabled: bool,
}

impl Redsync {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            delete_script: Script::new(DELETE_IF_OURS),
            value: String::new(),
            value_per_try: false,
            context_timeout_enabled: false,
        }
    }

    /// The same with a value for each try, on clients whose reads end with their context.
    pub fn hardened(mut self) -> Self {
        self.value_per_try = true;
        self.context_timeout_enabled = true;
        self
    }

    /// Waits for this for as long as its context lets it.
    async fn in_context<T: Default>(&self, done: impl Future<Output = T>) -> T {
        match self.context_timeout_enabled {
            false => done.await,
            true => {
                let limit = self.leased.lease.time / TIMEOUT_PART;
                timeout(&self.leased.env, limit, done)
                    .await
                    .unwrap_or_default()
            }
        }
    }

    /// How many pools have set the key.
    async fn acquire_on_pools(&self) -> usize {
        let Leased { redis, lease, .. } = &self.leased;
        let set = |server: Redis| {
            let set = async move {
                server
                    .set_if_missing(&lease.key, &self.value, lease.time)
                    .await
            };
            self.in_context(async { set.await == Ok(true) })
        };
        let answers = join(servers(redis).map(set)).await;
        answers.into_iter().filter(|set| *set).count()
    }

    /// How many pools have deleted the key.
    async fn release_on_pools(&self) -> usize {
        let Leased { redis, lease, .. } = &self.leased;
        run_everywhere(redis, &self.delete_script, &lease.key, &[&self.value]).await
    }
}

#[async_trait(?Send)]
impl Lock for Redsync {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let expiry = self.leased.lease.time;
        self.value = self.leased.env.guid(); // Step 1.
        for attempt in 0..TRIES {
            if attempt > 0 {
                let most = (RETRY_DELAY_MAX - RETRY_DELAY_MIN).as_micros() as u64;
                let more = Duration::from_micros(self.leased.env.random() % most);
                self.leased.env.sleep(RETRY_DELAY_MIN + more).await;
            }
            if self.value_per_try {
                self.value = self.leased.env.guid();
            }
            let start = self.leased.env.monotonic();
            let set = self.acquire_on_pools().await; // Step 2.
            let until = (start + expiry).saturating_sub(expiry / DRIFT_PART);
            if set >= majority(&self.leased.redis) && self.leased.env.monotonic() < until {
                return Ok(self.leased.held(None).until(until)); // Step 3.
            }
            self.in_context(self.release_on_pools()).await;
        }
        Err(LockError::TimedOut)
    }

    /// Step 5.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        match self.release_on_pools().await >= majority(&self.leased.redis) {
            true => Ok(()),
            false => Err(LockError::TimedOut),
        }
    }

    /// Step 4.
    async fn lost(&self, held: &Held) -> LockError {
        self.leased.lapsed(held).await
    }
}
