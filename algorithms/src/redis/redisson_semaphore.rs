//! Redisson's `RSemaphore`: a counter of the permits that are free, without a lease.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonSemaphore`.
//!
//! # Steps
//!
//! 1. Before the first attempt, set the counter to the number of permits if it is missing (`trySetPermits`).
//! 2. A script: if the counter has as many permits as the call wants, count it down by those.
//! 3. If we did not get one: subscribe, and go to 2; wait for a message without an end, and go to 2.
//! 4. Release: a script: count up by those, and publish what the counter has.
//!
//! # Guarantees
//!
//! - As long as the server and all holders live, no more permits are out than there are.
//!
//! # Hazards
//!
//! - Nothing says whose a permit is, and it has no lease: that of a dead holder never comes back (scenario
//!   `redis/semaphore-crash`), nor one of which the answer was lost.
//! - A release counts up, whether its caller has a permit or not, as often as it is sent (scenario
//!   `redis/semaphore-inflation`).
//! - It is all or none, and there is no queue: a call that wants many is passed by those that want few (scenario
//!   `redis/semaphore-big-call`).

use async_trait::async_trait;

use super::leased::{Leased, never};
use super::redisson::scripts::TryAcquire;
use super::redisson::waits::{Waits, acquire_when_told};
use crate::clients::RequestKind;
use crate::clients::redis::{Script, Value};
use crate::{
    Build, Claim, CountedPermits, Env, Held, Keys, Lock, LockError, OwnershipRule, Recipe,
    RecipeInput,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-semaphore",
    summary: "Redisson's RSemaphore: a counter of the permits that are free, without a lease.",
    source: "Redisson 4.x, RedissonSemaphore",
    flaw: Some("it has no lease: a permit whose holder is dead never comes back"),
    claims: CLAIMS,
    ownership: OWNERSHIP,
    requests: &[RequestKind::Script, RequestKind::Subscribe],
    inputs: &[RecipeInput::Channels, RecipeInput::SeveralPermits],
    cancellable: false,
    shareable: true,
    build: Build::SemaphoreOverRedis(&|redis, env, lease, permits| {
        let leased = Leased { redis, env, lease };
        Box::new(RedissonSemaphore::new(
            leased,
            permits,
            TRY_SET_PERMITS,
            TRY_ACQUIRE,
        ))
    }),
};

/// What semaphores promise whose service counts their permits.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
    Claim::PermitsConserved,
];

/// The client that counts a permit down owns it.
const OWNERSHIP: OwnershipRule = OwnershipRule::of_counter(free).counting(|keys, lock| {
    let free = free(keys, lock)?;
    Some(CountedPermits { free, leased: None })
});

/// What the counter says.
pub(super) fn free(keys: &dyn Keys, lock: &str) -> Option<i64> {
    match keys.read(lock)? {
        Value::Bulk(free) => std::str::from_utf8(&free).ok()?.parse().ok(),
        _ => None,
    }
}

/// Sets the number of permits where there is none.
pub(super) const TRY_SET_PERMITS: &str = "\
if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then
  redis.call('PUBLISH', KEYS[2], ARGV[1])
  return 1
end
return 0";

pub(super) const TRY_ACQUIRE: &str = "\
local free = redis.call('GET', KEYS[1])
if free ~= false and tonumber(free) >= tonumber(ARGV[1]) then
  redis.call('DECRBY', KEYS[1], ARGV[1])
  return 1
end
return 0";

const RELEASE: &str = "\
local free = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('PUBLISH', KEYS[2], free)";

#[derive(Clone)]
struct Scripts {
    set_permits: Script,
    try_acquire: Script,
    release: Script,
}

pub(super) struct RedissonSemaphore {
    leased: Leased,
    permits: u32,
    /// How many one call takes.
    permits_of_call: u32,
    scripts: Scripts,
    channel_name: String,
    has_set_permits: bool,
}

impl RedissonSemaphore {
    /// A semaphore with so many permits, whose number is set by this script, and which are taken by that.
    pub fn new(leased: Leased, permits: u32, set_permits: &str, try_acquire: &str) -> Self {
        Self {
            channel_name: format!("redisson_sc:{{{}}}", leased.lease.key),
            leased,
            permits,
            permits_of_call: 1,
            scripts: Scripts {
                set_permits: Script::new(set_permits),
                try_acquire: Script::new(try_acquire),
                release: Script::new(RELEASE),
            },
            has_set_permits: false,
        }
    }

    /// Runs a script about so many permits over the counter and the channel.
    async fn eval(&self, script: &Script, permits: u32) -> Result<Value, LockError> {
        let Leased { redis, lease, .. } = &self.leased;
        let keys = [&*lease.key, &*self.channel_name];
        Ok(redis.script(script, &keys, &[&permits.to_string()]).await?)
    }

    /// Step 2.
    async fn try_acquire(&self) -> Result<TryAcquire, LockError> {
        let asked = self.eval(&self.scripts.try_acquire, self.permits_of_call);
        Ok(match asked.await? {
            Value::Integer(1) => TryAcquire::Acquired(None),
            _ => TryAcquire::Ttl(None),
        })
    }
}

#[async_trait(?Send)]
impl Lock for RedissonSemaphore {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if !self.has_set_permits {
            let permits = self.permits;
            self.eval(&self.scripts.set_permits, permits).await?;
            self.has_set_permits = true;
        }
        let try_acquire = async || self.try_acquire().await;
        acquire_when_told(
            &self.leased,
            &self.channel_name,
            Waits::ForEver,
            try_acquire,
        )
        .await?;
        Ok(self.leased.held(None))
    }

    /// Step 4.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let permits = self.permits_of_call;
        self.eval(&self.scripts.release, permits).await?;
        Ok(())
    }

    fn set_permits_per_acquire(&mut self, permits: u32) {
        self.permits_of_call = permits;
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    fn for_task(&self, env: &Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Self {
            leased: Leased {
                redis: self.leased.redis.clone(),
                env: env.clone(),
                lease: self.leased.lease.clone(),
            },
            permits: self.permits,
            permits_of_call: self.permits_of_call,
            scripts: self.scripts.clone(),
            channel_name: self.channel_name.clone(),
            has_set_permits: self.has_set_permits,
        }))
    }
}
