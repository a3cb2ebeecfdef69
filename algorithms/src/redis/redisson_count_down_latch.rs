//! Redisson's `RCountDownLatch`: a counter of the participants to come, and a channel that says when it is zero.
//!
//! # Source
//!
//! Redisson 4.x, `RedissonCountDownLatch`.
//!
//! # Steps
//!
//! 1. A participant sets the count if there is none (`trySetCount`), and publishes that.
//! 2. Count down: a script: `DECR`; at zero or below delete the counter, and at zero publish that.
//! 3. Await: look at the count; at zero, or if there is none, pass. Else subscribe, and look again after each message.
//!
//! # Guarantees
//!
//! - A count below zero is none: to count down too often leaves nothing behind.
//!
//! # Hazards
//!
//! - The counter does not say which participants have counted down: a call that is executed twice opens the latch early
//!   (scenario `redis/latch-counted-twice`), as does a participant that dies before it hears that it has counted
//!   (scenario `redis/latch-restarted-participant`).
//! - `await` has no time-out: if the one message is lost, nothing wakes it (scenario `redis/latch-lost-message`).
//! - A call to count down that is not executed is not repeated: the latch never opens (scenario
//!   `redis/latch-lost-request`).
//! - What a replica has not heard of is counted again after a failover, and no participant is left to count it down
//!   (scenario `redis/latch-failover`).

use async_trait::async_trait;

use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisResult, Script};
use crate::{
    Build, Claim, Env, Held, Lease, Lock, LockError, LockKind, OwnershipRule, Recipe, RecipeInput,
};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-count-down-latch",
    summary: "Redisson's RCountDownLatch: a counter, and a message when it is zero.",
    source: "Redisson 4.x, RedissonCountDownLatch",
    flaw: None,
    claims: CLAIMS,
    ownership: OWNERSHIP,
    requests: &[
        RequestKind::Script,
        RequestKind::Get,
        RequestKind::Subscribe,
    ],
    inputs: &[RecipeInput::Channels],
    cancellable: false,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonCountDownLatch::new(
            redis,
            env,
            lease,
            Subscribed::LooksAgain,
        ))
    }),
};

/// What a latch promises.
pub(super) const CLAIMS: &[Claim] = &[Claim::Barrier, Claim::Progress];

/// A participant owns nothing.
pub(super) const OWNERSHIP: OwnershipRule =
    OwnershipRule::of_keys(LockKind::CountDownLatch, |_, _, _| {});

const TRY_SET_COUNT: &str = "\
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('PUBLISH', KEYS[2], 1)
  return 1
end
return 0";

const COUNT_DOWN: &str = "\
local left = redis.call('DECR', KEYS[1])
if left <= 0 then
  redis.call('DEL', KEYS[1])
end
if left == 0 then
  redis.call('PUBLISH', KEYS[2], 0)
end";

/// What a contender that awaits does when it has subscribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subscribed {
    /// It looks at the count again.
    LooksAgain,
    /// It waits for the first message.
    Waits,
}

pub(super) struct RedissonCountDownLatch {
    leased: Leased,
    channel_name: String,
    try_set_count: Script,
    count_down: Script,
    count: u32,
    subscribed: Subscribed,
    /// Whether the call that has returned was of a participant.
    takes_part: bool,
}

impl RedissonCountDownLatch {
    pub fn new(redis: Redis, env: Env, lease: Lease, subscribed: Subscribed) -> Self {
        Self {
            channel_name: format!("redisson_countdownlatch__channel__{{{}}}", lease.key),
            leased: Leased { redis, env, lease },
            try_set_count: Script::new(TRY_SET_COUNT),
            count_down: Script::new(COUNT_DOWN),
            count: 1,
            subscribed,
            takes_part: false,
        }
    }

    /// Runs a script over the counter and the channel.
    async fn eval(&self, script: &Script, args: &[&str]) -> RedisResult<()> {
        let Leased { redis, lease, .. } = &self.leased;
        let keys = [&*lease.key, &*self.channel_name];
        redis.script(script, &keys, args).await?;
        Ok(())
    }

    /// Whether the count is zero: then there is no counter.
    async fn is_zero(&self) -> RedisResult<bool> {
        let Leased { redis, lease, .. } = &self.leased;
        Ok(redis.get(&lease.key).await?.is_none())
    }

    /// Step 3.
    async fn wait_for_zero(&self) -> RedisResult<()> {
        if self.is_zero().await? {
            return Ok(());
        }
        let subscription = self.leased.redis.subscribe(&self.channel_name).await?;
        if self.subscribed == Subscribed::Waits {
            subscription.next().await;
        }
        while !self.is_zero().await? {
            subscription.next().await;
        }
        Ok(())
    }
}

#[async_trait(?Send)]
impl Lock for RedissonCountDownLatch {
    fn set_latch_count(&mut self, count: u32, _name: &str) {
        self.count = count;
    }

    /// Step 1.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.takes_part = true;
        let count = self.count.to_string();
        self.eval(&self.try_set_count, &[&*count]).await?;
        Ok(self.leased.held(None))
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.takes_part = false;
        self.wait_for_zero().await?;
        Ok(self.leased.held(None))
    }

    /// Step 2.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        if self.takes_part {
            self.eval(&self.count_down, &[]).await?;
        }
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
