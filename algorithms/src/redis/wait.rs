//! SET NX PX, and WAIT until a replica has heard of it before believing.
//!
//! # Source
//!
//! redis.io, "WAIT": a way to make it less likely that a failover loses a write, "but not a strongly consistent store".
//!
//! # Steps
//!
//! 1. Look at the monotonic clock, then `SET key token NX PX lease`.
//! 2. If it was set: `WAIT 1 100`, by the same connection, for it counts from the last write of its own.
//! 3. If a replica has it, we hold the lock until the time of step 1 and the lease, less what clocks may differ. If
//!    none has, the key is set, and all see it: delete it if it holds our token, and try again later.
//! 4. If no answer came to any of these: the same. What a new connection would wait for is not what the old one wrote.
//! 5. Release as [`compare_and_delete`](super::compare_and_delete) does.
//!
//! # Guarantees
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete), and that a primary alone, cut off from its replicas or
//!   replaced without its knowledge, gives no client the lock (scenarios `redis/sentinel-failover`,
//!   `redis/sentinel-resumed-primary`).
//!
//! # Hazards
//!
//! - The replica that has heard of it need not be the one that is promoted (scenario `redis/sentinel-wait-one-of-two`).
//! - Until WAIT answers, the key is there (scenario `redis/sentinel-resumed-primary`).

use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::CompareAndDelete;
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisError, RedisResult};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] =
    &[RequestKind::Set, RequestKind::Script, RequestKind::Wait];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-wait",
    summary: "SET NX PX, believed when WAIT says that a replica has it.",
    source: "redis.io, WAIT",
    requests: REQUESTS,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Waited::new(redis, env, lease, WaitFor::Replica))
    }),
    ..super::compare_and_delete::RECIPE
};

/// How many replicas or disks must have the key, and how long step 2 waits for replicas.
const REPLICAS: i64 = 1;
const WAIT_TIMEOUT: Duration = Duration::from_millis(100);

/// What step 2 waits for after the `SET`, by the same connection.
#[derive(Clone, Copy)]
pub(super) enum WaitFor {
    /// `WAIT`: a replica has the key.
    Replica,
    /// `WAITAOF`: the key is in the log on the disk, within this time.
    Fsync(Duration),
}

pub(super) struct Waited {
    inner: CompareAndDelete,
    wait_for: WaitFor,
    /// Whether the answer to step 2 decides.
    minds: bool,
}

impl Waited {
    pub fn new(redis: Redis, env: Env, lease: Lease, wait_for: WaitFor) -> Self {
        Self {
            inner: CompareAndDelete::new(redis, env, lease),
            wait_for,
            minds: true,
        }
    }

    /// The same, believed whatever step 2 is answered.
    pub fn ignoring_answer(mut self) -> Self {
        self.minds = false;
        self
    }

    /// Steps 1 and 2: whether what is waited for has come, if the key is set.
    async fn attempt(&self) -> RedisResult<Option<bool>> {
        if !self.inner.leased.set_if_missing(&self.inner.token).await? {
            return Ok(None);
        }
        let redis = &self.inner.leased.redis;
        let heard = match self.wait_for {
            WaitFor::Replica => redis.wait(REPLICAS, WAIT_TIMEOUT).await,
            WaitFor::Fsync(within) => redis.wait_aof(within).await.map(i64::from),
        };
        let enough = heard.is_ok_and(|heard| heard >= REPLICAS || !self.minds);
        Ok(Some(enough))
    }
}

#[async_trait(?Send)]
impl Lock for Waited {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.inner.token = self.inner.leased.env.guid();
            let asked = self.inner.leased.env.monotonic();
            let deadline = self.inner.leased.deadline(asked);
            let heard = match self.attempt().await {
                Ok(Some(true)) => true,
                // A replica that has it may take over, or a log bring it back, before the withdrawal is there.
                Ok(Some(false)) => {
                    unanswered = Some(RedisError::TimedOut);
                    false // Step 4.
                }
                Ok(None) => false,
                Err(error) if !error.definite() => {
                    unanswered = Some(error);
                    false // Step 4.
                }
                // An earlier SET may be executed yet.
                Err(refused) => return Err(unanswered.unwrap_or(refused).into()),
            };
            if heard && self.inner.leased.env.monotonic() < deadline {
                return Ok(self.inner.leased.held(None).until(deadline)); // Step 3.
            }
            let key = &self.inner.leased.lease.key;
            if self.inner.withdraw(key).await.is_err() {
                return Err(LockError::TimedOut); // What was set stays until its lease ends.
            }
            self.inner.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        match self.wait_for {
            // What is not there any more has gone with the lease, or by an earlier request of ours.
            WaitFor::Replica => Ok(self.inner.withdraw(&held.path_or_key).await?),
            WaitFor::Fsync(_) => self.inner.release(held).await,
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.inner.leased.lapsed(held).await
    }
}
