//! Curator's `LeaderLatch`.
//!
//! # Source
//!
//! Apache Curator 5.7: `LeaderLatch`, as it is since CURATOR-696. Function names are Curator's.
//!
//! # Steps
//!
//! What is asked is asked in the background, and goes on in callbacks.
//! 1. `start`: when there is a connection, listen to its state, and `reset`.
//! 2. `reset`: do not lead; forget our node, and delete it, however long that takes; create `latch/_c_GUID-latch-`,
//!    an ephemeral sequential node, protected as that of `curator_mutex`. When it is there, it is ours: list the
//!    children. A create that has failed is logged, and nothing else.
//! 3. `checkLeadership`: sort the children by what comes after `latch-`. If ours is not among them, `reset`. If it is
//!    the first, ask whose it is: if it is of the present session, lead; if not, `reset`. Otherwise do not lead, and
//!    watch the data of the one ahead; when it is deleted, or is gone already, list the children again.
//! 4. `handleStateChange`: on SUSPENDED, and on LOST, do not lead. On RECONNECTED list the children: a latch whose node
//!    is still there keeps its place.
//! 5. `close`: do not lead, and delete our node. A latch can be started once: a candidate that has stepped down comes
//!    back with another.
//!
//! A term begins when `await` returns, and ends with `notLeader`. A leader that has lost its term stays in the
//! election. One that steps down does not say so before its node is gone: `close` itself does not wait for that.
//!
//! # Guarantees
//!
//! - As of `curator_mutex`. A node of a session that was given up is not led by.
//!
//! # Hazards
//!
//! - Those of `curator_mutex`, but for the last: the look-up of a create is not ordered behind it, there is no token,
//!   and a state of the connection is told on account of an event.
//! - A create whose answer is late, and a reconnect meanwhile, which finds no node of ours and calls `reset`, make
//!   two nodes. Whichever is made last deletes the other, by which the latch may lead already, and it goes on leading
//!   until it has listed the children again; or it begins to, when an old question about the other is answered.
//!   Another leads beside it (scenario `zookeeper/curator-leader-latch-reset`; `curator_leader_latch_own_node` minds
//!   which node is its own).
//! - A caller that waits gets no error: a create that is refused for good is logged, and `await` goes on.

mod latch;

use std::cell::Cell;
use std::rc::Rc;

use async_trait::async_trait;

pub(super) use self::latch::Deviation;
use self::latch::Latch;
use super::curator_mutex::{CLAIMS, REQUESTS};
use crate::clients::curator::{Curator, CuratorConfig};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-leader-latch",
    summary: "Curator's LeaderLatch: a candidate until it is closed, that leads while it is connected and the first.",
    source: "Apache Curator 5.7, LeaderLatch",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::LOWEST_CHILD_LEADS,
    requests: REQUESTS,
    inputs: &[crate::RecipeInput::LockNode],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(LeaderLatch::new(zk, env, path, Deviation::NONE))
    }),
};

/// A candidate, which starts one latch after the other.
pub(super) struct LeaderLatch {
    client: Curator,
    latch_path: Path,
    deviation: Deviation,
    latch: Option<Rc<Latch>>,
    term: Term,
}

/// Which of its terms a candidate believes in.
#[derive(Default)]
struct Term {
    number: u64,
    /// Whether it was told that the term is over: then it stays a candidate.
    is_over: Cell<bool>,
}

impl LeaderLatch {
    pub(super) fn new(zk: ZooKeeper, env: Env, latch_path: Path, deviation: Deviation) -> Self {
        Self {
            client: Curator::of_process(zk, env, CuratorConfig::default()),
            latch_path,
            deviation,
            latch: None,
            term: Term::default(),
        }
    }

    /// The latch that is started.
    fn started(&mut self) -> Rc<Latch> {
        match &self.latch {
            Some(latch) if latch.is_started() => Rc::clone(latch),
            Some(_) | None => {
                let (client, path) = (self.client.clone(), Path::clone(&self.latch_path));
                let latch = Latch::start(client, path, self.deviation);
                self.latch = Some(Rc::clone(&latch));
                latch
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for LeaderLatch {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let candidacy = Candidacy {
            latch: self.started(),
            is_over: false,
        };
        let (number, our_path) = candidacy.elected().await;
        self.term = Term {
            number,
            ..Term::default()
        };
        Ok(Held::at(our_path))
    }

    /// Step 5, unless the term was over before.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        match &self.latch {
            Some(latch) if !self.term.is_over.get() => {
                latch.close();
                latch.nodes_deleted().await;
                Ok(())
            }
            Some(_) | None => Err(LockError::NotHeld),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        if let Some(latch) = &self.latch {
            latch.term_is_over(self.term.number).await;
        }
        self.term.is_over.set(true);
        match self.client.state().is_connected() {
            true => LockError::PlaceLost,
            false => LockError::Disconnected,
        }
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}

/// A call of `await`. If it is dropped before it returns, the latch is closed.
struct Candidacy {
    latch: Rc<Latch>,
    is_over: bool,
}

impl Candidacy {
    /// The number of the term that has begun, and the node that leads.
    async fn elected(mut self) -> (u64, Path) {
        loop {
            if let Some(term) = self.latch.term() {
                self.is_over = true;
                return term;
            }
            self.latch.changed().await;
        }
    }
}

impl Drop for Candidacy {
    fn drop(&mut self) {
        if !self.is_over {
            self.latch.close();
        }
    }
}
