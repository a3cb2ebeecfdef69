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
//! 4. If not, delete our token everywhere, wait a random time of up to as long as all this has taken, and go to 1. That
//!    is long if a server never answers. Clients that wait for less keep step: each asks while another has what it
//!    needs, and the votes stay split. A client waits for a lease at most: an attempt that took longer was a pause.
//! 5. Release: a script deletes the key if it holds our token, on every server, also on those that have not answered.
//!    The release is done if the servers that do not answer are no majority. If they are, it may have failed.
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

use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{Leased, drift};
use super::quorum::{released, run_at, servers, set_at};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock",
    summary: "SET NX PX on several independent servers: a majority, and what is left of the lease.",
    source: "redis.io, Distributed locks with Redis: the Redlock algorithm",
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| Box::new(Redlock::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

pub(super) struct Redlock {
    leased: Leased,
    delete_if_ours: Script,
    token: String,
    /// Until when the hold is valid, by the clock that is looked at.
    deadline: Duration,
    misreading: Option<Misreading>,
}

/// What is read otherwise than it is meant: broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Misreading {
    /// Step 1 makes the token of the client, for all attempts.
    OneToken,
    /// Steps 1 and 3 look at the wall clock.
    WallClock,
    /// Step 3 counts the lease from when the answers are there.
    NoValidity,
    /// Step 3 adds what clocks may differ.
    DriftAdded,
    /// Step 3 takes half of the servers for enough.
    HalfIsEnough,
    /// Step 3 takes more than half of those that have answered for enough.
    QuorumOfTheLive,
    /// Step 4 deletes nothing.
    KeepsMinority,
    /// Step 4 deletes only where a server has said that it has set the key.
    AcquiredOnly,
    /// Step 4 waits for a short time.
    ShortDelay,
}

impl Redlock {
    pub fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: String::new(),
            deadline: Duration::ZERO,
            misreading: None,
        }
    }

    /// The same, misread.
    pub fn misread(mut self, misreading: Misreading) -> Self {
        self.misreading = Some(misreading);
        self
    }

    fn misreads(&self, misreading: Misreading) -> bool {
        self.misreading == Some(misreading)
    }

    fn clock(&self) -> Duration {
        match self.misreads(Misreading::WallClock) {
            true => self.leased.env.wall(),
            false => self.leased.env.monotonic(),
        }
    }

    /// Whether so many servers of those that have answered are enough.
    fn is_majority(&self, set: usize, answered: usize) -> bool {
        let all = self.leased.redis.nodes() as usize;
        let of = match self.misreads(Misreading::QuorumOfTheLive) {
            true => answered,
            false => all,
        };
        set * 2 > of || self.misreads(Misreading::HalfIsEnough) && set * 2 == of
    }

    /// Until when a lease that is counted from then is valid.
    fn validity(&self, counted_from: Duration) -> Duration {
        let lease = self.leased.lease.time;
        match self.misreads(Misreading::DriftAdded) {
            true => counted_from + lease + drift(lease),
            false => (counted_from + lease).saturating_sub(drift(lease)),
        }
    }

    /// What each of the servers has answered.
    async fn delete_at(&self, servers: impl Iterator<Item = Redis>) -> Vec<RedisResult<Value>> {
        let Lease { key, .. } = &self.leased.lease;
        run_at(servers, &self.delete_if_ours, key, &[&self.token]).await
    }

    async fn delete_everywhere(&self) -> Vec<RedisResult<Value>> {
        self.delete_at(servers(&self.leased.redis)).await
    }
}

#[async_trait(?Send)]
impl Lock for Redlock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            if self.token.is_empty() || !self.misreads(Misreading::OneToken) {
                self.token = self.leased.env.guid();
            }
            let lease = self.leased.lease.time;
            let began = self.clock(); // Step 1.
            let all = servers(&self.leased.redis);
            let answers = set_at(all, &self.leased.lease, &self.token).await; // Step 2.
            let set = answers.iter().filter(|set| **set == Ok(true)).count();
            let answered = answers.iter().filter(|set| set.is_ok()).count();
            let counted_from = match self.misreads(Misreading::NoValidity) {
                true => self.clock(),
                false => began,
            };
            let deadline = self.validity(counted_from);
            if self.is_majority(set, answered) && self.clock() < deadline {
                let held = self.leased.held(None);
                self.deadline = deadline;
                return Ok(match self.misreads(Misreading::WallClock) {
                    true => held,
                    false => held.until(deadline), // Step 3.
                });
            }
            if self.misreads(Misreading::AcquiredOnly) {
                let acquired = servers(&self.leased.redis).zip(answers);
                let acquired = acquired.filter(|(_, set)| *set == Ok(true));
                self.delete_at(acquired.map(|(server, _)| server)).await;
            } else if !self.misreads(Misreading::KeepsMinority) {
                self.delete_everywhere().await; // Step 4.
            }
            if self.misreads(Misreading::ShortDelay) {
                self.leased.pause().await;
            } else {
                let took = self.clock().saturating_sub(began);
                self.leased.pause_at_random(took.min(lease)).await;
            }
        }
    }

    /// What cannot be deleted goes by itself.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        released(&self.delete_everywhere().await) // Step 5.
    }

    async fn lost(&self, held: &Held) -> LockError {
        if !self.misreads(Misreading::WallClock) {
            return self.leased.lapsed(held).await;
        }
        while self.clock() < self.deadline {
            let left = self.deadline.saturating_sub(self.clock());
            self.leased.env.sleep(left).await;
        }
        LockError::LeaseLapsed
    }
}
