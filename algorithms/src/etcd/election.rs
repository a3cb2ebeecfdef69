//! etcd's own election: a queue of keys, each in a session, whose oldest leads.
//!
//! # Source
//!
//! etcd, `client/v3/concurrency/election.go` (3.6), with the look at one's own key of pull request 22387.
//!
//! # Steps
//!
//! 1. A session: a lease of `ttl` seconds that the client keeps alive.
//! 2. Campaign: one transaction. If `name/lease` does not exist, put the candidate's value there with the lease; else
//!    read it.
//! 3. Our key was there with another value: change it in a transaction that looks for its revision of creation. If it
//!    is not that any more, fail.
//! 4. Wait for all older keys to be deleted, as steps 4 and 5 of [`super::mutex`].
//! 5. Read our own key: if it is gone, so is the session. Otherwise the term begins.
//! 6. Resign: delete our key in a transaction that looks for its revision of creation.
//!
//! # Guarantees
//!
//! - Of all sessions that live, the one with the oldest key leads, in the order of keys.
//! - The revision at which the key was made is a token. That of its last change is none: step 3 raises it.
//!
//! # Hazards
//!
//! - As of [`super::mutex`]: a leader that stands still leads on (scenario `etcd/holder-pause`).
//! - A resignation that was given up may arrive behind the next campaign of its session, which has found the key that
//!   it deletes (scenario `etcd/cancelled-resignation`, issue 11777).
//! - An error in step 4 leaves the key in the queue (issue 21128): the next campaign of the session finds it.
//! - In every release until now step 5 was not there (`election_3_6`).

use async_trait::async_trait;

use super::mutex::{self, Deviation, wait_deletes};
use super::{EtcdLock, OLDEST_KEY_LEADS, OverEtcd, seen, session_of};
use crate::clients::etcd::concurrency::{Session, key_of};
use crate::clients::etcd::{
    Bytes, Client, Compare, DeleteRangeRequest, EtcdResult, KeyRange, LeaseId, PutRequest,
    RangeRequest, RequestOp, Revision, TxnRequest, TxnResponse,
};
use crate::clients::{Env, RequestKind};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-election",
    summary: "etcd's election: a queue of keys with leases, whose oldest leads.",
    source: "etcd, client/v3/concurrency/election.go; pull request 22387",
    ownership: OLDEST_KEY_LEADS,
    requests: REQUESTS,
    build: Build::Other(&OverEtcd(&|client, env, lock| {
        Box::new(Election::new(client, env, lock, true))
    })),
    ..mutex::RECIPE
};

/// The requests of an election in a session.
const REQUESTS: &[RequestKind] = &[
    RequestKind::Range,
    RequestKind::Txn,
    RequestKind::LeaseGrant,
    RequestKind::LeaseKeepAlive,
    RequestKind::WatchCreate,
];

/// The election of a client.
pub(super) struct Election {
    client: Client,
    env: Env,
    lock: EtcdLock,
    session: Option<Session>,
    /// Whether there is a step 5.
    checks_own_key: bool,
}

/// What a transaction does to the key that was made at this revision.
async fn if_created_at(
    client: &Client,
    key: &[u8],
    revision: Revision,
    operation: RequestOp,
) -> EtcdResult<TxnResponse> {
    let request = TxnRequest {
        compare: vec![Compare::created_at(key, revision)],
        success: vec![operation],
        failure: Vec::new(),
    };
    Ok(client.txn(request).await?.response)
}

impl Election {
    pub(super) fn new(client: Client, env: Env, lock: EtcdLock, checks_own_key: bool) -> Self {
        Self {
            client,
            env,
            lock,
            session: None,
            checks_own_key,
        }
    }

    /// Steps 2 and 3. Answers the revision at which the key was made.
    async fn volunteer(&self, key: &Bytes, lease: LeaseId) -> Result<Revision, LockError> {
        let value = Bytes::from(self.env.guid().as_bytes());
        let put = RequestOp::Put(PutRequest {
            key: Bytes::clone(key),
            value: Bytes::clone(&value),
            lease,
            ..PutRequest::default()
        });
        let request = TxnRequest {
            compare: vec![Compare::created_at(key, 0)],
            success: vec![put.clone()],
            failure: vec![RequestOp::Range(RangeRequest::get(key))],
        };
        let answered = self.client.txn(request).await.map_err(seen)?;
        let Some(own) = answered.response.kvs(0).first() else {
            return Ok(answered.header.revision);
        };
        if own.value != value {
            let changed = if_created_at(&self.client, key, own.create_revision, put).await;
            if !changed.map_err(seen)?.succeeded {
                return Err(LockError::Refused);
            }
        }
        Ok(own.create_revision)
    }
}

#[async_trait(?Send)]
impl Lock for Election {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        // Step 1.
        let session = session_of(&self.client, self.lock.ttl, &mut self.session).await?;
        let lease = session.lease();
        let prefix = self.lock.prefix();
        let key = key_of(&prefix, lease);
        let revision = self.volunteer(&key, lease).await?;
        let turn = wait_deletes(&self.client, &prefix, revision, Deviation::None);
        turn.await.map_err(seen)?; // Step 4.
        if self.checks_own_key && self.client.get(&key).await.map_err(seen)?.is_none() {
            return Err(LockError::SessionExpired); // Step 5.
        }
        let key = String::from_utf8_lossy(&key);
        Ok(Held::at(key.into()).with_token(revision.unsigned_abs()))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let key = held.path_or_key.as_bytes();
        let revision = held.token.unwrap_or_default().cast_signed();
        let deletion = RequestOp::DeleteRange(DeleteRangeRequest {
            keys: KeyRange::one(key),
            prev_kv: false,
        });
        let resigned = if_created_at(&self.client, key, revision, deletion).await; // Step 6.
        resigned.map(drop).map_err(seen)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.session {
            Some(session) => session.done().await,
            None => std::future::pending().await,
        }
        LockError::SessionExpired
    }
}
