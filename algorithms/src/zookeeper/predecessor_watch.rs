//! The ZooKeeper lock recipe: a queue in which each waiter watches only its predecessor.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, sections "Locks" and "Recoverable Errors and the GUID". Step numbers
//! are the recipe's.
//!
//! # Steps
//!
//! 1. Create `lock/guid-lock-` as an ephemeral sequential node: take a ticket.
//! 2. List the children of `lock`, without a watch.
//! 3. If our ticket is the lowest, we hold the lock.
//! 4. Otherwise watch the ticket just ahead of ours.
//! 5. When it is gone, go to 2. Its owner may have been another waiter, so being woken is not holding.
//!
//! # Guarantees
//!
//! - At most one *live session* owns the lowest ticket (`mutual-exclusion`).
//! - The lock passes in ticket order (`fifo`).
//! - A departure wakes at most one waiter (`wakeups-per-release` at most 1).
//!
//! # Hazards
//!
//! - A holder that stalls past its session timeout still believes that it holds the lock. Send the token with every
//!   write (scenario `zookeeper/gc-pause`).
//! - Sequence numbers restart if `lock` itself is deleted, so the token is the czxid, never the sequence number
//!   (scenario `zookeeper/parent-recreated`).
//! - `lock` has to be there, and to stay: if it is a container, ZooKeeper deletes it when the queue has been empty for
//!   a while, and contenders do not make it again (scenario `zookeeper/container-reaped`).
//! - Dropping `acquire` after step 1 leaves the ticket in the queue for as long as the session lives (scenario
//!   `zookeeper/cancelled-waiter`). So does dropping `release` while its delete is lost (scenario
//!   `zookeeper/cancelled-release`).
//! - After a move to a server that lags, the look-up by guid may miss a create that did happen; the contender then
//!   queues twice, behind itself (scenario `zookeeper/lookup-without-sync`).

use async_trait::async_trait;

use super::queue::{
    Ticket, delete_own, if_there, make_ticket_with_guid, predecessor, session_lost,
};
use crate::clients::zookeeper::{Path, ZooKeeper, until_answered};
use crate::{Build, Claim, Env, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-predecessor-watch",
    summary: "A queue of sequential nodes in which each waiter watches only the one ahead of it.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Locks'",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::LOWEST_CHILD,
    requests: super::queue::REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(PredecessorWatch { zk, env, lock })),
};

/// What a fair queue promises.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Fifo,
    Claim::HonestAnswer,
];

struct PredecessorWatch {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for PredecessorWatch {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?; // Step 1.
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

/// Steps 2 to 5.
pub(super) async fn wait_for_turn(
    zk: &ZooKeeper,
    lock: &Path,
    ticket: &Ticket,
) -> Result<(), LockError> {
    loop {
        let children = until_answered(|| zk.children(lock)).await?; // Step 2.
        let Some(ahead) = predecessor(children, lock, ticket)? else {
            return Ok(()); // Step 3.
        };
        let watch = until_answered(|| zk.exists_and_watch(&ahead)).await?;
        if let Some(gone) = if_there(watch) {
            gone.next().await; // Steps 4 and 5.
        }
    }
}
