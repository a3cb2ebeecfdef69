//! The lock service of etcd: a member runs the mutex for its caller.
//!
//! # Source
//!
//! etcd, `server/etcdserver/api/v3lock/lock.go`; as jetcd, the Rust client and the gateway call it.
//!
//! # Steps
//!
//! 1. A lease of `ttl` seconds that the client keeps alive: the service does not.
//! 2. `Lock(name, lease)`: the member makes the key of the lease, waits for those before it, and answers its name.
//! 3. `Unlock(key)`: the member deletes the key.
//!
//! # Guarantees
//!
//! - Those of the mutex that the member runs ([`super::mutex`] from 3.5 on, [`mutex_3_4`](super::mutex_3_4)
//!   before).
//!
//! # Hazards
//!
//! - A caller that does not renew its lease loses the lock in the middle of its section (`v3lock_unrenewed`).
//! - The answer of a call that waits without a limit may come when the lease is over (scenario
//!   `etcd/late-lock-answer`).
//! - `Unlock` deletes by name, without proof that the caller owns the key.
//! - The answer says no revision of the key: there is no token but the lease.
//! - A caller whose answer is lost queues up again, with another lease: not `fifo`.

use async_trait::async_trait;

use super::{EtcdLock, OLDEST_KEY, OverEtcd, seen};
use crate::clients::RequestKind;
use crate::clients::etcd::{Client, KeepAlive, LeaseId};
use crate::{Build, Claim, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-v3lock",
    summary: "The lock service of etcd: a member runs the mutex for its caller, who renews the lease.",
    source: "etcd 3.5, server/etcdserver/api/v3lock/lock.go",
    flaw: None,
    claims: CLAIMS,
    ownership: OLDEST_KEY,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(V3Lock::new(client, lock, true))
    })),
};

/// The requests that it makes.
const REQUESTS: &[RequestKind] = &[
    RequestKind::Lock,
    RequestKind::Unlock,
    RequestKind::LeaseGrant,
    RequestKind::LeaseKeepAlive,
];

/// What a queue promises that has no token; a caller whose answer is lost queues up again.
const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

/// A caller of the service.
pub(super) struct V3Lock {
    client: Client,
    lock: EtcdLock,
    lease: Option<(LeaseId, Option<KeepAlive>)>,
    renews: bool,
}

impl V3Lock {
    pub(super) fn new(client: Client, lock: EtcdLock, renews: bool) -> Self {
        Self {
            client,
            lock,
            lease: None,
            renews,
        }
    }
}

#[async_trait(?Send)]
impl Lock for V3Lock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.lease = None;
        let (lease, _) = self.client.grant(self.lock.ttl).await.map_err(seen)?; // Step 1.
        let kept = self.renews.then(|| self.client.keep_alive(lease));
        self.lease = Some((lease, kept));
        let name = self.lock.name.as_bytes();
        let key = self.client.lock(name, lease).await.map_err(seen)?; // Step 2.
        let key = String::from_utf8_lossy(&key.response).into_owned();
        Ok(Held::at(key.into()))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let key = held.path_or_key.as_bytes();
        self.client.unlock(key).await.map_err(seen) // Step 3.
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.lease {
            Some((_, Some(kept))) => kept.ended().await,
            Some((_, None)) | None => std::future::pending().await,
        }
        LockError::SessionExpired
    }
}
