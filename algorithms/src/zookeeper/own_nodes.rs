//! The predecessor watch without a guid: whose node it is the server knows best.
//!
//! # Source
//!
//! Apache ZooKeeper 3.6, `getEphemerals` ("all the ephemeral nodes created by the session") and `multi` of reads
//! (ZOOKEEPER-2884, ZOOKEEPER-3402).
//!
//! # Steps
//!
//! 1. Create `lock/lock-` as an ephemeral sequential node. If the answer is lost, ask for the session's own nodes that
//!    begin so: if there is one, it is ours; if not, create it again.
//! 2. In one request, read our node, which has the token, and list the children of `lock`.
//! 3. If our node is the lowest, we hold the lock.
//! 4. Otherwise watch the node just ahead of ours; when it is gone, go to 2.
//!
//! # Guarantees
//!
//! - As for the predecessor watch. A node of an earlier session is never taken for ours.
//! - A look-up after a lost answer brings our own nodes, and not the whole queue.
//!
//! # Hazards
//!
//! - Two callers in one session take each other's nodes for their own (scenario
//!   `zookeeper/shared-session-lost-create`): one lock and one session for each.
//! - A server that lags does not know of the node yet, as with the look-up by guid (scenario
//!   `zookeeper/lookup-without-sync`).
//! - A cancelled `acquire` leaves its ticket, as that of the predecessor watch does.

use async_trait::async_trait;

use super::queue::{child, delete_own, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{
    CreateMode, Path, ReadOp, ReadResult, ZkError, ZkResult, ZooKeeper, Zxid, until_answered,
};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-own-nodes",
    summary: "The predecessor watch without a guid: a lost create is looked for among the session's own nodes.",
    source: "Apache ZooKeeper 3.6, getEphemerals and multi of reads",
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::Exists,
        RequestKind::MultiRead,
        RequestKind::GetEphemerals,
    ],
    build: Build::ZooKeeper(&|zk, _env, lock| {
        let prefix = child(&lock, "lock-");
        Box::new(OwnNodes { zk, lock, prefix })
    }),
    ..super::predecessor_watch::RECIPE
};

struct OwnNodes {
    zk: ZooKeeper,
    lock: Path,
    prefix: Path,
}

/// What one look at the queue shows.
struct Look {
    token: Zxid,
    ahead: Option<Path>,
}

impl OwnNodes {
    /// Step 1.
    async fn take_ticket(&self) -> ZkResult<Path> {
        loop {
            let mode = CreateMode::EphemeralSequential;
            match self.zk.create(&self.prefix, b"", mode).await {
                Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                    let own = until_answered(async || self.zk.ephemerals(&self.prefix).await);
                    if let Some(ours) = own.await?.into_iter().min() {
                        return Ok(ours);
                    }
                }
                answer => return answer,
            }
        }
    }

    /// Step 2.
    async fn look(&self, ticket: &Path) -> Result<Look, LockError> {
        let reads = until_answered(async || {
            let own = ReadOp::Data(Path::clone(ticket));
            let queue = ReadOp::Children(Path::clone(&self.lock));
            self.zk.multi_read(vec![own, queue]).await
        });
        let mut reads = reads.await?.into_iter();
        let (Some(Ok(ReadResult::Data { stat, .. })), Some(Ok(ReadResult::Children(queue)))) =
            (reads.next(), reads.next())
        else {
            return Err(LockError::PlaceLost);
        };
        let name = ticket.rsplit('/').next().unwrap_or_default();
        let queue = queue.sorted_by_sequence();
        let place = queue.position(name).ok_or(LockError::PlaceLost)?;
        let ahead = place.checked_sub(1).and_then(|place| queue.get(place));
        Ok(Look {
            token: stat.czxid,
            ahead: ahead.map(|name| child(&self.lock, name)),
        })
    }
}

#[async_trait(?Send)]
impl Lock for OwnNodes {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let place = self.take_ticket().await?;
        loop {
            let Look { token, ahead } = self.look(&place).await?;
            let Some(ahead) = ahead else {
                return Ok(Held::at(place).with_token(token.0)); // Step 3.
            };
            let watched = until_answered(|| self.zk.exists_and_watch(&ahead));
            let (there, gone) = watched.await?;
            if there.is_some() {
                gone.next().await; // Step 4.
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
