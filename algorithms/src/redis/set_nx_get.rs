//! SET NX GET PX: the command that would set the key also answers whose it is, when a client asks again.
//!
//! # Source
//!
//! redis.io, `SET`: since 7.0, `NX` and `GET` can be used together.
//!
//! # Steps
//!
//! Those of [`compare_and_delete`](super::compare_and_delete), but:
//!
//! 1. `SET key token NX GET PX lease`. Nothing: it was set. Our token: it was set by an earlier request of ours.
//!    Anything else: another's; try again later.
//! 2. If no answer came: the same command again, with the same token, and the deadline of the first.
//!
//! # Guarantees
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete), and that no replica is ever asked: a command that may
//!   write goes to the primary, whatever the client is set to (scenarios `redis/cluster-stale-look` and
//!   `redis/sentinel-stale-look`).
//!
//! # Hazards
//!
//! - Those of [`compare_and_delete`](super::compare_and_delete).

use async_trait::async_trait;

use super::compare_and_delete::CompareAndDelete;
use super::leased::until_answered;
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisError, RedisResult, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-set-nx-get",
    summary: "SET NX GET PX, asked again with the same token until an answer comes.",
    source: "redis.io, SET",
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| Box::new(SetNxGet::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

struct SetNxGet(CompareAndDelete);

impl SetNxGet {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self(CompareAndDelete::new(redis, env, lease))
    }

    /// Steps 1 and 2: whether the key holds our token now.
    async fn attempt(&self, unanswered: &mut Option<RedisError>) -> RedisResult<bool> {
        let Lease { key, time } = &self.0.leased.lease;
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let set = Command::new("SET").arg(&**key).arg(&*self.0.token);
        let set = set.arg("NX").arg("GET").arg("PX").number(millis);
        let ask = async || self.0.leased.redis.ask(set.clone()).await;
        Ok(
            match until_answered(&self.0.leased, unanswered, ask).await? {
                Value::Nil => true,
                there => there.bytes() == Some(self.0.token.as_bytes()),
            },
        )
    }
}

#[async_trait(?Send)]
impl Lock for SetNxGet {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.0.token = self.0.leased.env.guid();
            let asked = self.0.leased.env.monotonic();
            let deadline = self.0.leased.deadline(asked);
            let set = self.attempt(&mut unanswered).await?;
            if set && let Some(held) = self.0.leased.in_time(deadline, None, &mut unanswered) {
                return Ok(held);
            }
            self.0.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.0.lost(held).await
    }
}
