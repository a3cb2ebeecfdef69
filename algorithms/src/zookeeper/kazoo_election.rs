//! kazoo's `Election`, whose leader function ends when the connection is lost.
//!
//! # Source
//!
//! kazoo 2.11, `recipe/election.py`: `Election`. That a leader must listen for `SUSPENDED` and `LOST` is in the head of
//! `recipe/lock.py`. The client is that of `clients::kazoo`.
//!
//! # Steps
//!
//! 1. `run`: acquire a `Lock` (`kazoo_lock`) at the election's node, for as long as it takes.
//! 2. Call the leader function: the term lasts until it returns, or fails.
//! 3. Release the lock.
//! 4. `cancel` has an acquire that waits give up. It does not interrupt the leader function. `run` swallows that the
//!    acquire was cancelled, and returns without a term.
//!
//! # Guarantees
//!
//! - As of `kazoo_lock`.
//!
//! # Hazards
//!
//! - Those of `kazoo_lock`. So a `cancel` of a leader ends the next `run` before its term, without an error (scenario
//!   `zookeeper/late-cancel`).
//! - Nothing ends a leader function whose session has ended: it has to listen by itself
//!   (`kazoo_election_ignores_state`, scenario `zookeeper/cut-off-leader`).

use std::future::pending;
use std::time::Duration;

use async_trait::async_trait;

use super::kazoo_lock::{KazooLock, NAMES};
use crate::clients::kazoo::KazooClient;
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, CancelCall, Env, Held, Lock, LockError, OwnershipRule, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-election",
    summary: "kazoo's Election: a function that is called under kazoo's Lock, and listens to the connection.",
    source: "kazoo 2.11, recipe/election.py, Election",
    ownership: OwnershipRule::LOWEST_CHILD_LEADS,
    inputs: &[RecipeInput::CancelCall, RecipeInput::LockNode],
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(Election::new(zk, &env, path, LeaderFunction::Listens))
    }),
    ..super::kazoo_lock::RECIPE
};

/// What the leader function does when the connection is suspended or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaderFunction {
    /// It returns.
    Listens,
    /// It goes on.
    GoesOn,
}

/// The election.
pub(super) struct Election {
    lock: KazooLock,
    leader_function: LeaderFunction,
}

impl Election {
    pub(super) fn new(
        zk: ZooKeeper,
        env: &Env,
        path: Path,
        leader_function: LeaderFunction,
    ) -> Self {
        let client = KazooClient::of_process(zk, env);
        Self {
            lock: KazooLock::new(client, path, env, NAMES),
            leader_function,
        }
    }
}

#[async_trait(?Send)]
impl Lock for Election {
    /// Step 1.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.lock.acquire().await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.lock.acquire_within(time).await
    }

    /// Step 4.
    fn cancel_call(&self) -> Option<CancelCall> {
        self.lock.cancel_call()
    }

    /// Step 3.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        match self.leader_function {
            LeaderFunction::Listens => self.lock.lost(held).await,
            LeaderFunction::GoesOn => pending().await,
        }
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
