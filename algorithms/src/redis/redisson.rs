//! Redisson's `RLock`: a hash with a count per thread, a watchdog that renews the lease, and waking by publish.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonLock`, `LockRenewalScheduler`, `LockPubSub`.
//!
//! # Steps
//!
//! Functions have the names of Redisson's.
//!
//! 1. A script: if the key is missing, or has our field, count one up and set the lease; otherwise answer what is left
//!    of the lease. Our field names the client of the process and the thread, and not the acquisition.
//! 2. If we did not get it: subscribe to the lock's channel, and go to 1 again, for the lock may have been released
//!    before the server heard of the subscription.
//! 3. Wait for a message, or until what is left of the lease is over, and go to 1. `tryLock` gives up when it has
//!    waited for as long as it wanted to, by the wall clock; if that is no time, step 1 is all.
//! 4. While we hold it, a watchdog sets the lease again every third of it, as long as our field is there.
//! 5. Release: a script: if the latch of this request is there, answer what it holds. If our field is missing, answer
//!    nothing. Count one down; at zero delete the key, publish, and leave the latch. Then delete the latch.
//!
//! # Guarantees
//!
//! - Whoever waits is woken by a message, and does not ask all the time.
//! - A release that is sent twice counts once, as long as the latch lives.
//!
//! # Hazards
//!
//! - The application is never told that the lease has ended (issue 4698): it goes on believing (scenario
//!   `redis/pause`).
//! - Renewals that share a connection with what is stuck, or wait for a free one, come too late (scenarios
//!   `redis/stalled-connection`, `redis/exhausted-pool`).
//! - A callback that blocks the client's event loop for longer than the lease starves the watchdog (scenario
//!   `redis/blocked-event-loop`).
//! - A message that is lost costs a waiter what is left of the lease (scenario `redis/lost-message`).
//! - If the answer of step 1 is lost, the lock is ours at the server, and no watchdog knows: no other gets it before
//!   the lease is over. Asked again, the same thread enters a second time, and its one release gives one entry back:
//!   the release is done, the lock is not free, and again no other gets it before the lease is over (scenario
//!   `redis/lost-acquire-reply`).
//! - A release that is sent again, and comes when the latch is gone and the same thread has the lock again, frees it
//!   under the thread (scenario `redis/zombie-unlock`).

mod client_id;
pub(super) mod fair_queue;
mod renewal;
pub(super) mod scripts;
pub(super) mod sub_lock;
pub(super) mod waits;

use std::cell::Cell;
use std::iter;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use client_id::uuid;
use fair_queue::FairQueue;
use renewal::{is_redirect, synced_eval};
use scripts::{FENCED_TRY_LOCK, Scripts, TryAcquire, UNLOCK_WITHOUT_LATCH};
use waits::Waits;

use super::leased::{Leased, REENTRANT_CLAIMS, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe, RecipeInput};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Script,
    RequestKind::Del,
    RequestKind::Subscribe,
];

/// What it goes by besides.
pub(super) const INPUTS: &[RecipeInput] = &[
    RecipeInput::WallClock,
    RecipeInput::Channels,
    RecipeInput::TryAcquire,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-lock",
    summary: "Redisson's RLock: a hash per lock, a watchdog, and waking by publish.",
    source: "Redisson 4.x, RedissonLock",
    flaw: None,
    claims: REENTRANT_CLAIMS,
    ownership: OwnershipRule::KEY,
    requests: REQUESTS,
    inputs: INPUTS,
    cancellable: false,
    shareable: true,
    build: Build::Redis(&|redis, env, lease| Box::new(RedissonLock::new(redis, env, lease))),
};

/// How long the latch of a release lives: a client's timeouts and pauses, for each of its attempts.
const UNLOCK_LATCH_MILLIS: &str = "13000";

/// How often a lock is tried whose script no replica has heard of, and how long it takes at least from one to the next.
const TRIES: u32 = 5;
const RETRY_DELAY: Duration = Duration::from_secs(1);

