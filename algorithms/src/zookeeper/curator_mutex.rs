//! Curator's `InterProcessMutex`, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! Apache Curator 5.4: `InterProcessMutex`, `LockInternals`, `StandardLockInternalsDriver`. That a holder must listen
//! is in Curator's documentation of *Shared Reentrant Lock* and in Tech Note 10.
//!
//! # Steps
//!
//! 0. If we hold the lock already, count one more entry, and ask nobody.
//! 1. Create `lock/_c_GUID-lock-` as an ephemeral sequential node, protected: repeated by the retry policy, in a new
//!    session too, and looked for by its guid before it is made again (`clients::curator`).
//! 2. List the children, and sort them by what comes after the last `lock-`, as text.
//! 3. If our node is not among them, go to 1, for as long as the retry policy allows.
//! 4. If it is the first, we hold the lock.
//! 5. Otherwise watch the data of the one ahead of it; on any event, or if it is gone, go to 2. If we wait for a time,
//!    and it is over by the wall clock, delete our node; that was in vain.
//! 6. If any of that fails, delete our node, however long that takes.
//! 7. To release, count one entry less; with the last, delete our node, however long that takes.
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
//!   gone: another entry is granted though there is no node any more. Here each contender is one thread.
//! - The listener is called on account of an event. While a callback blocks the event thread, it is not called, and the
//!   section goes on (Tech Note 1, scenario `zookeeper/blocked-event-thread`).
//! - A node is trusted whoever's it is. When the connection has been lost for all of the session timeout, the framework
//!   goes on in a new session, and so does a call that waits; the servers may keep the old session for longer, with its
//!   node, and nobody tells whoever enters on it that it ends (CURATOR-604, scenarios
//!   `zookeeper/curator-outlived-session` and `zookeeper/curator-unheard-session`; `curator-mutex-owner-check` asks).
//! - The time that a timed acquire waits is looked at only between a look at the queue and the next wait. A call that
//!   is repeated for long, or not answered, takes longer.

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::curator::{Curator, ErrorPolicy, Settings};
use crate::clients::zookeeper::{Path, ZkError, ZkResult, ZooKeeper};
use crate::{Build, Claim, Env, Held, Lock, LockError, OwnershipRule, Recipe, Sense, timeout};

/// The requests that it makes.
pub(super) const ASKS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::GetData,
    RequestKind::GetChildren,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex",
    summary: "Curator's InterProcessMutex: protected create, predecessor watch, guaranteed delete, and a listener.",
    source: "Apache Curator 5.4, InterProcessMutex; Tech Note 10",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::LowestChild,
    asks: ASKS,
    heeds: &[Sense::WallClock],
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(InterProcessMutex::new(zk, env, lock, Manner::AS_IT_IS))
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
    /// Whether who has waited for long enough deletes its node.
    pub(super) cleans_up: bool,
    /// Whether who is first asks if its node is of the present session.
    pub(super) asks_whose: bool,
}

impl Manner {
    /// That of Curator.
    pub(super) const AS_IT_IS: Self = Self {
        protected: true,
        policy: ErrorPolicy::Standard,
        cleans_up: true,
        asks_whose: false,
    };
}

/// The lock.
pub struct InterProcessMutex {
    curator: Curator,
    lock: Path,
    manner: Manner,
    /// What we hold, and how often we have entered it.
    held: Option<(Held, u32)>,
}

/// For how long to wait, by the wall clock.
struct Patience {
    left: Duration,
    since: Duration,
}

impl Patience {
    /// What is left of it now; nothing if it is over. A clock that is put back makes it longer.
    fn left(&mut self, env: &Env) -> Option<Duration> {
        let now = env.wall();
        let put_back = self.since.saturating_sub(now);
        let passed = now.saturating_sub(self.since);
        self.since = now;
        self.left = (self.left + put_back).saturating_sub(passed);
        Some(self.left).filter(|left| !left.is_zero())
    }
}

impl InterProcessMutex {
    pub(super) fn new(zk: ZooKeeper, env: Env, lock: Path, manner: Manner) -> Self {
        Self::of(zk, env, lock, manner, Settings::default())
    }

