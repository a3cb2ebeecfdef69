//! Curator's `LeaderSelector`, with a listener that extends `LeaderSelectorListenerAdapter`.
//!
//! # Source
//!
//! Apache Curator 5.4: `LeaderSelector`, `LeaderSelectorListenerAdapter`. Function names are Curator's.
//!
//! # Steps
//!
//! 1. `start`, or `requeue`: in a thread of its own, acquire an `InterProcessMutex` (`curator_mutex`).
//! 2. `takeLeadership`: the term lasts until it returns.
//! 3. `stateChanged`: on SUSPENDED and on LOST the adapter throws `CancelLeadershipException`, and the selector
//!    interrupts its thread: whether it leads, or still waits, or has just stopped waiting.
//! 4. Release the mutex, and `requeue` if leadership is still wanted (`autoRequeue`). An acquire that is interrupted
//!    deletes its node, however long that takes.
//!
//! # Guarantees
//!
//! - As of `curator_mutex`. Since a selector that waits is interrupted, too, no wait goes on in a new session, and no
//!   node of an old session leads.
//!
//! # Hazards
//!
//! - Those of `curator_mutex`, but for a session that was given up. A selector that waits loses its place with its
//!   connection.
//! - A `takeLeadership` that does not end when it is interrupted goes on leading. Sections here end.

use async_trait::async_trait;

use super::curator_mutex::{CLAIMS, Deviation, InterProcessMutex, REQUESTS};
use crate::clients::curator::{ConnectionState, Curator, CuratorConfig, Listener};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-leader-selector",
    summary: "Curator's LeaderSelector: a mutex whose thread is interrupted when the connection is lost.",
    source: "Apache Curator 5.4, LeaderSelector, LeaderSelectorListenerAdapter",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::LOWEST_CHILD_LEADS,
    requests: REQUESTS,
    inputs: &[crate::RecipeInput::LockNode],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, path| {
        let state_changed = StateChanged::CancelsLeadership;
        Box::new(LeaderSelector::new(zk, env, path, state_changed))
    }),
};

/// What the listener does when the connection is suspended or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateChanged {
    /// Throws `CancelLeadershipException`.
    CancelsLeadership,
    /// The same when it is lost, and nothing when it is suspended.
    CancelsWhenLost,
    /// Nothing.
    IsIgnored,
}

/// The selector.
pub(super) struct LeaderSelector {
    mutex: InterProcessMutex,
    states: Listener,
    state_changed: StateChanged,
}

impl LeaderSelector {
    pub(super) fn new(zk: ZooKeeper, env: Env, path: Path, state_changed: StateChanged) -> Self {
        let client = Curator::of_process(zk.clone(), env.clone(), CuratorConfig::default());
        Self {
            mutex: InterProcessMutex::new(zk, env, path, Deviation::NONE),
            states: client.listen(),
            state_changed,
        }
    }
}

/// Step 3: resolves when leadership is cancelled.
async fn interrupted(states: &Listener, state_changed: StateChanged) -> LockError {
    loop {
        let (why, cancels) = match states.next().await {
            ConnectionState::Suspended => (
                LockError::Disconnected,
                state_changed == StateChanged::CancelsLeadership,
            ),
            ConnectionState::Lost => (
                LockError::SessionExpired,
                state_changed != StateChanged::IsIgnored,
            ),
            ConnectionState::Connecting
            | ConnectionState::Connected
            | ConnectionState::Reconnected
            | ConnectionState::ReadOnly => continue,
        };
        if cancels {
            return why;
        }
    }
}

#[async_trait(?Send)]
impl Lock for LeaderSelector {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        // A selector that neither waited nor led had nothing to interrupt.
        self.states.pass_over();
        let interrupted = async { Err(interrupted(&self.states, self.state_changed).await) };
        select(interrupted, self.mutex.acquire()).await
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.mutex.release(held).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        interrupted(&self.states, self.state_changed).await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
