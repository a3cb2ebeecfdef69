//! Redisson's `RReadWriteLock`: a hash with a mode and the holds of its readers or its writer, whose reads have leases
//! of their own.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonReadWriteLock`, `RedissonReadLock`, `RedissonWriteLock`.
//!
//! # Steps
//!
//! As those of [`redisson`](super::redisson), with other scripts:
//!
//! 1. To read: if the hash has no mode, or is read, or we have written it: count our field one up, leave a key for this
//!    hold with the lease, and let the hash live no shorter. To write: if the hash has no mode: set it, and count our
//!    field. If we have written it: count one up, and add the lease to what is left. Otherwise answer what is left.
//! 2. Release a read: count our field one down, and delete the key of the hold. If others hold it, the hash lives as
//!    long as the longest of their keys; otherwise delete it, and publish. Release a write: count down; at zero delete
//!    the hash and publish, or, if we read it too, turn its mode to reading, and publish nothing.
//!
//! # Guarantees
//!
//! - A writer is alone; readers are together.
//!
//! # Hazards
//!
//! - Those of [`redisson`](super::redisson).
//! - A reader that is dead stays in the hash as long as another reader lives that renews it: a writer waits for longer
//!   than the lease (scenario `redis/dead-reader`).
//! - Readers that come one after the other starve a writer: nothing says that one waits.
//! - A writer that has downgraded publishes nothing: readers that wait sleep on, for as long as the lease was when they
//!   asked (scenario `redis/downgrade-untold`).
//! - The leases of a write and of its re-entries add up: when the writer dies, the lock is free that much later
//!   (scenario `redis/write-entries-add-leases`).
//! - A reader that asks for the write waits for itself (scenario `redis/lock-upgrade`).

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::redisson::RedissonLock;
use super::redisson::scripts::Scripts;
use crate::clients::redis::{Redis, Script, Value};
use crate::ownership_rule::count;
use crate::{
    Build, Env, Held, KeyHold, Keys, Lease, Lock, LockError, LockKind, Mode, OwnershipRule, Recipe,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-read-write-lock",
    summary: "Redisson's RReadWriteLock: a hash with a mode, and leases of their own for its reads.",
    source: "Redisson 4.x, RedissonReadWriteLock",
    ownership: OwnershipRule::of_keys(LockKind::ReadWrite, holds),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonReadWriteLock::new(redis, env, lease, RENEW_READ))
    }),
    ..super::redisson::RECIPE
};

/// Each field of the hash but its mode is a hold, which a writer's name marks. A reader's may be
/// taken away when the longest of its leases is over.
pub(super) fn holds(keys: &dyn Keys, lock: &str, holds: &mut Vec<KeyHold>) {
    let Some(Value::Array(fields) | Value::Map(fields)) = keys.read(lock) else {
        return;
    };
    for pair in fields.chunks_exact(2) {
        let Value::Bulk(field) = &pair[0] else {
            continue;
        };
        if &**field == b"mode" {
            continue;
        }
        let hold = KeyHold {
            entries: count(&pair[1]),
            ..KeyHold::exclusive(field.clone())
        };
        holds.push(match field.ends_with(b":write") {
            true => hold,
            false => KeyHold {
                mode: Mode::Shared,
                takeable: Some(end_of_leases(keys, lock, &hold)),
                ..hold
            },
        });
    }
}

fn end_of_leases(keys: &dyn Keys, lock: &str, hold: &KeyHold) -> i64 {
    let reader = String::from_utf8_lossy(&hold.identity);
    let leases = (1..=hold.entries).filter_map(|entry| {
        keys.expires_at(&format!("{{{lock}}}:{reader}:rwlock_timeout:{entry}"))
    });
    leases.max().unwrap_or(0)
}

const TRY_READ: &str = "\
local timeouts = '{' .. KEYS[1] .. '}:' .. ARGV[2] .. ':rwlock_timeout:'
local mode = redis.call('HGET', KEYS[1], 'mode')
local lease = tonumber(ARGV[1])
if mode == false then
  redis.call('HSET', KEYS[1], 'mode', 'read')
elseif mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[2] .. ':write') == 0 then
  return redis.call('PTTL', KEYS[1])
end
local left = redis.call('PTTL', KEYS[1])
local hold = redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('SET', timeouts .. hold, 1, 'PX', lease)
redis.call('PEXPIRE', KEYS[1], math.max(left, lease))
return nil";

const TRY_WRITE: &str = "\
local writer = ARGV[2] .. ':write'
local mode = redis.call('HGET', KEYS[1], 'mode')
if mode == false then
  redis.call('HSET', KEYS[1], 'mode', 'write')
  redis.call('HINCRBY', KEYS[1], writer, 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if mode == 'write' and redis.call('HEXISTS', KEYS[1], writer) == 1 then
  redis.call('HINCRBY', KEYS[1], writer, 1)
  redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + ARGV[1])
  return nil
end
return redis.call('PTTL', KEYS[1])";

