//! rueidislock: a key with a deadline that its holder moves, here one key and no client-side cache.
//!
//! # Source
//!
//! rueidis 1.0.70, `rueidislock`, `KeyMajority = 1`, `ExtendInterval` half of `KeyValidity`, which is 5 s; waiters
//! that look each `TryNextAfter`, 20 ms. By default three keys of one server have to be had, two of which are a
//! majority, and waiters are told by the client-side cache.
//!
//! # Steps
//!
//! 1. Deadline := now and the validity, by the wall clock. `SET key token NX PXAT deadline`. If it was not set, again
//!    20 ms later.
//! 2. Each half of the validity after the last answer, deadline := now and the validity, and a script: if the key has
//!    our token, `PEXPIREAT` the deadline, and answer 1; otherwise 0.
//! 3. After a 0 the holder is told.
//! 4. Release: delete the key if it has our token.
//!
//! # Guarantees
//!
//! - A holder that is told stops, and sections may be longer than the validity.
//!
//! # Hazards
//!
//! - The deadline is a time of the holder's wall clock, and the server compares it with its own.
//! - [`rueidislock_last_deadline`](super::rueidislock_last_deadline) moves the last deadline by the interval, and
//!   what a renewal takes is lost for good (scenario `redis/renewal-adds-to-deadline`).

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::Leased;
use super::renewed::Renewed;
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "rueidislock",
    summary: "rueidislock with one key: a deadline by the wall clock, moved each half of its validity.",
    source: "rueidis 1.0.70, rueidislock",
    requests: &[RequestKind::Set, RequestKind::Script],
    inputs: &[crate::RecipeInput::WallClock],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RueidisLock::new(redis, env, lease, Deadline::FromNow))
    }),
    ..super::compare_and_delete::RECIPE
};

/// Step 2.
const EXTEND: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIREAT', KEYS[1], ARGV[2])
end
return 0";

/// Between two attempts (`TryNextAfter`).
const TRY_NEXT_AFTER: Duration = Duration::from_millis(20);

/// To when a renewal moves the deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Deadline {
    /// Now and the validity.
    FromNow,
    /// The last deadline and the interval.
    FromLast,
}

pub(super) struct RueidisLock {
    leased: Leased,
    deadline: Deadline,
    extend: Script,
    delete_if_ours: Script,
    token: String,
    renewed: Renewed,
}

fn millis(time: Duration) -> String {
    time.as_millis().to_string()
}

impl RueidisLock {
    pub fn new(redis: Redis, env: Env, lease: Lease, deadline: Deadline) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            deadline,
            extend: Script::new(EXTEND),
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: String::new(),
            renewed: Renewed::default(),
        }
    }

    /// Step 1, once: whether the key was set.
    async fn set(&self, deadline: Duration) -> RedisResult<bool> {
        let (key, until) = (&*self.leased.lease.key, millis(deadline));
        let set = Command::new("SET").args([key, &self.token, "NX", "PXAT", &until]);
        Ok(self.leased.redis.ask(set).await?.is_ok())
    }

    /// Steps 2 and 3.
    fn renew(&self, first: Duration) -> Renewed {
        let Leased { redis, env, lease } = &self.leased;
        let (validity, interval) = (lease.time, lease.time / 2);
        let (how, last) = (self.deadline, std::cell::Cell::new(first));
        let (clock, redis, key) = (env.clone(), redis.clone(), Rc::clone(&lease.key));
        let (extend, token) = (self.extend.clone(), self.token.clone());
        Renewed::begin(env, interval, async move || {
            last.set(match how {
                Deadline::FromNow => clock.wall() + validity,
                Deadline::FromLast => last.get() + interval,
            });
            let args = [&*token, &millis(last.get())];
            redis.script(&extend, &[&*key], &args).await == Ok(Value::Integer(1))
        })
    }
}

#[async_trait(?Send)]
impl Lock for RueidisLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.token = self.leased.env.guid();
        loop {
            let deadline = self.leased.env.wall() + self.leased.lease.time;
            if self.set(deadline).await? {
                self.renewed = self.renew(deadline);
                return Ok(self.leased.held(None));
            }
            self.leased.env.sleep(TRY_NEXT_AFTER).await;
        }
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.renewed.stop();
        let (redis, keys) = (&self.leased.redis, [&*held.path_or_key]);
        match redis
            .script(&self.delete_if_ours, &keys, &[&self.token])
            .await?
        {
            Value::Integer(1) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.renewed.over().await;
        LockError::PlaceLost
    }
}
