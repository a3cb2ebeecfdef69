//! The leader election of ZooKeeper's documentation.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, "Leader Election".
//!
//! # Steps
//!
//! 1. To volunteer, create `election/guid-n_` as an ephemeral sequential node. If the answer is lost, look whether a
//!    node with our guid is there.
//! 2. List the children of `election`.
//! 3. If ours is the smallest, execute the leader procedure: the term begins.
//! 4. Otherwise watch the node with the largest number below ours, and no other: so a leader that fails wakes one
//!    candidate. When the watch fires, go to 2: the one ahead may have been a candidate, and no leader.
//! 5. To step down, delete our node.
//!
//! # Guarantees
//!
//! - Of several candidates, one leads, and the candidates lead in the order in which they volunteered.
//! - The transaction that made the node is a token: a later leader has a greater one.
//!
//! # Hazards
//!
//! - To be first in the list is not to know it: between two terms there is no leader, and a candidate that has just
//!   become the first learns that when its watch fires.
//! - The documentation does not say when a leader stops. This one stops when it is told that its session is over, and a
//!   leader that was cut off learns that from the server to which it reconnects (scenario `zookeeper/cut-off-leader`);
//!   `curator_leader_latch` stops when the connection is lost.
//! - A candidate that withdraws before it leads leaves its node behind (scenario `zookeeper/withdrawn-candidate`).
//! - The look-up by guid may go to a server that lags, as that of `predecessor_watch`.

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{delete_own, make_ticket_of, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-leader-election",
    summary: "An election of sequential nodes in which each candidate watches only the one ahead of it.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Leader Election'",
    ownership: OwnershipRule::LOWEST_CHILD_LEADS,
    build: Build::ZooKeeper(&|zk, env, election| Box::new(LeaderElection { zk, env, election })),
    ..super::predecessor_watch::RECIPE
};

struct LeaderElection {
    zk: ZooKeeper,
    env: Env,
    election: Path,
}

#[async_trait(?Send)]
impl Lock for LeaderElection {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let prefix: Path = [&*self.election, "/", &guid, "-n_"].concat().into();
        let candidate = make_ticket_of(&self.zk, &self.election, &guid, &prefix).await?; // Step 1.
        wait_for_turn(&self.zk, &self.election, &candidate).await?; // Steps 2 to 4.
        Ok(Held::at(candidate.path).with_token(candidate.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await // Step 5.
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
