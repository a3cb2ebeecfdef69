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
//! 3. Wait for a message, or until what is left of the lease is over, and go to 1.
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
//! - If the answer of step 1 is lost, the lock is ours at the server, and no watchdog knows: nobody gets it before the
//!   lease is over. Asked again, the same thread enters a second time, and its one release gives one entry back: the
//!   release is done, the lock is not free, and again nobody gets it before the lease is over.

mod client_id;
pub(super) mod scripts;

use std::cell::Cell;
use std::iter;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use client_id::uuid;
use scripts::{FENCED_TRY_LOCK, Scripts, TryAcquire, UNLOCK_WITHOUT_LATCH};

use super::leased::{Leased, REENTRANT_CLAIMS, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisResult, Script, Value};
use crate::{
    Build, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe, RecipeInput, timeout,
};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Script,
    RequestKind::Del,
    RequestKind::Subscribe,
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
    inputs: &[RecipeInput::Channels],
    cancellable: false,
    shareable: true,
    build: Build::Redis(&|redis, env, lease| Box::new(RedissonLock::new(redis, env, lease))),
};

/// How long the latch of a release lives: a client's timeouts and pauses, for each of its attempts.
const UNLOCK_LATCH_MILLIS: &str = "13000";

/// How often a lock is tried whose script no replica has heard of, and how long it takes at least from one to the next.
const TRIES: u32 = 5;
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// How long replicas have to say that they have heard of a script.
const SYNC_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// By what the watchdog renews the lease.
    pub watchdog: Redis,
    /// The key of the number that each entry counts up, of a `RFencedLock`.
    token_name: Option<String>,
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
            leased: Leased { redis, env, lease },
            waits_for_ttl: true,
            waits_for_replicas: false,
            unlocks_if_held: false,
            keeps_failed_renewal: false,
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
            scripts: self.scripts.clone(),
            channel_name: self.channel_name.clone(),
            token_name: self.token_name.clone(),
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
        synced_eval(&self.leased.redis, waits, script, keys, args).await
    }

    /// Step 1.
    pub async fn try_acquire(&self) -> Result<TryAcquire, LockError> {
        let (key, lease) = (&*self.leased.lease.key, self.internal_lock_lease_time());
        let keys: Vec<&str> = iter::once(key).chain(self.token_name.as_deref()).collect();
        for _ in 0..TRIES {
            let args = [&*lease, &self.lock_name];
            if let Some(answer) = self
                .eval_write_synced(&self.scripts.try_lock, &keys, &args)
                .await?
            {
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
        let (keys, lease) = (
            [key, &*self.channel_name, &*latch],
            self.internal_lock_lease_time(),
        );
        let args = [&*lease, &*self.lock_name, UNLOCK_LATCH_MILLIS];
        let answer = self
            .eval_write_synced(&self.scripts.unlock, &keys, &args)
            .await?;
        // Whether that succeeds changes nothing: it goes by itself.
        let _gone = self.leased.redis.del(&latch).await;
        Ok(answer)
    }

    /// Whether the key has our field (`isHeldByCurrentThread`).
    async fn is_held_by_current_thread(&self, key: &str) -> RedisResult<bool> {
        let look = Command::new("HEXISTS").arg(key).arg(&*self.lock_name);
        let there = self.leased.redis.ask(look).await?;
        Ok(there == Value::Integer(1))
    }

    /// Steps 1 to 3. Answers the number of the entry, if it has one.
    async fn lock(&self) -> Result<Option<u64>, LockError> {
        acquire_when_told(&self.leased, &self.channel_name, async || {
            Ok(match self.try_acquire().await? {
                TryAcquire::Ttl(left) => TryAcquire::Ttl(left.filter(|_| self.waits_for_ttl)),
                acquired => acquired,
            })
        })
        .await
    }

    /// Step 4. Answers the hold that it renews.
    pub fn schedule_expiration_renewal(&mut self, token: Option<u64>) -> Held {
        self.schedule();
        self.leased.held(token)
    }

    fn schedule(&mut self) {
        if self.failed_renewal.get() {
            return;
        }
        let keeps_failed = self
            .keeps_failed_renewal
            .then(|| self.failed_renewal.clone());
        let renewal = Rc::new(Cell::new(true));
        self.renewal = Rc::clone(&renewal);
        let (redis, env) = (self.watchdog.clone(), self.leased.env.clone());
        let waits = self.waits_for_replicas;
        let (key, lock_name) = (self.leased.lease.key.clone(), self.lock_name.clone());
        let (renew, lease) = (
            self.scripts.renew_expiration.clone(),
            self.internal_lock_lease_time(),
        );
        let every = self.leased.lease.time / 3;
        self.leased.env.spawn(async move {
            loop {
                env.sleep(every).await;
                if !renewal.get() {
                    return;
                }
                let (keys, args) = ([&*key], [&*lease, &*lock_name]);
                let answer = synced_eval(&redis, waits, &renew, &keys, &args).await;
                if let Some(failed) = keeps_failed.as_ref().filter(|_| answer.is_err()) {
                    failed.set(true);
                    return;
                }
                // An error is written to a log, and so is that no replica has heard of it, and the next turn comes;
                // nobody is told that the field is gone.
                if answer == Ok(Some(Value::Integer(0))) {
                    return;
                }
            }
        });
    }
}

/// Tries, subscribes, and tries again after each message of the channel, or when what is left of a lease is over.
pub(super) async fn acquire_when_told(
    leased: &Leased,
    channel_name: &str,
    try_acquire: impl AsyncFn() -> Result<TryAcquire, LockError>,
) -> Result<Option<u64>, LockError> {
    if let TryAcquire::Acquired(token) = try_acquire().await? {
        return Ok(token);
    }
    let subscription = leased.redis.subscribe(channel_name).await?;
    loop {
        match try_acquire().await? {
            TryAcquire::Acquired(token) => return Ok(token),
            TryAcquire::Ttl(left) => {
                let told = async {
                    subscription.next().await;
                };
                match left {
                    Some(left) => {
                        timeout(&leased.env, left, told).await;
                    }
                    None => told.await,
                }
            }
        }
    }
}

/// Runs a script, and waits for replicas if it is to and there are any. Answers nothing if none of them has heard
/// of it.
async fn synced_eval(
    redis: &Redis,
    waits_for_replicas: bool,
    script: &Script,
    keys: &[&str],
    args: &[&str],
) -> RedisResult<Option<Value>> {
    if !waits_for_replicas {
        return redis.script(script, keys, args).await.map(Some);
    }
    let replicas = redis.replicas().await?;
    let answer = redis.script(script, keys, args).await?;
    let heard = match replicas {
        0 => return Ok(Some(answer)),
        _ => redis.wait(replicas, SYNC_TIMEOUT).await?,
    };
    Ok((heard > 0).then_some(answer))
}

#[async_trait(?Send)]
impl Lock for RedissonLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let token = self.lock().await?;
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
