//! The election service of etcd: a member campaigns for its caller.
//!
//! # Source
//!
//! etcd, `server/etcdserver/api/v3election/election.go`.
//!
//! # Steps
//!
//! 1. A lease of `ttl` seconds that the client keeps alive: the service does not.
//! 2. `Campaign(name, lease, value)`: the member makes the key of the lease, waits for those before it, and answers the
//!    key and the revision at which it was made.
//! 3. `Resign(leader)`: the member deletes the key, if it was made at that revision.
//!
//! # Guarantees
//!
//! - Those of the election that the member runs ([`election_3_6`](super::election_3_6)).
//!
//! # Hazards
//!
//! - A candidate whose lease has ended is elected when the key ahead is deleted, in every release (scenario
//!   `etcd/dead-candidate`).
//! - As of [`super::v3lock`]: an answer that comes late may be about a lease that is over.

use async_trait::async_trait;

use super::{EtcdLock, OLDEST_KEY_LEADS, OverEtcd, seen, v3lock};
use crate::clients::RequestKind;
use crate::clients::etcd::{Client, KeepAlive, LeaderKey};
use crate::{Build, Claim, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-v3election",
    summary: "The election service of etcd: a member campaigns for its caller, who renews the lease.",
    source: "etcd 3.6, server/etcdserver/api/v3election/election.go; pull request 22387",
    flaw: Some("a candidate whose lease has ended is elected"),
    claims: CLAIMS,
    ownership: OLDEST_KEY_LEADS,
    requests: REQUESTS,
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(V3Election {
            client,
            lock,
            leader: None,
        })
    })),
    ..v3lock::RECIPE
};

/// The requests that it makes.
const REQUESTS: &[RequestKind] = &[
    RequestKind::Campaign,
    RequestKind::Resign,
    RequestKind::LeaseGrant,
    RequestKind::LeaseKeepAlive,
];

/// Those of the lock service, and a token: the revision at which the key was made.
const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

/// A caller of the service.
struct V3Election {
    client: Client,
    lock: EtcdLock,
    leader: Option<(LeaderKey, KeepAlive)>,
}

#[async_trait(?Send)]
impl Lock for V3Election {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.leader = None;
        let (lease, _) = self.client.grant(self.lock.ttl).await.map_err(seen)?; // Step 1.
        let kept = self.client.keep_alive(lease);
        let name = self.lock.name.as_bytes();
        let leader = self.client.campaign(name, lease, b"candidate").await; // Step 2.
        let leader = leader.map_err(seen)?;
        let key = String::from_utf8_lossy(&leader.key).into_owned();
        let token = leader.rev.unsigned_abs();
        self.leader = Some((leader, kept));
        Ok(Held::at(key.into()).with_token(token))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let Some((leader, _)) = &self.leader else {
            return Err(LockError::NotHeld);
        };
        let resigned = self.client.resign(leader.clone()).await; // Step 3.
        resigned.map_err(seen)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.leader {
            Some((_, kept)) => kept.ended().await,
            None => std::future::pending().await,
        }
        LockError::SessionExpired
    }
}
