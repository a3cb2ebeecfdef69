//! kazoo's `DoubleBarrier`.
//!
//! # Source
//!
//! kazoo 2.11, `recipe/barrier.py`: `DoubleBarrier`. Functions and fields have kazoo's names. The client is that of
//! `clients::kazoo`.
//!
//! # Steps
//!
//! `enter`, which `KazooRetry` repeats (`_inner_enter`):
//! 1. Make the barrier's node if it is missing. Create `create_path` as an ephemeral node, whose name is a random one
//!    of this object; if it is there already, it is ours.
//! 2. Set a watch on `ready`, and do not mind whether it is there.
//! 3. List the children. If they are fewer than there are to come, wait until the watch tells that `ready` was made.
//!    Otherwise make `ready`.
//!
//! `leave`, which `KazooRetry` repeats (`_inner_leave`):
//! 4. Delete `ready`.
//! 5. List the children. If there are none, or ours is the only one, delete it and exit.
//! 6. If ours is the lowest, wait until the highest is deleted, and go to 5.
//! 7. Otherwise delete ours, wait until the lowest is deleted, and go to 5.
//! 8. If anything fails that is not repeated, delete ours, if it is there, and return as if all had left
//!    (`_best_effort_cleanup`).
//!
//! # Guarantees
//!
//! - No process enters before all have come, while nothing breaks.
//!
//! # Hazards
//!
//! - Step 7 deletes our node each time. A process that comes to it again, because the lowest has died or because the
//!   call is repeated, fails with `NoNode`, and leaves by step 8 while others are inside (scenario
//!   `zookeeper/dead-at-the-barrier`).
//! - The first to leave deletes `ready`. A process that is still between 1 and 3 then finds neither `ready` nor enough
//!   children, and waits for ever (scenario `zookeeper/paused-at-the-barrier`).
//! - kazoo forgets its watches with the connection, and tells them so once. Steps 3, 6, and 7 wait for something else,
//!   and so for ever (scenario `zookeeper/forgotten-watch-at-the-barrier`).
//! - A process that is restarted has another random name, and counts twice until its old session has ended.

use std::future::pending;

use async_trait::async_trait;

use super::double_barrier::READY;
use super::queue::child;
use crate::clients::kazoo::{Failed, KazooClient};
use crate::clients::zookeeper::{CreateMode, EventType, Path, Watch, ZkError, ZkResult};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-double-barrier",
    summary: "kazoo's DoubleBarrier: a wait goes by one watch, and a leaver deletes what let the others in.",
    source: "kazoo 2.11, recipe/barrier.py, DoubleBarrier",
    flaw: Some("to delete one's node a second time fails, and leaves while others are inside"),
    inputs: &[crate::RecipeInput::LockNode],
    build: Build::ZooKeeper(&|zk, env, path| {
        let client = KazooClient::of_process(zk, &env);
        Box::new(DoubleBarrier::new(client, path, &env))
    }),
    ..super::double_barrier::RECIPE
};

struct DoubleBarrier {
    client: KazooClient,
    path: Path,
    num_clients: usize,
    node_name: String,
    create_path: Path,
    ready_path: Path,
}

impl DoubleBarrier {
    fn new(client: KazooClient, path: Path, env: &Env) -> Self {
        let node_name = env.guid();
        let create_path = child(&path, &node_name);
        let ready_path = child(&path, READY);
        Self {
            client,
            path,
            num_clients: 1,
            node_name,
            create_path,
            ready_path,
        }
    }

    /// Steps 1 to 3.
    async fn inner_enter(&self) -> ZkResult<()> {
        self.client.ensure_path(&self.path).await?;
        let zk = self.client.session();
        match zk
            .create(&self.create_path, b"", CreateMode::Ephemeral)
            .await
        {
            Ok(_) | Err(ZkError::NodeExists) => {}
            Err(error) => return Err(error),
        }
        let (_, created) = zk.exists_and_watch(&self.ready_path).await?; // Step 2.
        if zk.children(&self.path).await?.len() < self.num_clients {
            until_event(EventType::NodeCreated, created).await;
            return Ok(());
        }
        self.client.ensure_path(&self.ready_path).await
    }

    /// Steps 4 to 7.
    async fn inner_leave(&self) -> ZkResult<()> {
        let zk = self.client.session();
        match zk.delete(&self.ready_path, None).await {
            Ok(()) | Err(ZkError::NoNode) => {}
            Err(error) => return Err(error),
        }
        loop {
            let children = zk.children(&self.path).await?;
            let mut names: Vec<&str> = children.names().map(|name| &**name).collect();
            names.sort_unstable();
            let waits_on = match names[..] {
                [] => return Ok(()),
                [only] if only == self.node_name => {
                    return zk.delete(&self.create_path, None).await;
                }
                [lowest, .., highest] if lowest == self.node_name => highest,
                [lowest, ..] => {
                    zk.delete(&self.create_path, None).await?;
                    lowest
                }
            };
            let waits_on = child(&self.path, waits_on);
            let (there, deleted) = zk.exists_and_watch(&waits_on).await?;
            if there.is_some() {
                until_event(EventType::NodeDeleted, deleted).await;
            }
        }
    }

    /// Step 8: `_best_effort_cleanup`. That the node is not there is no error.
    async fn best_effort_cleanup(&self) {
        let delete = async || {
            let zk = self.client.session();
            Ok(zk.delete(&self.create_path, None).await?)
        };
        let _swallowed = self.client.retry(None, delete).await;
    }
}

/// What a call that is repeated for ever raises.
pub(super) fn raised(failed: Failed) -> LockError {
    match failed {
        Failed::Keeper(error) => error.into(),
        Failed::ForceRetry | Failed::RetryFailed | Failed::Timeout | Failed::Cancelled => {
            LockError::TimedOut
        }
    }
}

/// Waits until the watch brings this event, whatever it brings before.
pub(super) async fn until_event(what: EventType, watch: Watch) {
    while watch.next().await.kind != what {}
}

#[async_trait(?Send)]
impl Lock for DoubleBarrier {
    fn set_parties(&mut self, parties: u32) {
        self.num_clients = parties as usize;
    }

    /// `enter`. It swallows its errors; its caller sees by `participating` that it has failed.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let enter = async || Ok(self.inner_enter().await?);
        match self.client.retry(None, enter).await {
            Ok(()) => Ok(Held::at(Path::clone(&self.create_path))),
            Err(failed) => {
                self.best_effort_cleanup().await;
                Err(raised(failed))
            }
        }
    }

    /// `leave`, which never fails.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let leave = async || Ok(self.inner_leave().await?);
        if self.client.retry(None, leave).await.is_err() {
            self.best_effort_cleanup().await;
        }
        Ok(())
    }

    /// A process inside is not told that another has gone.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
