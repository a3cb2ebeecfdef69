//! Redisson's `RPermitExpirableSemaphore`: a counter, and a sorted set of permits by the end of their leases.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonPermitExpirableSemaphore`.
//!
//! # Steps
//!
//! 1. Before the first attempt, set the counter to the number of permits if it is missing (`trySetPermits`).
//! 2. A script: take as many permits out of the set as are asked for, of those whose lease is over by the clock of the
//!    client, and count them up. If the counter has one, count it down, and put our permit, a random id, into the set
//!    with the end of its lease by our clock. Otherwise answer the end of the lease that ends first.
//! 3. If we did not get one: subscribe, and go to 2; wait for a message, or until that lease ends by our clock.
//!    A call of several permits takes all or none, and has an id for each.
//! 4. Release: a script: if the permit is in the set, take it out, count up, and publish; answer that it was none if
//!    its lease was over by our clock. Of several: first take out those whose lease is over, and then answer how many
//!    of ours were still in the set.
//!
//! # Guarantees
//!
//! - A permit whose holder is dead comes back with the next contender that asks after its lease.
//!
//! # Hazards
//!
//! - Leases are by the clocks of clients: one whose clock is fast takes permits whose lease is not over (scenario
//!   `redis/permit-clock`).
//! - A permit of which the answer was lost is gone for its lease.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use async_trait::async_trait;

use super::leased::Leased;
use super::redisson::scripts::TryAcquire;
use super::redisson::waits::{Waits, acquire_when_told};
use super::redisson_semaphore::{TRY_SET_PERMITS, free};
use crate::clients::redis::{RedisResult, Script, Value};
use crate::{
    Build, CountedPermits, Env, Held, KeyHold, Lock, LockError, LockKind, OwnershipRule, Recipe,
    RecipeInput,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-permit-expirable-semaphore",
    summary: "Redisson's RPermitExpirableSemaphore: a counter, and permits with leases by clients' clocks.",
    source: "Redisson 4.x, RedissonPermitExpirableSemaphore",
    flaw: None,
    ownership: OWNERSHIP,
    inputs: &[
        RecipeInput::WallClock,
        RecipeInput::Channels,
        RecipeInput::SeveralPermits,
    ],
    build: Build::SemaphoreOverRedis(&|redis, env, lease, permits| {
        let leased = Leased { redis, env, lease };
        Box::new(PermitExpirableSemaphore::new(leased, permits, RELEASE))
    }),
    ..super::redisson_semaphore::RECIPE
};

/// Each permit in the set is a hold until its lease ends.
const OWNERSHIP: OwnershipRule =
    OwnershipRule::of_keys(LockKind::Semaphore, |keys, lock, holds| {
        let Some(Value::Array(permits)) = keys.read(&timeout_name(lock)) else {
            return;
        };
        for permit in permits.chunks_exact(2) {
            if let [Value::Bulk(id), Value::Double(ends)] = permit {
                holds.push(KeyHold {
                    expires: Some(*ends as i64),
                    ..KeyHold::exclusive(id.clone())
                });
            }
        }
    })
    .counting(|keys, lock| {
        let free = free(keys, lock)?;
        let leased = match keys.read(&timeout_name(lock)) {
            Some(Value::Array(permits)) => permits.len() as u64 / 2,
            _ => 0,
        };
        let leased = Some(leased);
        Some(CountedPermits { free, leased })
    });

/// The key of the set.
fn timeout_name(lock: &str) -> String {
    format!("{{{lock}}}:timeout")
}

