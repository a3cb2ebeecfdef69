//! `predecessor_watch`, except that before it makes a node it looks whether there is one with the guid of its client,
//! and takes that for its own. Must be caught by `zookeeper/shared-session`: the node is that of another thread.
//!
//! Seen in the wild: tutorials that make the recipe re-entrant by a list of the children ("if a node with our guid is
//! there, go on with step 3").

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{delete_own, look_up_by_guid, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-guid-reentry",
    summary: "The predecessor watch, which goes on with a node that has its client's guid if there is one.",
    source: "Tutorials that make the lock re-entrant by a list of the children",
    flaw: Some("the node may be that of another thread, and the first thread to leave deletes it"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(GuidReentry { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

/// The guid of a client.
struct Guid(String);

struct GuidReentry {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for GuidReentry {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let (zk, lock) = (&self.zk, &self.lock);
        let Guid(guid) = &*self.env.client_wide(|| Guid(self.env.guid()));
        // The flaw: a guid of the client, and not of the attempt.
        let ticket = match look_up_by_guid(zk, lock, guid).await? {
            Some(ours) => ours,
            None => make_ticket_with_guid(zk, lock, guid).await?,
        };
        wait_for_turn(zk, lock, &ticket).await?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
