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
//! - A message that is lost costs a waiter what is left of the lease (scenario `redis/lost-message`).
//! - If the answer of step 1 is lost, the lock is ours at the server, and no watchdog knows: nobody gets it before the
//!   lease is over. Asked again, the same thread enters a second time, and its one release gives one entry back: the
//!   release is done, the lock is not free, and again nobody gets it before the lease is over.

mod client_id;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use client_id::uuid;

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
    ownership: OwnershipRule::Key,
    requests: REQUESTS,
    inputs: &[RecipeInput::Channels],
    cancellable: false,
    shareable: true,
    build: Build::Redis(&|redis, env, lease| Box::new(RedissonLock::new(redis, env, lease))),
};

const TRY_LOCK: &str = "\
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
return redis.call('PTTL', KEYS[1])";

const RENEW_EXPIRATION: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0";

const UNLOCK: &str = "\
local done = redis.call('GET', KEYS[3])
if done ~= false then
  return tonumber(done)
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[3])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 'unlock')
redis.call('SET', KEYS[3], 1, 'PX', ARGV[3])
return 1";

/// As it was before 3.24: a release that is sent twice counts twice.
const UNLOCK_WITHOUT_LATCH: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 'unlock')
return 1";

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
    scripts: Scripts,
    /// The process and the thread.
    lock_name: String,
    channel_name: String,
    /// Whether the watchdog is to renew the present hold.
    renewal: Rc<Cell<bool>>,
    /// Whether an entry is left behind.
    failed_renewal: Rc<Cell<bool>>,
}

#[derive(Clone)]
struct Scripts {
    try_lock: Script,
    renew_expiration: Script,
    unlock: Script,
}

/// What came of an attempt.
enum TryAcquire {
    Acquired,
    /// Another's, for this much longer, or for ever.
    Ttl(Option<Duration>),
}

impl RedissonLock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            scripts: Scripts {
                try_lock: Script::new(TRY_LOCK),
                renew_expiration: Script::new(RENEW_EXPIRATION),
                unlock: Script::new(UNLOCK),
            },
            lock_name: format!("{}:{}", uuid(&env, &lease.key), env.thread()),
            channel_name: format!("redisson_lock__channel:{{{}}}", lease.key),
            watchdog: redis.clone(),
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

    /// The same, of which the field names the client alone, and no thread.
    pub fn without_thread_id(mut self) -> Self {
        self.lock_name = uuid(&self.leased.env, &self.leased.lease.key);
        self
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
    async fn try_acquire(&self) -> Result<TryAcquire, LockError> {
        let (key, lease) = (&*self.leased.lease.key, self.internal_lock_lease_time());
        for _ in 0..TRIES {
            let args = [&*lease, &self.lock_name];
            match self
                .eval_write_synced(&self.scripts.try_lock, &[key], &args)
                .await?
            {
                Some(Value::Integer(left)) => {
                    let left = u64::try_from(left).ok().map(Duration::from_millis);
                    return Ok(TryAcquire::Ttl(left));
                }
                Some(_) => return Ok(TryAcquire::Acquired),
                None => {}
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

    /// Steps 1 to 3.
    async fn lock(&self) -> Result<(), LockError> {
        if let TryAcquire::Acquired = self.try_acquire().await? {
            return Ok(());
        }
        let subscription = self.leased.redis.subscribe(&self.channel_name).await?;
        loop {
            match self.try_acquire().await? {
                TryAcquire::Acquired => return Ok(()),
                TryAcquire::Ttl(left) => {
                    let told = async {
                        subscription.next().await;
                    };
                    match left.filter(|_| self.waits_for_ttl) {
                        Some(left) => {
                            timeout(&self.leased.env, left, told).await;
                        }
                        None => told.await,
                    }
                }
            }
        }
    }

    /// Step 4.
    fn schedule_expiration_renewal(&mut self) {
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
        self.lock().await?;
        self.schedule_expiration_renewal();
        Ok(self.leased.held(None))
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
        let Leased { redis, lease, .. } = &self.leased;
        let lock = Self::new(redis.clone(), env.clone(), lease.clone());
        Some(Box::new(Self {
            watchdog: self.watchdog.clone(),
            waits_for_ttl: self.waits_for_ttl,
            waits_for_replicas: self.waits_for_replicas,
            unlocks_if_held: self.unlocks_if_held,
            keeps_failed_renewal: self.keeps_failed_renewal,
            scripts: self.scripts.clone(),
            ..lock
        }))
    }
}
