//! Curator's `DistributedBarrier`.
//!
//! # Source
//!
//! Apache Curator: `DistributedBarrier`. Names of functions are Curator's.
//!
//! # Steps
//!
//! 1. `setBarrier` (`acquire`): create the node. If it is there already, that is all.
//! 2. `waitOnBarrier` (`acquire_shared`): look whether the node is there, with the watcher. If it is not, go on.
//!    Otherwise wait until the watcher gets an event, of a node or of the connection, and look again.
//! 3. `removeBarrier` (`release`): delete the node. If it is not there, that is all.
//!
//! Each call is repeated by the retry policy, in a new session too.
//!
//! # Guarantees
//!
//! - As `barrier`.
//!
//! # Hazards
//!
//! - A server that is behind does not show the barrier yet (scenario `zookeeper/barrier-at-a-server-behind`).
//! - A removal that fails for longer than the policy repeats it leaves the barrier standing.

use std::future::pending;

use async_trait::async_trait;

use super::barrier::BARRIER;
use super::queue::child;
use crate::clients::curator::{Curator, CuratorConfig};
use crate::clients::zookeeper::{CreateMode, Path, ZkError, ZkResult, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-barrier",
    summary: "Curator's DistributedBarrier: setBarrier, waitOnBarrier, and removeBarrier on its framework.",
    source: "Apache Curator, DistributedBarrier",
    build: Build::ZooKeeper(&|zk, env, path| Box::new(DistributedBarrier::new(zk, env, &path))),
    ..super::barrier::RECIPE
};

struct DistributedBarrier {
    client: Curator,
    barrier_path: Path,
    /// Whether this object has set it, and is to remove it.
    has_set: bool,
}

impl DistributedBarrier {
    fn new(zk: ZooKeeper, env: Env, path: &Path) -> Self {
        Self {
            client: Curator::of_process(zk, env, CuratorConfig::default()),
            barrier_path: child(path, BARRIER),
            has_set: false,
        }
    }

    /// Step 1.
    async fn set_barrier(&self) -> ZkResult<()> {
        let host = self.client.env().host();
        let create = async |zk: &ZooKeeper| {
            let mode = CreateMode::Persistent;
            zk.create(&self.barrier_path, host.as_bytes(), mode).await
        };
        match self.client.call_with_retry(create).await {
            Ok(_) | Err(ZkError::NodeExists) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Step 2.
    async fn wait_on_barrier(&self) -> ZkResult<()> {
        loop {
            let look = async |zk: &ZooKeeper| zk.exists_and_watch(&self.barrier_path).await;
            let (there, watcher) = self.client.call_with_retry(look).await?;
            if there.is_none() {
                return Ok(());
            }
            watcher.next().await;
        }
    }

    /// Step 3.
    async fn remove_barrier(&self) -> ZkResult<()> {
        let delete = async |zk: &ZooKeeper| zk.delete(&self.barrier_path, None).await;
        match self.client.call_with_retry(delete).await {
            Ok(()) | Err(ZkError::NoNode) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[async_trait(?Send)]
impl Lock for DistributedBarrier {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.has_set = true;
        self.set_barrier().await?;
        Ok(Held::at(Path::clone(&self.barrier_path)))
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.has_set = false;
        self.wait_on_barrier().await?;
        Ok(Held::at(Path::clone(&self.barrier_path)))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        match self.has_set {
            true => Ok(self.remove_barrier().await?),
            false => Ok(()),
        }
    }

    /// The setter is not told when another client removes the barrier, or sets it again.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