    /// A lock over a framework that is set otherwise, and told to stop when its session is lost.
    pub fn with_settings(zk: ZooKeeper, env: Env, lock: Path, settings: Settings) -> Self {
        let manner = Manner {
            policy: ErrorPolicy::Session,
            ..Manner::AS_IT_IS
        };
        Self::of(zk, env, lock, manner, settings)
    }

    fn of(zk: ZooKeeper, env: Env, lock: Path, manner: Manner, settings: Settings) -> Self {
        Self {
            curator: Curator::new(zk, env, settings),
            lock,
            manner,
            held: None,
        }
    }

    async fn make_node(&self) -> ZkResult<Path> {
        if self.manner.protected {
            self.curator.create_protected(&self.lock, "lock-").await
        } else {
            self.curator.create_unprotected(&self.lock, "lock-").await
        }
    }

    /// Steps 2 to 5. Whether it has come before the time was over.
    async fn wait_for_turn(&self, ours: &Path, patience: &mut Option<Patience>) -> ZkResult<bool> {
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
                return self.is_of_this_session(ours).await;
            };
            let ahead = child(&self.lock, names[ahead]);
            let watched = self
                .curator
                .retry(async |zk| zk.data_and_watch(&ahead).await)
                .await;
            let changed = match watched {
                Ok((_, _, changed)) => changed,
                Err(ZkError::NoNode) => continue,
                Err(error) => return Err(error),
            };
            let told = async {
                changed.next().await;
            };
            match patience {
                None => told.await,
                Some(patience) => match patience.left(self.curator.env()) {
                    Some(left) => {
                        timeout(self.curator.env(), left, told).await;
                    }
                    None => return Ok(false),
                },
            }
        }
    }

    /// Step 4. A node of another session is about to go, and as good as gone.
    async fn is_of_this_session(&self, ours: &Path) -> ZkResult<bool> {
        if !self.manner.asks_whose {
            return Ok(true);
        }
        let whose = async |zk: &ZooKeeper| {
            let (_, stat) = zk.data(ours).await?;
            Ok(stat.ephemeral_owner == zk.session())
        };
        let is_ours = self.curator.retry(whose).await?;
        is_ours.then_some(true).ok_or(ZkError::NoNode)
    }

    /// Steps 0 to 6.
    async fn enter(&mut self, patience: Option<Duration>) -> Result<Held, LockError> {
        if let Some((held, entries)) = &mut self.held {
            *entries += 1;
            return Ok(held.clone());
        }
        let held = self.attempt(patience).await?;
        self.held = Some((held.clone(), 1));
        Ok(held)
    }

    async fn attempt(&self, patience: Option<Duration>) -> Result<Held, LockError> {
        let env = self.curator.env();
        let mut patience = patience.map(|left| Patience {
            left,
            since: env.wall(),
        });
        let began = env.monotonic();
        let mut retries = 0;
        loop {
            let path = self.make_node().await?; // Step 1.
            let way_out = WayOut::new(&self.curator, &path);
            let error = match self.wait_for_turn(&path, &mut patience).await {
                Ok(true) => {
                    way_out.not_needed();
                    return Ok(Held::at(path));
                }
                Ok(false) => {
                    way_out.not_needed();
                    if self.manner.cleans_up {
                        self.curator.delete_guaranteed(&path).await?;
                    }
                    return Err(LockError::NotInTime);
                }
                Err(error) => error,
            };
            way_out.take().await;
            let pause = self.retry_from_the_start(error, retries, began);
            let Some(pause) = pause else {
                return Err(error.into());
            };
            retries += 1;
            env.pause(pause).await;
        }
    }
}

#[async_trait(?Send)]
impl Lock for InterProcessMutex {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.enter(None).await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, patience: Duration) -> Result<Held, LockError> {
        self.enter(Some(patience)).await
    }

    /// Step 7. Whatever comes of it, we hold the lock no longer.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        match self.held.take() {
            None => Err(LockError::NotHeld),
            Some((held, entries)) if entries > 1 => {
                self.held = Some((held, entries - 1));
                Ok(())
            }
            Some((held, _)) => Ok(self.curator.delete_guaranteed(&held.place).await?),
        }
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
