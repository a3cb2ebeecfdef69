//! One ephemeral node: the contender that makes it holds the lock, and all others try again and again.
//!
//! # Source
//!
//! The first version of many tutorials: create a temporary node; if that fails, sleep for a while, and try again.
//!
//! # Steps
//!
//! 1. Create `lock/holder` as an ephemeral node. If it was made, we hold the lock.
//! 2. If it exists, sleep for 200 ms, and go to 1. If a create of ours was not answered before, look whose it is
//!    first: if it is of our session, we hold the lock.
//! 3. To release, delete it, as `same_name` does.
//!
//! # Guarantees
//!
//! - One node, so one owner (`mutual-exclusion`).
//!
//! # Hazards
//!
//! - Every waiter sends a write five times a second. The lock is free for up to 200 ms before a waiter notices.
//! - The waiter that happens to ask first gets it: not `fifo`, and others may starve.
//! - To take every refusal for another's node makes the contender whose answer was lost wait for itself
//!   (`same_name_polling_blind`, scenario `zookeeper/lost-create-reply`).

use std::time::Duration;

use async_trait::async_trait;

use super::queue::session_lost;
use super::same_name::{SameName, held};
use crate::clients::zookeeper::{ZkError, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-same-name-polling",
    summary: "One ephemeral node: the contender that makes it holds the lock, all others sleep and try again.",
    source: "The first version of many tutorials, with a look at whose the node is",
    build: Build::ZooKeeper(&|zk, env, lock| {
        let lock = SameName::new(zk, &lock);
        Box::new(SameNamePolling { lock, env })
    }),
    ..super::same_name::RECIPE
};

/// How long a waiter sleeps.
pub(super) const SLEEP: Duration = Duration::from_millis(200);

struct SameNamePolling {
    lock: SameName,
    env: Env,
}

#[async_trait(?Send)]
impl Lock for SameNamePolling {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let SameName { zk, node, mode } = &self.lock;
        let mut unanswered = false;
        loop {
            match zk.create_with_stat(node, b"", *mode).await {
                Ok((_, stat)) => return Ok(held(node, &stat)), // Step 1.
                Err(ZkError::NodeExists) => {}
                Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                    unanswered = true;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            if unanswered {
                match until_answered(|| zk.exists(node)).await? {
                    Some(stat) if stat.ephemeral_owner == zk.session() => {
                        return Ok(held(node, &stat));
                    }
                    Some(_) | None => unanswered = false,
                }
            }
            self.env.sleep(SLEEP).await; // Step 2.
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.lock.zk).await
    }
}
