//! Redlock: the same key on several servers that know nothing of each other, and a majority of them.
//!
//! # Source
//!
//! redis.io, "Distributed locks with Redis": the Redlock algorithm.
//!
//! # Steps
//!
//! 1. Look at the clock.
//! 2. `SET key token NX PX lease` on every server, with a short timeout for each.
//! 3. Look at the clock again. If more than half of the servers have set it, and what is left of the lease, less what
//!    clocks may differ, is more than nothing, we hold the lock for that long.
//! 4. If not, delete our token everywhere, wait a random time of up to as long as all this has taken, and go to 1. With
//!    a server that never answers that is long. Those who wait for less keep step: each asks while another has what it
//!    needs, and the votes stay split. Nobody waits for longer than the lease: what took longer was a pause.
//! 5. Release: a script deletes the key if it holds our token, on every server, also on those that have not answered.
//!    It is done if those that do not answer are no majority: then the key can be on none. If they are, nobody knows.
//!
//! # Guarantees
//!
//! - `mutual-exclusion`, as long as clocks keep their pace, no server forgets its keys, and no process stands still.
//!
//! # Hazards
//!
//! - A server that restarts without its data votes twice (scenario `redis/redlock-restart`).
//! - Clocks of a majority that jump forward end the lease early (scenario `redis/redlock-clock-jump`).
//! - There is no fencing token (scenario `redis/pause`).

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{CLAIMS, Leased, drift};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe, join};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[RequestKind::Set, RequestKind::Script];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock",
    summary: "SET NX PX on several independent servers: a majority, and what is left of the lease.",
    source: "redis.io, Distributed locks with Redis: the Redlock algorithm",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::Key,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Redis(&|redis, env, lease| Box::new(Redlock::new(redis, env, lease))),
};

pub(super) struct Redlock {
    leased: Leased,
    delete_if_ours: Script,
    token: String,
    /// Step 3 as a whole, or the count of servers alone.
    pub looks_at_clock: bool,
    /// Step 4 on every server, or only on those that have said that they have set the key.
    pub gives_back_everywhere: bool,
    /// Step 4 waits up to as long as the attempt has taken, or a short time.
    pub waits_as_long_as_it_took: bool,
}

impl Redlock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: String::new(),
            looks_at_clock: true,
            gives_back_everywhere: true,
            waits_as_long_as_it_took: true,
        }
    }

    fn servers(&self) -> impl Iterator<Item = Redis> {
        let redis = &self.leased.redis;
        (0..redis.nodes()).map(|node| redis.at(node))
    }

    /// Of each server, whether it has said that the key holds our token now.
    async fn set_everywhere(&self) -> Vec<bool> {
        let Lease { key, time } = &self.leased.lease;
        let asked = self.servers().map(|server| async move {
            let set = server.set_if_missing(key, &self.token, *time).await;
            set == Ok(true)
        });
        join(asked).await
    }

    /// What each server has answered.
    async fn delete_everywhere(&self) -> Vec<RedisResult<Value>> {
        self.delete_at(self.servers()).await
    }

    async fn delete_at(&self, servers: impl Iterator<Item = Redis>) -> Vec<RedisResult<Value>> {
        let asked = servers.map(|server| async move {
            let (keys, args) = ([&*self.leased.lease.key], [&*self.token]);
            server.script(&self.delete_if_ours, &keys, &args).await
        });
        join(asked).await
    }
}

#[async_trait(?Send)]
impl Lock for Redlock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.token = self.leased.env.guid();
            let lease = self.leased.lease.time;
            let began = self.leased.env.monotonic(); // Step 1.
            let answers = self.set_everywhere().await; // Step 2.
            let set = answers.iter().filter(|set| **set).count();
            let counted_from = if self.looks_at_clock {
                began
            } else {
                self.leased.env.monotonic()
            };
            let deadline = (counted_from + lease).saturating_sub(drift(lease));
            let majority = set * 2 > self.leased.redis.nodes() as usize;
            if majority && self.leased.env.monotonic() < deadline {
                return Ok(self.leased.held(None).until(deadline)); // Step 3.
            }
            if self.gives_back_everywhere {
                self.delete_everywhere().await; // Step 4.
            } else {
                let acquired = self.servers().zip(answers).filter(|(_, set)| *set);
                self.delete_at(acquired.map(|(server, _)| server)).await;
            }
            if self.waits_as_long_as_it_took {
                let took = self.leased.env.monotonic().saturating_sub(began);
                self.leased.pause_at_random(took.min(lease)).await;
            } else {
                self.leased.pause().await;
            }
        }
    }

    /// What cannot be deleted goes by itself.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let answers = self.delete_everywhere().await; // Step 5.
        let is_majority = |servers: usize| servers * 2 > answers.len();
        let deleted = answers.iter().filter(|it| **it == Ok(Value::Integer(1)));
        let silent = answers.iter().filter(|it| it.is_err()).count();
        if is_majority(silent) {
            return Err(LockError::TimedOut);
        }
        if is_majority(deleted.count() + silent) {
            return Ok(());
        }
        Err(LockError::PlaceLost)
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.leased.lapsed(held).await
    }
}
