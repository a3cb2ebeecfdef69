//! `same_name` over a client that opens another session by itself, and a release that deletes the node of version zero.
//! Must be caught by `zookeeper/reopened-session`: by then the node is the next holder's, and its version is zero, too.
//!
//! Seen in the wild: `ZkDistributedLock` of many tutorials, whose `unlock` is `zooKeeper.delete(path, 0)`, and which
//! say that a lock cannot be deleted by mistake; with a wrapper that makes a new `ZooKeeper` when a session has
//! expired.

use std::future::pending;

use async_trait::async_trait;

use super::same_name::SameName;
use crate::clients::zookeeper::{SessionState, ZkError, ZooKeeper};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-reopened-session",
    summary: "The single node over a wrapper that opens new sessions, deleted by its version, which is always zero.",
    source: "ZkDistributedLock of many tutorials: unlock, over a client that reconnects for good",
    flaw: Some("the version does not say whose node it is"),
    build: Build::ZooKeeper(&|zk, _env, lock| Box::new(ReopenedSession(SameName::new(zk, &lock)))),
    ..super::same_name::RECIPE
};

struct ReopenedSession(SameName);

impl ReopenedSession {
    /// The wrapper's client, in a new session if the last one is over.
    fn zoo_keeper(&mut self) -> &ZooKeeper {
        if self.0.zk.state() == SessionState::Closed {
            self.0.zk = self.0.zk.renew();
        }
        &self.0.zk
    }
}

#[async_trait(?Send)]
impl Lock for ReopenedSession {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.zoo_keeper();
        self.0.acquire().await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        loop {
            let delete = self.zoo_keeper().delete(&held.path_or_key, Some(0));
            match delete.await {
                Ok(()) | Err(ZkError::NoNode) => return Ok(()),
                Err(
                    ZkError::ConnectionLoss
                    | ZkError::NoServer
                    | ZkError::RequestTimeout
                    | ZkError::SessionExpired,
                ) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The wrapper does not report the loss of a session.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
