//! A persistent node whose data names the holder, written only if nothing has changed since it was read.
//!
//! # Source
//!
//! Tutorials that keep a flag in a znode ("option 1: the data of the node"), as they mean it: the text says to check
//! that the lock is free, and to change it *if it can be changed*. `setData` with a version is that.
//!
//! # Steps
//!
//! 1. Read the data of `lock/flag`, and watch it. If there is no such node, make it, empty.
//! 2. If it is not empty, wait until it changes, and go to 1.
//! 3. Write a name of this attempt, of the version that was read. If that was done, we hold the lock.
//! 4. If the version was another, another client was quicker; if the answer was lost, we do not know. Go to 1: if the
//!    name that stands there is ours, we hold the lock.
//! 5. To release, write nothing, of the version that we have written.
//!
//! # Guarantees
//!
//! - Of all clients that read the same version one writes (`mutual-exclusion`), and a release overwrites its own name
//!   (`own-release-only`).
//!
//! # Hazards
//!
//! - The data has no session: the name of a dead holder stays for ever (scenario `zookeeper/persistent-nodes`).
//! - Each release wakes every waiter, and each of them writes: a herd, as with `same_name`.
//! - Without a name there, a client whose answer is lost waits for itself (`conditional_set_anonymous`, scenario
//!   `zookeeper/lost-set-data-reply`); without the version, two write (`read_then_write`).

use async_trait::async_trait;

use super::queue::{child, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{
    CreateMode, Path, Stat, Version, ZkError, ZooKeeper, until_answered,
};
use crate::{Build, Claim, Env, Held, Lock, LockError, OwnershipRule, Recipe};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Create,
    RequestKind::GetData,
    RequestKind::SetData,
];

/// What it promises: no order.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-conditional-set",
    summary: "A node whose data names the holder, written only if it is of the version that was read.",
    source: "Tutorials that keep a flag in a znode, as they mean it: setData with a version",
    flaw: Some("the name of the dead stays for ever"),
    claims: CLAIMS,
    ownership: OwnershipRule::DATA,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, lock| {
        let names = Names::OfAttempts(env);
        Box::new(ConditionalSet::new(zk, &lock, names))
    }),
};

/// What is written when the lock is taken.
pub(super) enum Names {
    /// A name of each attempt.
    OfAttempts(Env),
    /// The same word for all clients.
    Same(&'static str),
}

/// The lock.
pub(super) struct ConditionalSet {
    zk: ZooKeeper,
    node: Path,
    names: Names,
    /// The version that we have written.
    version: Option<Version>,
}

impl ConditionalSet {
    pub(super) fn new(zk: ZooKeeper, lock: &str, names: Names) -> Self {
        Self {
            zk,
            node: child(lock, "flag"),
            names,
            version: None,
        }
    }

    fn held(&mut self, stat: &Stat) -> Held {
        self.version = Some(stat.version);
        Held::at(Path::clone(&self.node)).with_token(stat.mzxid.0)
    }

    /// Steps 1 and 2: waits until the flag is ours or free, and answers which, with the node's stat.
    async fn ours_or_free(&self, name: Option<&str>) -> Result<(bool, Stat), LockError> {
        let Self { zk, node, .. } = self;
        loop {
            match until_answered(|| zk.data_and_watch(node)).await {
                Ok((data, stat, _)) if data.is_empty() => return Ok((false, stat)),
                Ok((data, stat, _)) if name.is_some_and(|name| *data == *name.as_bytes()) => {
                    return Ok((true, stat));
                }
                Ok((_, _, changed)) => {
                    changed.next().await;
                }
                Err(ZkError::NoNode) => match zk.create(node, b"", CreateMode::Persistent).await {
                    Ok(_)
                    | Err(
                        ZkError::NodeExists
                        | ZkError::ConnectionLoss
                        | ZkError::NoServer
                        | ZkError::RequestTimeout,
                    ) => {}
                    Err(error) => return Err(error.into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for ConditionalSet {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let name = match &self.names {
            Names::OfAttempts(env) => env.guid(),
            Names::Same(name) => (*name).to_owned(),
        };
        let known = matches!(self.names, Names::OfAttempts(_)).then_some(&*name);
        loop {
            let (ours, stat) = self.ours_or_free(known).await?;
            if ours {
                return Ok(self.held(&stat)); // Step 4.
            }
            let version = Some(stat.version);
            match self.zk.set_data(&self.node, name.as_bytes(), version).await {
                Ok(stat) => return Ok(self.held(&stat)), // Step 3.
                Err(
                    ZkError::BadVersion
                    | ZkError::ConnectionLoss
                    | ZkError::NoServer
                    | ZkError::RequestTimeout,
                ) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Step 5. If the version is another, the first of several tries was done.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let version = self.version.take().ok_or(LockError::NotHeld)?;
        let node = &held.path_or_key;
        match until_answered(async || self.zk.set_data(node, b"", Some(version)).await).await {
            Ok(_) | Err(ZkError::BadVersion | ZkError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
