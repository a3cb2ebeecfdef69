//! Curator's `InterProcessMutex`, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessMutex`, `LockInternals`, `StandardLockInternalsDriver`. That a holder must listen
//! is in Curator's documentation of *Shared Reentrant Lock* and in Tech Note 10.
//!
//! # Steps
//!
//! 1. Create `lock/_c_GUID-lock-` as an ephemeral sequential node, protected: repeated by the retry policy, in a new
//!    session too, and looked for by its guid before it is made again (`clients::curator`).
//! 2. List the children, and sort them by what comes after the last `lock-`, as text.
//! 3. If our node is not among them, go to 1, for as long as the retry policy allows.
//! 4. If it is the first, we hold the lock.
//! 5. Otherwise watch the data of the one ahead of it; on any event, or if it is gone, go to 2.
//! 6. If any of that fails, delete our node, however long that takes.
//! 7. To release, delete our node, however long that takes.
//!
//! # Guarantees
//!
//! - As for the predecessor watch, without a token; and no node outlives a failed `acquire` (`no-orphan`).
//!
//! # Hazards
//!
//! - The look-up by guid is not ordered behind the create: after a move to a server that lags it misses the node, and
//!   the contender queues twice, behind itself (CURATOR-264, scenario `zookeeper/lookup-without-sync`).
//! - There is no token, so a pause that outlasts the session lets a stale write through (scenario
//!   `zookeeper/gc-pause`); Curator leaves that to the caller.
//! - `isAcquiredInThisProcess` and re-entrant calls go by a map of threads, which nobody tells that the session is
//!   gone. Here nobody asks it.

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::queue::child;
use crate::clients::curator::{Curator, ErrorPolicy, Settings};
use crate::clients::zookeeper::{Path, ZkError, ZkResult, ZooKeeper};
use crate::{Build, Claim, Env, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex",
    summary: "Curator's InterProcessMutex: protected create, predecessor watch, guaranteed delete, and a listener.",
    source: "Apache Curator 5.4, InterProcessMutex; Tech Note 10",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::LowestChild,
    build: Build::ZooKeeper(|zk, env, lock| {
        let manner = Manner {
            protected: true,
            policy: ErrorPolicy::Standard,
        };
        Box::new(InterProcessMutex::new(zk, env, lock, manner))
    }),
};

/// What Curator's lock promises.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Fifo,
    Claim::HonestAnswer,
];

/// In what its siblings differ.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) protected: bool,
    pub(super) policy: ErrorPolicy,
}

/// The lock.
pub struct InterProcessMutex {
    curator: Curator,
    lock: Path,
    manner: Manner,
}

impl InterProcessMutex {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path, manner: Manner) -> Self {
        Self::of(zk, env, lock, manner, Settings::default())
    }

    /// A lock over a framework that is set otherwise, and told to stop when its session is lost.
    pub fn with_settings(zk: ZooKeeper, env: Env, lock: Path, settings: Settings) -> Self {
        let manner = Manner {
            protected: true,
            policy: ErrorPolicy::Session,
        };
        Self::of(zk, env, lock, manner, settings)
    }

    fn of(zk: ZooKeeper, env: Env, lock: Path, manner: Manner, settings: Settings) -> Self {
        Self {
            curator: Curator::new(zk, env, settings),
            lock,
            manner,
        }
    }

    async fn make_node(&self) -> ZkResult<Path> {
        if self.manner.protected {
            self.curator.create_protected(&self.lock, "lock-").await
        } else {
            self.curator.create_unprotected(&self.lock, "lock-").await
        }
    }

    /// Steps 2 to 5.
    async fn wait_for_turn(&self, ours: &Path) -> ZkResult<()> {
        loop {
            let children = self
                .curator
                .retry(async |zk| zk.children(&self.lock).await)
                .await?;
            let mut names: Vec<&Rc<str>> = children.names().collect();
            names.sort_unstable_by_key(|name| sort_key(name));
            let name = ours.rsplit('/').next().unwrap_or_default();
            let place = names.iter().position(|other| &***other == name);
            let Some(ahead) = place.ok_or(ZkError::NoNode)?.checked_sub(1) else {
                return Ok(());
            };
            let ahead = child(&self.lock, names[ahead]);
            let watched = self
                .curator
                .retry(async |zk| zk.data_and_watch(&ahead).await)
                .await;
            match watched {
                Ok((_, _, changed)) => {
                    changed.next().await;
                }
                Err(ZkError::NoNode) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for InterProcessMutex {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let began = self.curator.env().monotonic();
        let mut retries = 0;
        loop {
            let path = self.make_node().await?; // Step 1.
            let way_out = WayOut::new(&self.curator, &path);
            let error = match self.wait_for_turn(&path).await {
                Ok(()) => {
                    way_out.not_needed();
                    return Ok(Held {
                        place: path,
                        token: None,
                    });
                }
                Err(error) => error,
            };
            way_out.take().await;
            let pause = self.retry_from_the_start(error, retries, began);
            let Some(pause) = pause else {
                return Err(error.into());
            };
            retries += 1;
            self.curator.env().sleep(pause).await;
        }
    }

    /// Step 7.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        Ok(self.curator.delete_guaranteed(&held.place).await?)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.curator.error(self.manner.policy).await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}

impl InterProcessMutex {
    /// Step 3: how long to wait before a new node is made; `None` if none is.
    fn retry_from_the_start(
        &self,
        error: ZkError,
        retries: u32,
        began: Duration,
    ) -> Option<Duration> {
        if error != ZkError::NoNode {
            return None;
        }
        let env = self.curator.env();
        let elapsed = env.monotonic().saturating_sub(began);
        self.curator.retry_policy().pause(retries, elapsed, env)
    }
}

/// What nodes are sorted by.
fn sort_key(name: &str) -> &str {
    name.rsplit("lock-").next().unwrap_or_default()
}

/// Step 6. Dropped while it is needed, for nobody waits any more, it deletes our node in the background.
struct WayOut {
    curator: Curator,
    path: Path,
    needed: bool,
}

impl WayOut {
    fn new(curator: &Curator, path: &Path) -> Self {
        Self {
            curator: curator.clone(),
            path: Rc::clone(path),
            needed: true,
        }
    }

    /// The lock is held, and `release` will see to the node.
    fn not_needed(mut self) {
        self.needed = false;
    }

    /// Who asked for the lock hears that it was in vain when the node is gone, or when it goes on in the background.
    async fn take(mut self) {
        // What is wrong with it is nothing to who asked: the first error is told.
        let _quietly = self.curator.delete_guaranteed(&self.path).await;
        self.needed = false;
    }
}

impl Drop for WayOut {
    fn drop(&mut self) {
        if self.needed {
            self.curator.delete_in_background(&self.path);
        }
    }
}
