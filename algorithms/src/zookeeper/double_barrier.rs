//! The ZooKeeper recipe for double barriers: all begin together, and all end together.
//!
//! # Source
//!
//! Apache ZooKeeper, *Recipes and Solutions*, section "Double Barriers". Step numbers and letters are the recipe's: the
//! barrier node is `b`, the parties are `x` processes, and the node of process `p` is `n`.
//!
//! # Steps
//!
//! To enter (`acquire`):
//! 1. Create the name `n = b/p`. Ours is the name of our host and the number of our thread.
//! 2. Set a watch: `exists(b/ready, true)`.
//! 3. Create the child: `create(n, EPHEMERAL)`. If it is there already, it is ours from a try before; or, if it is of
//!    another session, of the process that ran here before, and we wait until it has gone with that session.
//! 4. `L = getChildren(b, false)`.
//! 5. If there are fewer than `x` processes in `L`, wait for a watch event; then go to 2, for an event of the
//!    connection says nothing of `ready`. If `ready` was there in step 2, all have come.
//! 6. Otherwise `create(b/ready, REGULAR)`.
//!
//! To leave (`release`):
//! 1. `L = getChildren(b, false)`, without `ready`.
//! 2. If there are no children, exit.
//! 3. If `p` is the only process node in `L`, `delete(n)` and exit.
//! 4. If `p` is the lowest process node in `L`, wait on the highest process node in `L`.
//! 5. Otherwise `delete(n)` if it still exists, and wait on the lowest process node in `L`.
//! 6. Go to 1.
//!
//! # Guarantees
//!
//! - No process enters before all have come, and none leaves before all are done (`barrier`).
//! - All get through, also if one dies and comes again, or loses its session (`progress`).
//! - Each node that goes wakes one process at the most, but for the last, which wakes all.
//!
//! # Hazards
//!
//! - `ready` stays, so a barrier serves once: a process that comes a second time is let through at once. In scenarios
//!   each round has a barrier of its own (as many `locks` as `rounds`); with one for all rounds, it shows (scenario
//!   `zookeeper/reused-barrier`).
//! - A process that stands still while its session ends is not waited for, and goes on when it wakes up.
//! - A process that gives up waiting is missing to the others: there is no step for that.
//! - To count the processes and not to look for `ready`, when woken, misses that all have come if one has left again
//!   (`tutorial_barrier` and `curator_double_barrier`, scenario `zookeeper/late-to-the-barrier`).

use std::future::pending;
use std::rc::Rc;

use async_trait::async_trait;

use super::queue::{child, delete_own};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{CreateMode, Path, ZkError, ZkResult, ZooKeeper, until_answered};
use crate::{Build, Claim, Env, Held, Lock, LockError, Mode, OwnershipRule, Place, Recipe};

/// What a barrier promises.
pub(super) const CLAIMS: &[Claim] = &[Claim::Progress, Claim::Barrier];

/// Who the parties of a barrier are.
pub(super) const OWNERSHIP: OwnershipRule =
    OwnershipRule::parties(|name| (name != READY).then_some(Place::Sequential(Mode::Shared)));

/// The name of the node that says that all have come.
pub(super) const READY: &str = "ready";

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::Exists,
    RequestKind::GetChildren,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-double-barrier",
    summary: "All enter when the last has come, told by a node, and all leave when the last is done.",
    source: "Apache ZooKeeper, Recipes and Solutions, 'Double Barriers'",
    flaw: None,
    claims: CLAIMS,
    ownership: OWNERSHIP,
    requests: REQUESTS,
    inputs: &[],
    cancellable: false,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, b| Box::new(DoubleBarrier::new(zk, &env, b))),
};

struct DoubleBarrier {
    zk: ZooKeeper,
    b: Path,
    p: String,
    x: usize,
}

impl DoubleBarrier {
    fn new(zk: ZooKeeper, env: &Env, b: Path) -> Self {
        let p = process_name(env);
        Self { zk, b, p, x: 1 }
    }

    /// Steps 2 to 6.
    async fn enter(&self) -> Result<Path, LockError> {
        let ready = child(&self.b, READY);
        let n = child(&self.b, &self.p); // Step 1.
        loop {
            let (is_ready, changed) = until_answered(|| self.zk.exists_and_watch(&ready)).await?; // Step 2.
            self.join(&n).await?; // Step 3.
            if is_ready.is_some() {
                return Ok(n);
            }
            if self.processes().await?.len() >= self.x {
                create_ready(&self.zk, &ready).await?; // Step 6.
                return Ok(n);
            }
            changed.next().await; // Step 5.
        }
    }

    /// Step 3.
    async fn join(&self, n: &Path) -> ZkResult<()> {
        loop {
            match until_answered(|| self.zk.create(n, b"", CreateMode::Ephemeral)).await {
                Err(ZkError::NodeExists) => {}
                answer => return answer.map(|_| ()),
            }
            let (there, gone) = until_answered(|| self.zk.exists_and_watch(n)).await?;
            match there {
                Some(stat) if stat.ephemeral_owner == self.zk.session() => return Ok(()),
                Some(_) => {
                    gone.next().await;
                }
                None => {}
            }
        }
    }

    async fn leave(&self, n: &Path) -> Result<(), LockError> {
        loop {
            let l = self.processes().await?; // Step 1.
            let (lowest, highest) = match &*l {
                [] => return Ok(()),                                                 // Step 2.
                [only] if **only == *self.p => return delete_own(&self.zk, n).await, // Step 3.
                [only] => (only, only),
                [lowest, .., highest] => (lowest, highest),
            };
            let waits_on = if **lowest == *self.p {
                highest // Step 4.
            } else {
                delete_own(&self.zk, n).await?;
                lowest // Step 5.
            };
            let waits_on = child(&self.b, waits_on);
            let (there, gone) = until_answered(|| self.zk.exists_and_watch(&waits_on)).await?;
            if there.is_some() {
                gone.next().await;
            }
        }
    }

    /// The names of all process nodes, in order.
    async fn processes(&self) -> ZkResult<Vec<Rc<str>>> {
        let children = until_answered(|| self.zk.children(&self.b)).await?;
        let processes = children.names().filter(|name| &***name != READY);
        let mut processes: Vec<Rc<str>> = processes.cloned().collect();
        processes.sort_unstable();
        Ok(processes)
    }
}

/// The unique name of a process, which it has again after a restart.
pub(super) fn process_name(env: &Env) -> String {
    format!("{}-{}", env.host(), env.thread())
}

/// Step 6. Another process may have been quicker.
async fn create_ready(zk: &ZooKeeper, ready: &Path) -> ZkResult<()> {
    match until_answered(|| zk.create(ready, b"", CreateMode::Persistent)).await {
        Ok(_) | Err(ZkError::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

#[async_trait(?Send)]
impl Lock for DoubleBarrier {
    fn set_parties(&mut self, parties: u32) {
        self.x = parties as usize;
    }

    async fn acquire(&mut self) -> Result<Held, LockError> {
        Ok(Held::at(self.enter().await?))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.leave(&held.path_or_key).await
    }

    /// A process inside is not told that another has gone.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }
}
