//! The `Lock` of go-zookeeper/zk, as it is published.
//!
//! # Source
//!
//! go-zookeeper/zk 1.0, `lock.go`: `LockWithData`, `parseSeq`, `Unlock`; it comes from samuel/go-zookeeper. The calls
//! that it makes are those of `Conn` (`clients::go_zookeeper`).
//!
//! # Steps
//!
//! Functions have Go's names.
//! 1. If `lockPath` is set, the answer is `ErrDeadlock`.
//! 2. Create `lock/_c_GUID-lock-` as an ephemeral sequential node, by `CreateProtectedEphemeralSequential`. If its
//!    parent is not there, make what is missing above it, and try again, three times in all.
//! 3. List the children. If the number at the end of our node is the lowest of all, set `lockPath`: we hold the lock.
//! 4. Otherwise watch the data of the node with the next lower number. When the watch gets an event, or if the node is
//!    gone, go to 3.
//! 5. If any call fails, or the watch is told that its session has expired, the answer is that error.
//! 6. `Unlock`: without a `lockPath` the answer is `ErrNotLocked`. Delete the node; if that was done, unset `lockPath`.
//!
//! # Guarantees
//!
//! - As for the predecessor watch, without a token, for as long as the session lives and every call succeeds.
//!
//! # Hazards
//!
//! - The `Conn` renews its session by itself, and the lock is never told. `lockPath` is that of a node that went with
//!   the old session, and the holder goes on beside the next one. Its `Unlock` fails then for ever (`ErrNoNode`), and
//!   so does its next `Lock` (`ErrDeadlock`): scenario `zookeeper/go-session-renewed`. `go_zookeeper_lock_events`
//!   listens.
//! - A `Lock` that fails after the create leaves its node behind. The session lives on, and others wait for that node
//!   (samuel/go-zookeeper issue 229, and pull request 237, which looks for it): scenario `zookeeper/go-failed-acquire`.
//! - An `Unlock` that fails leaves the node, and `lockPath` with it: the next `Lock` is `ErrDeadlock`, until `Unlock`
//!   is called again.
//! - Step 3 does not ask whether our node is in the list. If another client has deleted it, we enter without a node
//!   when none is ahead of ours (scenario `zookeeper/own-node-deleted`).
//! - The look-up by guid is not ordered behind the create, and takes a node of an older session (CURATOR-264,
//!   CURATOR-498).

use std::future::pending;

use async_trait::async_trait;

use super::queue::child;
use crate::clients::RequestKind;
use crate::clients::go_zookeeper::Conn;
use crate::clients::zookeeper::{CreateMode, Data, Path, ZkError, ZkResult};
use crate::{Build, Claim, Held, Lock, LockError, OwnershipRule, Recipe};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::Delete,
    RequestKind::GetData,
    RequestKind::GetChildren,
];

/// What it promises.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Fifo,
    Claim::HonestAnswer,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "go-zookeeper-lock",
    summary: "go-zookeeper's Lock, held until it is unlocked, whatever becomes of its session.",
    source: "go-zookeeper/zk 1.0, lock.go",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::LOWEST_CHILD,
    requests: REQUESTS,
    inputs: &[crate::RecipeInput::LockNode],
    cancellable: false,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, path| {
        Box::new(AsPublished(GoLock::new(Conn::of_process(zk, &env), path)))
    }),
};

/// Go's `Lock`.
pub(super) struct GoLock {
    conn: Conn,
    path: Path,
    lock_path: Option<Path>,
}

impl GoLock {
    /// `NewLock`.
    pub(super) fn new(conn: Conn, path: Path) -> Self {
        Self {
            conn,
            path,
            lock_path: None,
        }
    }

    /// `LockWithData`: steps 1 to 5.
    pub(super) async fn lock_with_data(&mut self, data: Data) -> Result<Path, LockError> {
        if self.lock_path.is_some() {
            return Err(LockError::AlreadyHeld);
        }
        let our_path = self.create(&data).await?;
        let seq = parse_seq(&our_path)?;
        while let Some(previous) = self.previous(seq).await? {
            match self.conn.get_w(&previous).await {
                Ok(channel) => channel.event().await?,
                Err(ZkError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Path::clone(self.lock_path.insert(our_path)))
    }

    /// Step 2.
    async fn create(&self, data: &Data) -> ZkResult<Path> {
        let create = || {
            self.conn
                .create_protected_ephemeral_sequential(&self.path, "lock-", data)
        };
        for _ in 0..2 {
            match create().await {
                Err(ZkError::NoNode) => self.create_parents().await?,
                answer => return answer,
            }
        }
        create().await
    }

    async fn create_parents(&self) -> ZkResult<()> {
        let ends = self.path.match_indices('/').map(|(end, _)| end).skip(1);
        for end in ends.chain([self.path.len()]) {
            let parent = Path::from(&self.path[..end]);
            if self.conn.exists(&parent).await? {
                continue;
            }
            let nothing = Data::empty();
            let made = self.conn.create(&parent, &nothing, CreateMode::Persistent);
            match made.await {
                // It may be another's.
                Ok(_) | Err(ZkError::NodeExists) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Step 3: the node with the next lower number; `None` if ours is the lowest.
    async fn previous(&self, seq: i64) -> ZkResult<Option<Path>> {
        let children = self.conn.children(&self.path).await?;
        let mut previous = None;
        for name in children.names() {
            let other = parse_seq(name)?;
            if other < seq && previous.is_none_or(|(highest, _)| other > highest) {
                previous = Some((other, name));
            }
        }
        Ok(previous.map(|(_, name)| child(&self.path, name)))
    }

    /// `Unlock`: step 6.
    pub(super) async fn unlock(&mut self) -> Result<(), LockError> {
        let lock_path = self.lock_path.as_ref().ok_or(LockError::NotHeld)?;
        self.conn.delete(lock_path).await?;
        self.lock_path = None;
        Ok(())
    }
}

/// What stands behind the last `lock-` of a name, as a number.
fn parse_seq(path: &str) -> ZkResult<i64> {
    let number = path.rsplit("lock-").next().unwrap_or_default();
    number.parse().map_err(|_| ZkError::BadArguments)
}

struct AsPublished(GoLock);

#[async_trait(?Send)]
impl Lock for AsPublished {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        Ok(Held::at(self.0.lock_with_data(Data::empty()).await?))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.0.unlock().await
    }

    /// The `Lock` is never told.
    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
