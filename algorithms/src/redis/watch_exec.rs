//! SET NX PX, and a release by WATCH, GET, MULTI, DEL, and EXEC on a connection of its own.
//!
//! # Source
//!
//! redis.io, "Transactions": optimistic locking with check-and-set; in use where scripts are not allowed.
//!
//! # Steps
//!
//! 1. `SET key token NX PX lease`, as in [`compare_and_delete`](super::compare_and_delete).
//! 2. Release: `WATCH key`, `GET key`.
//! 3. If it is our token: `MULTI`, `DEL key`, `EXEC`. If `EXEC` does nothing because the key was touched, go to 2.
//! 4. If not: `UNWATCH`.
//!
//! # Guarantees
//!
//! - `own-release-only`: since Redis 6.0.9 a key that expires after `WATCH` counts as touched.
//!
//! # Hazards
//!
//! - An EXEC that does nothing has not released the lock, and need not say that the key was touched since step 2: a
//!   release that has failed may have left its WATCH behind (scenario `redis/stale-watch`).
//! - On a connection that is not its own, any EXEC or UNWATCH of another forgets what step 2 has seen (scenario
//!   `redis/watch-shared-connection`).
//! - If the connection breaks after step 2 and the client library connects again by itself, `EXEC` watches nothing, and
//!   deletes whatever is there (scenario `redis/watch-retries`).

use async_trait::async_trait;

use super::leased::Leased;
use crate::clients::RequestKind;
use crate::clients::redis::{Command, Redis};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-watch-exec",
    summary: "SET NX PX with a deadline; released by WATCH, GET, MULTI, DEL, and EXEC.",
    source: "redis.io, Transactions: optimistic locking",
    requests: &[
        RequestKind::Set,
        RequestKind::Get,
        RequestKind::Del,
        RequestKind::Watch,
        RequestKind::MultiCommand,
        RequestKind::Exec,
    ],
    build: Build::Redis(&|redis, env, lease| {
        let own = redis.dedicated();
        Box::new(WatchExec::new(redis, own, env, lease))
    }),
    ..super::compare_and_delete::RECIPE
};

/// The registry row of a lock that watches by the connection that all in the process share.
pub const RECIPE_SHARED: Recipe = Recipe {
    name: "redis-watch-exec-shared",
    summary: "SET NX PX with a deadline; released by WATCH and EXEC on a connection that others use, too.",
    source: "Clients that are multiplexed or pooled: what WATCH has seen is the connection's",
    flaw: Some("EXEC or UNWATCH of another task forgets what was watched"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(WatchExec::new(redis.clone(), redis, env, lease))
    }),
    ..RECIPE
};

/// The registry row of one that does not tell an EXEC that was aborted from one that has deleted.
pub const RECIPE_ABORTED: Recipe = Recipe {
    name: "redis-watch-exec-aborted",
    summary: "SET NX PX with a deadline; released by WATCH and EXEC, whatever EXEC answers.",
    source: "Tutorials in Java that compare a constant with the size of what exec() answers",
    flaw: Some("an EXEC that did nothing counts as a release"),
    build: Build::Redis(&|redis, env, lease| {
        let own = redis.dedicated();
        let mut lock = WatchExec::new(redis, own, env, lease);
        lock.looks_at_exec = false;
        Box::new(lock)
    }),
    ..RECIPE
};

struct WatchExec {
    leased: Leased,
    /// For `WATCH`: only this lock object uses the connection.
    own: Redis,
    /// Whether what `EXEC` answers says if the key was deleted.
    looks_at_exec: bool,
    token: String,
}

impl WatchExec {
    fn new(redis: Redis, own: Redis, env: Env, lease: Lease) -> Self {
        Self {
            own,
            looks_at_exec: true,
            leased: Leased { redis, env, lease },
            token: String::new(),
        }
    }
}

#[async_trait(?Send)]
impl Lock for WatchExec {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.token = self.leased.env.guid();
            let asked = self.leased.env.monotonic();
            let deadline = self.leased.deadline(asked);
            let set = self.leased.set_if_missing(&self.token).await;
            let set = set.map_err(|error| unanswered.take().unwrap_or(error))?;
            if set && let Some(held) = self.leased.in_time(deadline, None, &mut unanswered) {
                return Ok(held); // Step 1.
            }
            self.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        loop {
            self.own.watch(&held.path_or_key).await?; // Step 2.
            let there = self.own.get(&held.path_or_key).await?;
            if there.as_deref() != Some(self.token.as_bytes()) {
                self.own.unwatch().await?; // Step 4.
                return Err(LockError::PlaceLost);
            }
            let delete = Command::new("DEL").arg(&*held.path_or_key);
            let deleted = self.own.transaction([delete]).await?;
            if deleted.is_some() || !self.looks_at_exec {
                return Ok(()); // Step 3.
            }
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.leased.lapsed(held).await
    }
}
