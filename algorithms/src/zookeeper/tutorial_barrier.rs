//! The barrier of ZooKeeper's tutorial: a double barrier without a node that says that all have come.
//!
//! # Source
//!
//! Apache ZooKeeper, *Programming with ZooKeeper - A basic tutorial*, section "Barriers", class `Barrier`.
//!
//! # Steps
//!
//! To enter: create `root/name` as an ephemeral node; then list the children of `root` with a watch, and again after
//! each event, until there are `size` of them.
//!
//! To leave: delete `root/name`; then list the children of `root` with a watch, and again after each event, until there
//! are none.
//!
//! # Guarantees
//!
//! - No process enters before all have come, and none leaves before all are done (`barrier`).
//!
//! # Hazards
//!
//! - There are `size` children only until the first deletes its own. A process that lists them later finds too few,
//!   waits for ever, and with its own node keeps all others from leaving (scenario `zookeeper/late-to-the-barrier`).
//! - Each node that comes or goes wakes all.
//! - A create that is not answered fails, and so does each after it: the node is there.

use std::future::pending;

use async_trait::async_trait;

use super::double_barrier::process_name;
use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::zookeeper::{CreateMode, Path, ZkResult, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-tutorial-barrier",
    summary: "The tutorial's barrier: a process that is woken counts the children, when entering and when leaving.",
    source: "Apache ZooKeeper, Programming with ZooKeeper - A basic tutorial, 'Barriers'",
    flaw: Some(
        "a process that counts after another has left finds too few, and no process gets out any more",
    ),
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::GetChildren,
    ],
    build: Build::ZooKeeper(&|zk, env, root| Box::new(Barrier::new(zk, &env, root))),
    ..super::double_barrier::RECIPE
};

struct Barrier {
    zk: ZooKeeper,
    root: Path,
    name: String,
    size: usize,
}

impl Barrier {
    fn new(zk: ZooKeeper, env: &Env, root: Path) -> Self {
        let name = process_name(env);
        let size = 1;
        Self {
            zk,
            root,
            name,
            size,
        }
    }

    async fn enter(&self) -> ZkResult<Path> {
        let node = child(&self.root, &self.name);
        self.zk.create(&node, b"", CreateMode::Ephemeral).await?;
        loop {
            let (list, changed) = self.zk.children_and_watch(&self.root).await?;
            if list.len() < self.size {
                changed.next().await;
            } else {
                return Ok(node);
            }
        }
    }

    async fn leave(&self, node: &Path) -> ZkResult<()> {
        self.zk.delete(node, Some(0)).await?;
        loop {
            let (list, changed) = self.zk.children_and_watch(&self.root).await?;
            if list.is_empty() {
                return Ok(());
            }
            changed.next().await;
        }
    }
}

#[async_trait(?Send)]
impl Lock for Barrier {
    fn set_parties(&mut self, parties: u32) {
        self.size = parties as usize;
    }

    async fn acquire(&mut self) -> Result<Held, LockError> {
        Ok(Held::at(self.enter().await?))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        Ok(self.leave(&held.path_or_key).await?)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }
}
