//! `predecessor_watch`, except that it calls `sync` before it looks for its guid: the usual proposal for a repair. Must
//! be caught by `zookeeper/lookup-without-sync`.
//!
//! `sync` makes a follower catch up with what its leader has proposed. But a client that has moved to the leader itself
//! gets no such promise: there, `sync` is answered like a read, while the create still waits for its quorum.

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{Ticket, child, delete_own, make_ticket, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{Path, ZkError, ZkResult, ZooKeeper, until_answered};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-sync-lookup",
    summary: "The predecessor watch, with a sync before the look-up by guid.",
    source: "CURATOR-264; Apache ZooKeeper, CommitProcessor, 'matchSyncs'",
    flaw: Some(
        "a leader answers the sync of its own clients at once, with the create still undecided",
    ),
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::Exists,
        RequestKind::GetChildren,
        RequestKind::Sync,
    ],
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(SyncLookup { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

struct SyncLookup {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for SyncLookup {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let ticket = take_ticket(&self.zk, &self.lock, &self.env.guid()).await?;
        wait_for_turn(&self.zk, &self.lock, &ticket).await?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}

async fn take_ticket(zk: &ZooKeeper, lock: &Path, guid: &str) -> ZkResult<Ticket> {
    let prefix = child(lock, &format!("{guid}-lock-"));
    loop {
        match make_ticket(zk, &prefix).await {
            Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {
                let children = until_answered(async || {
                    zk.sync(lock).await?; // The flaw.
                    zk.children(lock).await
                })
                .await?;
                let ours = children.names().find(|name| name.starts_with(guid));
                if let Some(ours) = ours {
                    let path = child(lock, ours);
                    if let Some(stat) = until_answered(|| zk.exists(&path)).await? {
                        return Ok(Ticket::new(path, stat.czxid));
                    }
                }
            }
            answer => return answer,
        }
    }
}
