//! Spring Integration's `RedisLockRegistry`: the id of the registry under a key, and a lock of the process before it.
//!
//! # Source
//!
//! Spring Integration 7.2.0-SNAPSHOT of August 2026, `RedisLockRegistry`: `RedisLock.lock`, `tryRedisLock`, `unlock`,
//! `removeLockKey`, `renew`, and `RedisSpinLock`, as it is with servers before Redis 8.4.
//!
//! # Steps
//!
//! Defaults: `expireAfter` 60 s, `idleBetweenTries` 100 ms, `SPIN_LOCK`, no `renewalTaskScheduler`.
//!
//! 1. Lock the lock of the process (`localLock`).
//! 2. A script: if the key holds the id of this registry (`clientId`), set its time again; if there is no key, set it
//!    to the id for `expireAfter`; otherwise sleep for `idleBetweenTries`, and ask again. An error unlocks the lock of
//!    the process, and the call fails.
//! 3. With a `renewalTaskScheduler`: every third of `expireAfter` a script sets the time of the key again if it holds
//!    the id. If it does not, the renewal ends; the holder does not hear of it.
//! 4. `unlock`: a script deletes the key if it holds the id, and then the renewal ends. If it does not, the lock has
//!    expired: the call fails. Whatever comes of that, unlock the lock of the process.
//!
//! # Guarantees
//!
//! - A request that is sent twice by one process counts once.
//!
//! # Hazards
//!
//! - The holder is not told that `expireAfter` is over before it unlocks (scenario `redis/pause`).
//! - An `unlock` that fails with an error does not come to the end of the renewal: it goes on without a holder, and the
//!   key never expires ([`RECIPE_RENEWED`], scenario `redis/spring-failed-unlock`).
//! - The value names the registry and not the acquisition: a late `unlock` deletes the key under a later hold of the
//!   same process (scenario `redis/spring-late-unlock`).

pub(super) mod pub_sub_lock;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::iter;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use pub_sub_lock::PubSubLock;

use super::leased::{CLAIMS, Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "spring-redis-lock-registry",
    summary: "Spring Integration's RedisLockRegistry: the id of the registry under a key that expires.",
    source: "Spring Integration 7.2, RedisLockRegistry",
    claims: CLAIMS,
    requests: &[RequestKind::Script],
    cancellable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedisLockRegistry::new(redis, env, lease, Renewal::None))
    }),
    ..super::compare_and_delete::RECIPE
};

/// The registry row of the same with a scheduler for renewals.
pub const RECIPE_RENEWED: Recipe = Recipe {
    name: "spring-redis-lock-registry-renewed",
    summary: "Spring Integration's RedisLockRegistry with a renewalTaskScheduler.",
    source: "Spring Integration 7.2, RedisLockRegistry.setRenewalTaskScheduler",
    flaw: Some("the renewal goes on when the unlock has failed"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedisLockRegistry::new(
            redis,
            env,
            lease,
            Renewal::UntilUnlocked,
        ))
    }),
    ..RECIPE
};

/// The registry row of the same whose renewal ends whatever comes of the unlock.
pub const RECIPE_HARDENED: Recipe = Recipe {
    name: "spring-redis-lock-registry-renewal-ended",
    summary: "Spring Integration's RedisLockRegistry whose renewal ends before the key is deleted.",
    source: "Spring Integration 7.2, RedisLockRegistry.removeLockKey, hardened",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedisLockRegistry::new(
            redis,
            env,
            lease,
            Renewal::UntilUnlock,
        ))
    }),
    ..RECIPE
};

/// How long the lock is renewed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Renewal {
    None,
    /// Until an unlock has deleted the key.
    UntilUnlocked,
    /// Until an unlock begins.
    UntilUnlock,
}

const OBTAIN_LOCK: &str = "\
local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
elseif not owner then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0";

const RENEW: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
end
return 0";

const UNLINK_UNLOCK: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('UNLINK', KEYS[1]) == 1 then
  return 1
end
return 0";

const IDLE_BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// How long the lock of the process is waited for before it is looked at again.
const LOCAL_WAIT: Duration = Duration::from_millis(10);

/// The keys whose locks of the process are locked.
#[derive(Default)]
struct LocalLocks(RefCell<BTreeSet<Rc<str>>>);

/// The id of the registry of a process.
struct ClientId(String);

pub(super) struct RedisLockRegistry {
    pub leased: Leased,
    /// How a waiter learns that the lock is free, if it does not ask again and again.
    pub pub_sub: Option<PubSubLock>,
    obtain_lock: Script,
    renew: Script,
    unlink_unlock: Script,
    client_id: Rc<ClientId>,
    local: Rc<LocalLocks>,
    renewal: Renewal,
    /// Whether the present hold is to be renewed.
    renewed: Rc<Cell<bool>>,
}