/// How the watchdog renews a read.
pub(super) const RENEW_READ: &str = "\
local holds = redis.call('HGET', KEYS[1], ARGV[2])
if holds == false then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
for hold = tonumber(holds), 1, -1 do
  redis.call('PEXPIRE', '{' .. KEYS[1] .. '}:' .. ARGV[2] .. ':rwlock_timeout:' .. hold, ARGV[1])
end
return 1";

/// How the watchdog renews a write.
pub(super) const RENEW_WRITE: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[2] .. ':write') == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0";

const READ_UNLOCK: &str = "\
local done = redis.call('GET', KEYS[3])
if done ~= false then
  return tonumber(done)
end
local mode = redis.call('HGET', KEYS[1], 'mode')
if mode == false then
  redis.call('PUBLISH', KEYS[2], 'unlock')
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
local hold = redis.call('HINCRBY', KEYS[1], ARGV[2], -1)
if hold == 0 then
  redis.call('HDEL', KEYS[1], ARGV[2])
end
redis.call('DEL', '{' .. KEYS[1] .. '}:' .. ARGV[2] .. ':rwlock_timeout:' .. hold + 1)
if redis.call('HLEN', KEYS[1]) > 1 then
  local longest = -3
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    local holds = tonumber(redis.call('HGET', KEYS[1], field))
    for hold = holds or 0, 1, -1 do
      local key = '{' .. KEYS[1] .. '}:' .. field .. ':rwlock_timeout:' .. hold
      longest = math.max(longest, redis.call('PTTL', key))
    end
  end
  if longest > 0 then
    redis.call('PEXPIRE', KEYS[1], longest)
  end
  if longest > 0 or mode == 'write' then
    redis.call('SET', KEYS[3], 0, 'PX', ARGV[3])
    return 0
  end
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 'unlock')
redis.call('SET', KEYS[3], 1, 'PX', ARGV[3])
return 1";

/// How a write is given back.
pub(super) const WRITE_UNLOCK: &str = "\
local writer = ARGV[2] .. ':write'
local done = redis.call('GET', KEYS[3])
if done ~= false then
  return tonumber(done)
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('PUBLISH', KEYS[2], 'read_unlock')
  return nil
end
if redis.call('HEXISTS', KEYS[1], writer) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], writer, -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[3])
  return 0
end
redis.call('HDEL', KEYS[1], writer)
if redis.call('HLEN', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', KEYS[2], 'read_unlock')
else
  redis.call('HSET', KEYS[1], 'mode', 'read')
end
redis.call('SET', KEYS[3], 1, 'PX', ARGV[3])
return 1";

/// A lock to read and a lock to write, of one hash.
pub(super) struct RedissonReadWriteLock {
    read_lock: RedissonLock,
    write_lock: RedissonLock,
    key: Rc<str>,
}

impl RedissonReadWriteLock {
    /// The lock of the key, whose reads the watchdog renews by this script.
    pub fn new(redis: Redis, env: Env, lease: Lease, renew_read: &str) -> Self {
        Self::with_unlock(redis, env, lease, renew_read, WRITE_UNLOCK)
    }

    /// The same, whose writes are given back by this script.
    pub fn with_unlock(
        redis: Redis,
        env: Env,
        lease: Lease,
        renew_read: &str,
        write_unlock: &str,
    ) -> Self {
        let lock = |try_lock, renew, unlock| {
            let lock = RedissonLock::new(redis.clone(), env.clone(), lease.clone());
            let scripts = Scripts {
                try_lock: Script::new(try_lock),
                renew_expiration: Script::new(renew),
                unlock: Script::new(unlock),
            };
            lock.with_scripts(scripts, format!("redisson_rwlock:{{{}}}", lease.key))
        };
        Self {
            read_lock: lock(TRY_READ, renew_read, READ_UNLOCK),
            write_lock: lock(TRY_WRITE, RENEW_WRITE, write_unlock),
            key: lease.key.clone(),
        }
    }

    /// The same with another lock to write.
    pub fn with_write_lock(self, write_lock: RedissonLock) -> Self {
        Self { write_lock, ..self }
    }

    /// Where a read is held: the first of the keys of its leases.
    fn read_key(&self) -> String {
        format!("{{{}}}:rwlock_timeout", self.key)
    }

    fn read(&self, held: Held) -> Held {
        Held {
            path_or_key: self.read_key().into(),
            ..held
        }
    }
}

#[async_trait(?Send)]
impl Lock for RedissonReadWriteLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.write_lock.acquire().await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.write_lock.acquire_within(time).await
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        let held = self.read_lock.acquire().await?;
        Ok(self.read(held))
    }

    async fn acquire_shared_within(&mut self, time: Duration) -> Result<Held, LockError> {
        let held = self.read_lock.acquire_within(time).await?;
        Ok(self.read(held))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if *held.path_or_key != *self.read_key() {
            return self.write_lock.release(held).await;
        }
        let path_or_key = self.key.clone();
        self.read_lock
            .release(Held {
                path_or_key,
                ..held
            })
            .await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.write_lock.lost(held).await
    }

    fn for_task(&self, env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Self {
            read_lock: self.read_lock.of_thread(env),
            write_lock: self.write_lock.of_thread(env),
            key: self.key.clone(),
        }))
    }
}
