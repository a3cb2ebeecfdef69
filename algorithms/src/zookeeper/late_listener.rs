//! BROKEN ON PURPOSE. `hardened`, except that a holder listens for changes of its connection from then on, and does not
//! look at the state that it has.
//!
//! # Source
//!
//! Apache Curator, *Error Handling*: a `ConnectionStateListener` is called for changes, and not for the state that
//! there is when it is added.
//!
//! # Steps
//!
//! Those of [`hardened`](super::hardened), but step 7 is: while holding, stop believing when told that the connection
//! is down or that our node is gone.
//!
//! # Guarantees
//!
//! - `exclusive-ownership`.
//!
//! # Hazards
//!
//! - Between the answer that it is first and the listener lies code of its own. A connection that is lost meanwhile was
//!   lost before there was a listener, which is never called for it (scenario `zookeeper/cut-before-the-listener`).

use async_trait::async_trait;

use super::hardened::Hardened;
use crate::clients::zookeeper::{EventType, Path, SessionState, ZooKeeper, until_answered};
use crate::{Build, Held, Lock, LockError, Recipe, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-late-listener",
    summary: "BROKEN: the hardened recipe whose holder hears of later changes of its connection alone.",
    source: "Apache Curator, Error Handling: ConnectionStateListener",
    flaw: Some("the connection may be lost before there is a listener"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(LateListener(Hardened { zk, env, lock }))),
    ..super::hardened::RECIPE
};

struct LateListener(Hardened);

#[async_trait(?Send)]
impl Lock for LateListener {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.0.acquire().await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        let zk = &self.0.zk;
        select(told_of_disconnect(zk), node_gone(zk, &held.path_or_key)).await
    }
}

/// Resolves when the listener is told that the connection is down.
async fn told_of_disconnect(zk: &ZooKeeper) -> LockError {
    let listener = zk.session_events();
    loop {
        match listener.next().await.kind {
            EventType::Session(SessionState::Connecting | SessionState::ConnectedReadOnly) => {
                return LockError::Disconnected;
            }
            EventType::Session(SessionState::Closed) => return LockError::SessionExpired,
            EventType::Session(SessionState::Connected)
            | EventType::NodeCreated
            | EventType::NodeDeleted
            | EventType::NodeDataChanged
            | EventType::NodeChildrenChanged
            | EventType::DataWatchRemoved
            | EventType::ChildWatchRemoved
            | EventType::PersistentWatchRemoved => {}
        }
    }
}

/// Resolves when our node is gone.
async fn node_gone(zk: &ZooKeeper, path: &Path) -> LockError {
    loop {
        match until_answered(|| zk.exists_and_watch(path)).await {
            Ok((Some(_), changed)) => {
                if changed.next().await.kind == EventType::NodeDeleted {
                    return LockError::PlaceLost;
                }
            }
            Ok((None, _)) => return LockError::PlaceLost,
            Err(error) => return error.into(),
        }
    }
}