impl RedisLockRegistry {
    pub fn new(redis: Redis, env: Env, lease: Lease, renewal: Renewal) -> Self {
        Self {
            pub_sub: None,
            obtain_lock: Script::new(OBTAIN_LOCK),
            renew: Script::new(RENEW),
            unlink_unlock: Script::new(UNLINK_UNLOCK),
            client_id: env.process_wide(|| ClientId(env.guid())),
            local: env.process_wide(LocalLocks::default),
            leased: Leased { redis, env, lease },
            renewal,
            renewed: Rc::default(),
        }
    }

    fn expire_after(&self) -> String {
        self.leased.lease.time.as_millis().to_string()
    }

    /// The same as a `RedisPubSubLock`, whose unlock is this script.
    pub fn with_pub_sub(self, pub_sub: PubSubLock, unlink_unlock: &str) -> Self {
        Self {
            pub_sub: Some(pub_sub),
            unlink_unlock: Script::new(unlink_unlock),
            ..self
        }
    }

    /// `obtainLock`
    pub async fn obtain(&self) -> Result<bool, LockError> {
        let (id, key) = (&*self.client_id.0, &*self.leased.lease.key);
        let args = [id, &*self.expire_after()];
        let answer = self
            .leased
            .redis
            .script(&self.obtain_lock, &[key], &args)
            .await?;
        Ok(answer == Value::Integer(1))
    }

    /// Step 1: `lock`, or `tryLock` for so long.
    async fn lock_local(&self, time: Option<Duration>) -> Result<(), LockError> {
        let env = &self.leased.env;
        let until = time.map(|time| env.monotonic() + time);
        while !self
            .local
            .0
            .borrow_mut()
            .insert(self.leased.lease.key.clone())
        {
            if until.is_some_and(|until| env.monotonic() >= until) {
                return Err(LockError::AcquireTimeout);
            }
            env.sleep(LOCAL_WAIT).await;
        }
        Ok(())
    }

    /// `tryRedisLockInner`: whether the lock was obtained, within so long if that is given.
    async fn try_redis_lock(&self, time: Option<Duration>) -> Result<bool, LockError> {
        if let Some(pub_sub) = &self.pub_sub {
            let obtain = async || self.obtain().await;
            return pub_sub.subscribe_lock(&self.leased, time, obtain).await;
        }
        let env = &self.leased.env;
        let expire = time.map(|time| env.monotonic() + time);
        while !self.obtain().await? {
            if expire.is_some_and(|expire| env.monotonic() >= expire) {
                return Ok(false);
            }
            env.sleep(IDLE_BETWEEN_TRIES).await;
        }
        Ok(true)
    }

    /// Steps 1 and 2.
    async fn lock(&mut self, time: Option<Duration>) -> Result<Held, LockError> {
        self.lock_local(time).await?;
        let obtained = self.try_redis_lock(time).await;
        if obtained != Ok(true) {
            self.unlock_local();
            return Err(obtained.err().unwrap_or(LockError::AcquireTimeout));
        }
        if self.renewal != Renewal::None {
            self.schedule_renewal();
        }
        Ok(self.leased.held(None))
    }

    /// Step 3.
    fn schedule_renewal(&mut self) {
        let renewed = Rc::new(Cell::new(true));
        self.renewed = Rc::clone(&renewed);
        let Leased { redis, env, lease } = &self.leased;
        let (redis, env, key, every) = (
            redis.clone(),
            env.clone(),
            lease.key.clone(),
            lease.time / 3,
        );
        let (renew, id) = (self.renew.clone(), Rc::clone(&self.client_id));
        let expire_after = self.expire_after();
        self.leased.env.spawn(async move {
            loop {
                env.sleep(every).await;
                if !renewed.get() {
                    return;
                }
                let answer = redis.script(&renew, &[&key], &[&id.0, &expire_after]).await;
                if answer == Ok(Value::Integer(0)) {
                    return;
                }
            }
        });
    }

    fn unlock_local(&self) {
        self.local.0.borrow_mut().remove(&self.leased.lease.key);
    }
}

#[async_trait(?Send)]
impl Lock for RedisLockRegistry {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.lock(None).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    /// `tryLock(time, unit)`, by the monotonic clock, where the library goes by that of the wall.
    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.lock(Some(time)).await
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if self.renewal == Renewal::UntilUnlock {
            self.renewed.set(false);
        }
        let (redis, keys) = (&self.leased.redis, [&*held.path_or_key]);
        let channel = self.pub_sub.as_ref().map(PubSubLock::channel);
        let args: Vec<&str> = iter::once(&*self.client_id.0).chain(channel).collect();
        let answer = redis.script(&self.unlink_unlock, &keys, &args).await;
        self.unlock_local();
        match answer? {
            Value::Integer(1) => {
                self.renewed.set(false);
                Ok(())
            }
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
