//! A count-down latch that counts participants by their names.
//!
//! # Source
//!
//! This project, after what `RCountDownLatch` cannot keep.
//!
//! # Steps
//!
//! 1. Each latch has a name of its own, and is used once. A participant has nothing to set.
//! 2. Count down: a script: `SADD` of the participant's name, which it has after a restart, too; when as many names are
//!    there as the count says, publish that. Then `WAIT` for the replicas that are connected, if there are any. Repeat
//!    both until all of them have heard, whatever is refused or not answered.
//! 3. Await: subscribe, and look how many names there are: after each message, and every second.
//!
//! # Guarantees
//!
//! - However often a participant counts down, it counts once; and that there is no set yet opens nothing (scenarios
//!   `redis/latch-counted-twice`, `redis/latch-restarted-participant`).
//! - A lost message costs a second (scenario `redis/latch-lost-message`).
//! - What is counted is at all replicas (scenario `redis/latch-failover`).
//!
//! # Hazards
//!
//! - The set stays: an application has to delete its latches, or to give them a time to live.

use std::time::Duration;

use async_trait::async_trait;

use super::leased::{Leased, never, until_answered};
use crate::clients::RequestKind;
use crate::clients::redis::{RedisResult, Script};
use crate::{Build, Held, Lock, LockError, Recipe, timeout};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-count-down-latch",
    summary: "A latch that counts participants by name: SADD, WAIT for replicas, and a look every second.",
    source: "This project, after RCountDownLatch",
    requests: &[
        RequestKind::Script,
        RequestKind::Subscribe,
        RequestKind::Wait,
    ],
    build: Build::Redis(&|redis, env, lease| {
        // WAIT speaks of what its own connection wrote.
        let redis = redis.dedicated();
        Box::new(CountDownLatch {
            channel_name: format!("latch:{{{}}}", lease.key),
            leased: Leased { redis, env, lease },
            count_down: Script::new(COUNT_DOWN),
            count_names: Script::new(COUNT_NAMES),
            count: 1,
            name: String::new(),
            takes_part: false,
        })
    }),
    ..super::redisson_count_down_latch::RECIPE
};

const COUNT_DOWN: &str = "\
redis.call('SADD', KEYS[1], ARGV[1])
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  redis.call('PUBLISH', KEYS[2], 0)
end";

const COUNT_NAMES: &str = "return redis.call('SCARD', KEYS[1])";

/// How long a contender that awaits goes without a look.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long replicas have to hear of a name.
const WAIT_TIMEOUT: Duration = Duration::from_secs(1);

struct CountDownLatch {
    leased: Leased,
    channel_name: String,
    count_down: Script,
    count_names: Script,
    count: u32,
    name: String,
    /// Whether the call that has returned was of a participant.
    takes_part: bool,
}

impl CountDownLatch {
    /// Step 2: whether all replicas have heard.
    async fn count_down(&self) -> RedisResult<bool> {
        let Leased { redis, lease, .. } = &self.leased;
        let (keys, count) = ([&*lease.key, &*self.channel_name], self.count.to_string());
        redis
            .script(&self.count_down, &keys, &[&*self.name, &*count])
            .await?;
        let replicas = redis.replicas().await?;
        Ok(replicas == 0 || redis.wait(replicas, WAIT_TIMEOUT).await? >= replicas)
    }

    /// Whether as many names are there as the count says.
    async fn is_zero(&self) -> RedisResult<bool> {
        let Leased { redis, lease, .. } = &self.leased;
        let names = redis.script(&self.count_names, &[&*lease.key], &[]).await?;
        Ok(names.integer() >= Some(i64::from(self.count)))
    }

    /// Step 3.
    async fn wait_for_zero(&self) -> RedisResult<()> {
        let subscription = self.leased.redis.subscribe(&self.channel_name).await?;
        while !self.is_zero().await? {
            timeout(&self.leased.env, LOOK_EVERY, subscription.next()).await;
        }
        Ok(())
    }
}

#[async_trait(?Send)]
impl Lock for CountDownLatch {
    fn set_latch_count(&mut self, count: u32, name: &str) {
        self.count = count;
        name.clone_into(&mut self.name);
    }

    /// Step 1.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.takes_part = true;
        Ok(self.leased.held(None))
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.takes_part = false;
        let wait = async || self.wait_for_zero().await;
        until_answered(&self.leased, &mut None, wait).await?;
        Ok(self.leased.held(None))
    }

    /// Step 2, until it is done: what a server refuses, because its memory is full or it is no primary, it may take
    /// later.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        while self.takes_part && self.count_down().await != Ok(true) {
            self.leased.pause().await;
        }
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