pub(super) struct RedissonLock {
    leased: Leased,
    /// Whether a wait ends with the lease of whoever has the lock, if nobody says a word before.
    pub waits_for_ttl: bool,
    /// Whether a script counts only if a replica, of those that there are, has heard of it.
    pub waits_for_replicas: bool,
    /// Whether a release begins with a look whether there is anything to release.
    pub unlocks_if_held: bool,
    /// Whether a renewal that has failed leaves an entry behind, for which no later hold gets a watchdog.
    pub keeps_failed_renewal: bool,
    /// Whether a call waits for ever that a server of a cluster redirects.
    pub ignores_redirects: bool,
    /// By what the watchdog renews the lease.
    pub watchdog: Redis,
    /// The key of the number that each entry counts up, of a `RFencedLock`.
    token_name: Option<String>,
    /// Those who wait, of a `RFairLock`.
    queue: Option<FairQueue>,
    scripts: Scripts,
    /// The process and the thread.
    lock_name: String,
    channel_name: String,
    /// Whether the watchdog is to renew the present hold.
    renewal: Rc<Cell<bool>>,
    /// Whether an entry is left behind.
    failed_renewal: Rc<Cell<bool>>,
}

impl RedissonLock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            scripts: Scripts::new(),
            lock_name: format!("{}:{}", uuid(&env, &lease.key), env.thread()),
            channel_name: format!("redisson_lock__channel:{{{}}}", lease.key),
            watchdog: redis.clone(),
            token_name: None,
            queue: None,
            leased: Leased { redis, env, lease },
            waits_for_ttl: true,
            waits_for_replicas: false,
            unlocks_if_held: false,
            keeps_failed_renewal: false,
            ignores_redirects: false,
            renewal: Rc::default(),
            failed_renewal: Rc::default(),
        }
    }

    /// The same, of which a release that is sent twice counts twice.
    pub fn without_latch(self) -> Self {
        self.with_unlock(UNLOCK_WITHOUT_LATCH)
    }

    /// The same with another script for the release.
    pub fn with_unlock(mut self, unlock: &str) -> Self {
        self.scripts.unlock = Script::new(unlock);
        self
    }

    /// The same, of which each script is sent to one server, and all others are to know it.
    pub fn with_scripts_sent_once(mut self) -> Self {
        self.scripts = Scripts::sent_once();
        self
    }

    /// The same of another kind of lock, with scripts and a channel of its own.
    pub fn with_scripts(mut self, scripts: Scripts, channel_name: String) -> Self {
        self.scripts = scripts;
        self.channel_name = channel_name;
        self
    }

    /// The same, of which each entry counts a number up, and answers it.
    pub fn fenced(mut self) -> Self {
        self.scripts.try_lock = Script::new(FENCED_TRY_LOCK);
        self.token_name = Some(format!("redisson_lock_token:{{{}}}", self.leased.lease.key));
        self
    }

    /// The same, of which those who wait stand in a queue.
    pub fn fair(mut self, queue: FairQueue) -> Self {
        (self.scripts.try_lock, self.scripts.unlock) = queue.scripts();
        self.queue = Some(queue);
        self
    }

    /// The number that the last entry, whosever it was, has counted up to (`getToken`).
    pub async fn get_token(&self) -> RedisResult<Option<u64>> {
        let Some(token_name) = &self.token_name else {
            return Ok(None);
        };
        let token = self.leased.redis.get(token_name).await?;
        let digits = token
            .as_deref()
            .and_then(|bytes| std::str::from_utf8(bytes).ok());
        Ok(digits.and_then(|digits| digits.parse().ok()))
    }

    /// The same, of which the field names the client alone, and no thread.
    pub fn without_thread_id(mut self) -> Self {
        self.lock_name = uuid(&self.leased.env, &self.leased.lease.key);
        self
    }

    /// The same object, used by another thread.
    pub fn of_thread(&self, env: &Env) -> Self {
        let Leased { redis, lease, .. } = &self.leased;
        let lock = Self::new(redis.clone(), env.clone(), lease.clone());
        Self {
            watchdog: self.watchdog.clone(),
            waits_for_ttl: self.waits_for_ttl,
            waits_for_replicas: self.waits_for_replicas,
            unlocks_if_held: self.unlocks_if_held,
            keeps_failed_renewal: self.keeps_failed_renewal,
            ignores_redirects: self.ignores_redirects,
            scripts: self.scripts.clone(),
            channel_name: self.channel_name.clone(),
            token_name: self.token_name.clone(),
            queue: self.queue.clone(),
            ..lock
        }
    }

    fn internal_lock_lease_time(&self) -> String {
        self.leased.lease.time.as_millis().to_string()
    }

    /// Runs a script. Answers nothing if there are replicas to wait for, and none has heard of it.
    async fn eval_write_synced(
        &self,
        script: &Script,
        keys: &[&str],
        args: &[&str],
    ) -> RedisResult<Option<Value>> {
        let waits = self.waits_for_replicas;
        let answer = synced_eval(&self.leased.redis, waits, script, keys, args).await;
        if self.ignores_redirects && is_redirect(&answer) {
            never().await;
        }
        answer
    }

    /// Step 1, of a caller who waits for so long.
    pub async fn try_acquire(&self, waits: Waits) -> Result<TryAcquire, LockError> {
        let (key, lease) = (&*self.leased.lease.key, self.internal_lock_lease_time());
        let queue = self.queue.as_ref();
        let (names, more) = (
            self.queue_names(),
            queue.map(|queue| waits.as_args(&self.leased.env, queue.wait_in_seconds)),
        );
        let token = self.token_name.as_deref();
        let keys: Vec<&str> = iter::once(key).chain(token).chain(names).collect();
        let args = [&*lease, &*self.lock_name].into_iter();
        let args: Vec<&str> = args
            .chain(more.iter().flatten().map(|arg| &**arg))
            .collect();
        let script = match queue {
            Some(queue) if waits == Waits::NotAtAll => &queue.try_lock_once,
            Some(_) | None => &self.scripts.try_lock,
        };
        for _ in 0..TRIES {
            if let Some(answer) = self.eval_write_synced(script, &keys, &args).await? {
                return Ok(TryAcquire::from(&answer));
            }
            // At the primary it is ours, and everybody sees that. Whether that can be undone changes nothing.
            let _undone = self.unlock_inner(key).await;
            let more = Duration::from_micros(self.leased.env.random() % 1_000_000);
            self.leased.env.sleep(RETRY_DELAY + more).await;
        }
        Err(LockError::TimedOut)
    }

    /// What the script of step 5 answers, if a replica has heard of it where one must.
    async fn unlock_inner(&self, key: &str) -> Result<Option<Value>, LockError> {
        let request = self.leased.env.guid();
        let latch = format!("redisson_unlock_latch:{{{key}}}:{request}");
        let keys = [key, &*self.channel_name, &*latch].into_iter();
        let keys: Vec<&str> = keys.chain(self.queue_names()).collect();
        let lease = self.internal_lock_lease_time();
        let now = self.queue.as_ref().map(|_| waits::now(&self.leased.env));
        let args = [&*lease, &*self.lock_name, UNLOCK_LATCH_MILLIS].into_iter();
        let args: Vec<&str> = args.chain(now.as_deref()).collect();
        let answer = self
            .eval_write_synced(&self.scripts.unlock, &keys, &args)
            .await?;
        // Whether that succeeds changes nothing: it goes by itself.
        let _gone = self.leased.redis.del(&latch).await;
        Ok(answer)
    }

    /// The keys of the queue, if it has one.
    fn queue_names(&self) -> impl Iterator<Item = &str> {
        let names = self.queue.as_ref().map(|queue| &queue.names);
        names.into_iter().flatten().map(|name| &**name)
    }

    /// Whether the key has our field (`isHeldByCurrentThread`).
    async fn is_held_by_current_thread(&self, key: &str) -> RedisResult<bool> {
        let look = Command::new("HEXISTS").arg(key).arg(&*self.lock_name);
        let there = self.leased.redis.ask(look).await?;
        Ok(there == Value::Integer(1))
    }
}

#[async_trait(?Send)]
impl Lock for RedissonLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let token = self.lock(Waits::ForEver).await?;
        Ok(self.schedule_expiration_renewal(token))
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    /// `tryLock`
    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        let token = self.lock(Waits::at_most(time)).await?;
        Ok(self.schedule_expiration_renewal(token))
    }

    /// Step 5.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if self.unlocks_if_held && !self.is_held_by_current_thread(&held.path_or_key).await? {
            return Ok(());
        }
        self.renewal.set(false);
        match self.unlock_inner(&held.path_or_key).await? {
            Some(Value::Integer(_)) => {
                self.failed_renewal.set(false);
                Ok(())
            }
            Some(_) => Err(LockError::PlaceLost),
            None => Err(LockError::TimedOut),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    /// What it sends names the thread; nothing else is kept in the object.
    fn for_task(&self, env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(self.of_thread(env)))
    }
}