const TRY_ACQUIRE: &str = "\
local over = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[2], 'LIMIT', 0, ARGV[1])
if #over > 0 then
  redis.call('ZREM', KEYS[2], unpack(over))
  local free = redis.call('INCRBY', KEYS[1], #over)
  if free > 0 then
    redis.call('PUBLISH', KEYS[3], free)
  end
end
local free = redis.call('GET', KEYS[1])
if free ~= false and tonumber(free) >= tonumber(ARGV[1]) then
  redis.call('DECRBY', KEYS[1], ARGV[1])
  for permit = 4, #ARGV do
    redis.call('ZADD', KEYS[2], ARGV[3], ARGV[permit])
  end
  return nil
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if first[2] then
  return first[2]
end
return -1";

const RELEASE: &str = "\
local ends = redis.call('ZSCORE', KEYS[2], ARGV[1])
if ends == false then
  return 0
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('PUBLISH', KEYS[3], redis.call('INCRBY', KEYS[1], 1))
if tonumber(ends) <= tonumber(ARGV[2]) then
  return 0
end
return 1";

/// The same of several permits, with those behind the time.
const RELEASE_SEVERAL: &str = "\
local over = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[1])
if #over > 0 then
  redis.call('ZREM', KEYS[2], unpack(over))
  local free = redis.call('INCRBY', KEYS[1], #over)
  if free > 0 then
    redis.call('PUBLISH', KEYS[3], free)
  end
end
local removed = redis.call('ZREM', KEYS[2], unpack(ARGV, 2))
if removed > 0 then
  redis.call('INCRBY', KEYS[1], removed)
  redis.call('PUBLISH', KEYS[3], removed)
end
return removed";

/// As it was before 3.17: what is not in the set any more is counted up, too.
pub(super) const RELEASE_EXPIRED: &str = "\
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('PUBLISH', KEYS[3], redis.call('INCRBY', KEYS[1], 1))
return 1";

#[derive(Clone)]
struct Scripts {
    try_set_permits: Script,
    try_acquire: Script,
    release: Script,
    release_several: Script,
}

pub(super) struct PermitExpirableSemaphore {
    leased: Leased,
    permits: u32,
    /// How many one call takes.
    permits_of_call: u32,
    scripts: Scripts,
    channel_name: String,
    timeout_name: String,
    /// The ids of our permits, if we have any.
    ids: RefCell<Vec<String>>,
}

impl PermitExpirableSemaphore {
    /// A semaphore with so many permits, which are given back by this script.
    pub fn new(leased: Leased, permits: u32, release: &str) -> Self {
        let scripts = Scripts {
            try_set_permits: Script::new(TRY_SET_PERMITS),
            try_acquire: Script::new(TRY_ACQUIRE),
            release: Script::new(release),
            release_several: Script::new(RELEASE_SEVERAL),
        };
        Self::with_scripts(leased, permits, scripts)
    }

    fn with_scripts(leased: Leased, permits: u32, scripts: Scripts) -> Self {
        let key = &leased.lease.key;
        Self {
            channel_name: format!("redisson_sc:{{{key}}}"),
            timeout_name: timeout_name(key),
            ids: RefCell::default(),
            leased,
            permits,
            permits_of_call: 1,
            scripts,
        }
    }

    /// Step 1.
    async fn try_set_permits(&self) -> RedisResult<Value> {
        let keys = [&*self.leased.lease.key, &*self.channel_name];
        let permits = self.permits.to_string();
        { &self.leased.redis }
            .script(&self.scripts.try_set_permits, &keys, &[&*permits])
            .await
    }

    /// Step 2, with ids of its own for each attempt.
    async fn try_acquire(&self) -> Result<TryAcquire, LockError> {
        let Leased { redis, env, lease } = &self.leased;
        let now = env.wall();
        let ids: Vec<String> = (0..self.permits_of_call).map(|_| env.guid()).collect();
        let millis = |time: Duration| time.as_millis().to_string();
        let keys = [&*lease.key, &*self.timeout_name, &*self.channel_name];
        let (now_millis, ends) = (millis(now), millis(now + lease.time));
        let permits = self.permits_of_call.to_string();
        let mut args = vec![&*permits, &*now_millis, &*ends];
        args.extend(ids.iter().map(|id| &**id));
        self.ids.replace(ids.clone());
        Ok(
            match redis
                .script(&self.scripts.try_acquire, &keys, &args)
                .await?
            {
                Value::Nil => TryAcquire::Acquired(None),
                Value::Bulk(first) => {
                    let digits = std::str::from_utf8(&first).ok();
                    let ends = digits.and_then(|digits| digits.parse().ok());
                    let ends = ends.map(Duration::from_millis);
                    TryAcquire::Ttl(ends.map(|ends| ends.saturating_sub(now)))
                }
                _ => TryAcquire::Ttl(None),
            },
        )
    }
}

#[async_trait(?Send)]
impl Lock for PermitExpirableSemaphore {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.try_set_permits().await?;
        let asked = Cell::new(Duration::ZERO);
        acquire_when_told(
            &self.leased,
            &self.channel_name,
            Waits::ForEver,
            async || {
                asked.set(self.leased.env.monotonic());
                self.try_acquire().await
            },
        )
        .await?;
        let deadline = self.leased.deadline(asked.get());
        let held = self.leased.in_time(deadline, None, &mut None);
        held.ok_or(LockError::TimedOut)
    }

    /// Step 4.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let Leased { redis, env, lease } = &self.leased;
        let keys = [&*lease.key, &*self.timeout_name, &*self.channel_name];
        let (ids, now) = (self.ids.take(), env.wall().as_millis().to_string());
        let answer = if let [id] = &*ids {
            let args = [&**id, &*now];
            redis.script(&self.scripts.release, &keys, &args).await?
        } else {
            let own = ids.iter().map(|id| &**id);
            let args: Vec<&str> = std::iter::once(&*now).chain(own).collect();
            let release = &self.scripts.release_several;
            redis.script(release, &keys, &args).await?
        };
        match answer {
            Value::Integer(released) if released == i64::from(self.permits_of_call) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    fn set_permits_per_acquire(&mut self, permits: u32) {
        self.permits_of_call = permits;
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.leased.lapsed(held).await
    }

    fn for_task(&self, env: &Env) -> Option<Box<dyn Lock>> {
        let leased = Leased {
            redis: self.leased.redis.clone(),
            env: env.clone(),
            lease: self.leased.lease.clone(),
        };
        let scripts = self.scripts.clone();
        Some(Box::new(Self::with_scripts(leased, self.permits, scripts)))
    }
}
