//! `predecessor_watch` whose release ends the session. Must be caught by `zookeeper/two-locks-one-session`: what other
//! threads hold or wait for in the same session is gone with it.
//!
//! Seen in the wild: `ZooKeeperLock` of latch-based tutorials, whose `unlock` calls `zk.close()` in its `finally`. That
//! lock has a session of its own. An application that gives it its own session, as is usual, has that one closed. No
//! holder in it is told.

use std::future::pending;
use std::mem;
use std::time::Duration;

use async_trait::async_trait;

use super::queue::{Ticket, child, if_there, make_ticket, predecessor, prefix};
use crate::clients::zookeeper::{Path, ZkError, ZkResult, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-unlock-closes-session",
    summary: "The predecessor watch whose unlock closes the session, for all that use it.",
    source: "ZooKeeperLock of latch-based tutorials: unlock",
    flaw: Some("the locks of all others in the session are gone with it"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(UnlockClosesSession { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);

struct UnlockClosesSession {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

impl UnlockClosesSession {
    /// Asks again while the connection is lost, after a pause: while another thread closes the session, every call
    /// fails at once.
    async fn answered<T>(&self, mut call: impl AsyncFnMut() -> ZkResult<T>) -> ZkResult<T> {
        loop {
            match call().await {
                Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                    self.env.pause(PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    async fn queue_up(&self) -> ZkResult<Ticket> {
        let guid = self.env.guid();
        let prefix = prefix(&self.lock, &guid);
        let mut asked = false;
        let make = async || {
            if mem::replace(&mut asked, true) {
                let children = self.zk.children(&self.lock).await?;
                let ours = children.names().find(|name| name.starts_with(&guid));
                let path = ours.map(|name| child(&self.lock, name));
                if let Some(path) = path
                    && let Some(stat) = self.zk.exists(&path).await?
                {
                    return Ok(Ticket::new(path, stat.czxid));
                }
            }
            make_ticket(&self.zk, &prefix).await
        };
        self.answered(make).await
    }
}

#[async_trait(?Send)]
impl Lock for UnlockClosesSession {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let ticket = self.queue_up().await?;
        loop {
            let children = self.answered(|| self.zk.children(&self.lock)).await?;
            let Some(ahead) = predecessor(children, &self.lock, &ticket)? else {
                return Ok(Held::at(ticket.path).with_token(ticket.czxid.0));
            };
            let watch = self.answered(|| self.zk.exists_and_watch(&ahead)).await?;
            if let Some(gone) = if_there(watch) {
                gone.next().await;
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let deleted = self
            .answered(|| self.zk.delete(&held.path_or_key, None))
            .await;
        // The flaw, in `finally`.
        let _closed = self.zk.close().await;
        match deleted {
            Ok(()) | Err(ZkError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// It closes nothing else, and looks at nothing.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }
}
