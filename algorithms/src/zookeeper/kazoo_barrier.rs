//! kazoo's `Barrier`.
//!
//! # Source
//!
//! kazoo 2.11, `recipe/barrier.py`: `Barrier`. Names of functions are kazoo's. The client is that of `clients::kazoo`.
//!
//! # Steps
//!
//! 1. `create` (`acquire`): make the node, unless it is there, which `KazooRetry` repeats.
//! 2. `wait` (`acquire_shared`): look whether the node is there, with a watch. If it is not, go on. Otherwise wait
//!    until the watch tells that it was deleted.
//! 3. `remove` (`release`): delete the node, which `KazooRetry` repeats. If it is not there, that is all.
//!
//! # Guarantees
//!
//! - No contender passes by an event that says nothing of the node.
//!
//! # Hazards
//!
//! - kazoo forgets its watches with the connection, and tells each so once. Step 2 waits for something else, and so for
//!   ever (scenario `zookeeper/barrier-blip`).
//! - A server that is behind does not show the barrier yet (scenario `zookeeper/barrier-at-a-server-behind`).

use std::future::pending;

use async_trait::async_trait;

use super::barrier::BARRIER;
use super::kazoo_double_barrier::{raised, until_event};
use super::queue::child;
use crate::clients::kazoo::KazooClient;
use crate::clients::zookeeper::{EventType, Path, ZkError, ZkResult};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-barrier",
    summary: "kazoo's Barrier: create, wait, and remove; a waiter goes by one watch.",
    source: "kazoo 2.11, recipe/barrier.py, Barrier",
    flaw: Some("a waiter whose connection is lost waits for a watch that is gone with it"),
    inputs: &[crate::RecipeInput::LockNode],
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(Barrier {
            client: KazooClient::of_process(zk, &env),
            path: child(&path, BARRIER),
            has_created: false,
        })
    }),
    ..super::barrier::RECIPE
};

struct Barrier {
    client: KazooClient,
    path: Path,
    /// Whether this object has created it, and is to remove it.
    has_created: bool,
}

impl Barrier {
    /// Step 2.
    async fn wait(&self) -> ZkResult<()> {
        let (there, cleared) = self.client.session().exists_and_watch(&self.path).await?;
        if there.is_some() {
            until_event(EventType::NodeDeleted, cleared).await;
        }
        Ok(())
    }
}

#[async_trait(?Send)]
impl Lock for Barrier {
    /// Step 1.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.has_created = true;
        let create = async || Ok(self.client.ensure_path(&self.path).await?);
        let created = self.client.retry(None, create).await;
        created.map_err(raised)?;
        Ok(Held::at(Path::clone(&self.path)))
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.has_created = false;
        self.wait().await?;
        Ok(Held::at(Path::clone(&self.path)))
    }

    /// Step 3.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        if !self.has_created {
            return Ok(());
        }
        let remove = async || match self.client.session().delete(&self.path, None).await {
            Ok(()) | Err(ZkError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        };
        self.client.retry(None, remove).await.map_err(raised)
    }

    /// The setter is not told when another client removes the barrier, or sets it again.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
