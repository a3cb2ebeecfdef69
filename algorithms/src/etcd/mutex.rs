//! etcd's own mutex: a queue of keys, each in a session, in which each waits for those before it.
//!
//! # Source
//!
//! etcd, `client/v3/concurrency`: `session.go`, `mutex.go` (3.5).
//!
//! # Steps
//!
//! 1. A session: a lease of `ttl` seconds that the client keeps alive.
//! 2. One transaction: if `name/lease` does not exist, put it with the lease; else read it. Read the oldest key below
//!    `name/` in the same transaction.
//! 3. The oldest key is ours: we hold the lock.
//! 4. Otherwise read the newest key that is older than ours. If there is none, go to 6.
//! 5. Watch that key from the revision of the read until it is deleted, and go to 4.
//! 6. Read our own key: if it is gone, so is the session. Otherwise we hold the lock.
//! 7. An error in 4 or 5: delete our key, and return the error.
//! 8. Unlock: delete our key, by name.
//!
//! # Guarantees
//!
//! - Of all sessions that live, the one with the oldest key holds the lock (`exclusive-ownership`), in the order of
//!   keys (`fifo`).
//! - A departure wakes one waiter.
//! - The revision at which the key was made is a token: it rises with each owner.
//!
//! # Hazards
//!
//! - The lease counts on the leader's clock, and ends while its holder stands still: the holder believes on
//!   (scenario `etcd/holder-pause`). A write has to bring the token along.
//! - `Mutex` does not look at `Session.Done`. A caller that does hears of the end up to a second late.
//! - A client without an answer to step 2 returns an error and leaves its key in the queue for as long as its session
//!   lives (scenario `etcd/lost-txn-reply`).
//! - An unlock that was given up may arrive behind the next lock of its session, whose key has the same name (scenario
//!   `etcd/cancelled-release`).
//! - A holder whose key is deleted is not told: its session lives (scenario `etcd/deleted-key`).
//! - Before 3.5 step 6 was not there (`mutex_3_4`).

use async_trait::async_trait;

use super::{EtcdLock, OLDEST_KEY, OverEtcd, REQUESTS, seen, session_of};
use crate::clients::etcd::concurrency::{Session, key_of};
use crate::clients::etcd::{
    Bytes, Client, Compare, EtcdResult, EventType, KeyRange, LeaseId, PutRequest, RangeRequest,
    RequestOp, Revision, TxnRequest, WatchCreateRequest,
};
use crate::{Build, Claim, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-mutex",
    summary: "A queue of keys with leases in which each waits for the one ahead of it.",
    source: "etcd 3.5, client/v3/concurrency/mutex.go",
    flaw: None,
    claims: CLAIMS,
    ownership: OLDEST_KEY,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(Mutex::new(client, lock, Deviation::None))
    })),
};

/// What a fair queue promises.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Fifo,
    Claim::HonestAnswer,
];

/// What a sibling does otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Deviation {
    None,
    /// Without step 6, as before 3.5.
    SkipsOwnKey,
    /// It goes from step 5 to step 6.
    TakesAnyEvent,
    /// In step 5 it watches all keys of the lock.
    WatchesPrefix,
}

/// The mutex of a client, and how its siblings differ.
pub(super) struct Mutex {
    client: Client,
    lock: EtcdLock,
    session: Option<Session>,
    deviation: Deviation,
}

/// The place of a session in the queue.
pub(super) struct Ticket {
    pub(super) key: Bytes,
    /// The revision at which the key was made.
    pub(super) my_rev: Revision,
    /// Whether no key is older.
    pub(super) is_oldest: bool,
}

impl Mutex {
    pub(super) fn new(client: Client, lock: EtcdLock, deviation: Deviation) -> Self {
        Self {
            client,
            lock,
            session: None,
            deviation,
        }
    }

    /// Steps 4 to 6.
    async fn wait(&self, ticket: &Ticket) -> Result<(), LockError> {
        let prefix = self.lock.prefix();
        let turn = wait_deletes(&self.client, &prefix, ticket.my_rev, self.deviation);
        if let Err(error) = turn.await {
            // Step 7. What cannot be deleted goes with the lease.
            let _ = self.client.delete(&ticket.key).await;
            return Err(seen(error));
        }
        if self.deviation != Deviation::SkipsOwnKey
            && self.client.get(&ticket.key).await.map_err(seen)?.is_none()
        {
            return Err(LockError::SessionExpired); // Step 6.
        }
        Ok(())
    }
}

/// Step 2.
pub(super) async fn make_key(client: &Client, prefix: &[u8], lease: LeaseId) -> EtcdResult<Ticket> {
    let key = key_of(prefix, lease);
    let oldest = RequestOp::Range(RangeRequest::first_create(prefix));
    let put = RequestOp::Put(PutRequest {
        key: Bytes::clone(&key),
        lease,
        ..PutRequest::default()
    });
    let own = RequestOp::Range(RangeRequest::get(&key));
    let answered = client
        .txn(TxnRequest {
            compare: vec![Compare::created_at(&key, 0)],
            success: vec![put, oldest.clone()],
            failure: vec![own, oldest],
        })
        .await?;
    let found = answered.response.kvs(0).first();
    let my_rev = found.map_or(answered.header.revision, |own| own.create_revision);
    let oldest = answered.response.kvs(1).first();
    Ok(Ticket {
        is_oldest: oldest.is_none_or(|oldest| oldest.create_revision == my_rev),
        key,
        my_rev,
    })
}

/// Steps 4 and 5.
pub(super) async fn wait_deletes(
    client: &Client,
    prefix: &[u8],
    my_rev: Revision,
    deviation: Deviation,
) -> EtcdResult<()> {
    loop {
        let ahead = RangeRequest::last_create(prefix, my_rev - 1);
        let answered = client.range(ahead).await?; // Step 4.
        let Some(ahead) = answered.response.kvs.first() else {
            return Ok(());
        };
        let keys = match deviation {
            Deviation::WatchesPrefix => KeyRange::prefix(prefix),
            Deviation::None | Deviation::SkipsOwnKey | Deviation::TakesAnyEvent => {
                KeyRange::one(&ahead.key)
            }
        };
        let watch = client.watch(WatchCreateRequest {
            keys,
            start_revision: answered.header.revision + 1,
            ..WatchCreateRequest::default()
        });
        while watch.next().await?.kind != EventType::Delete {} // Step 5.
        if deviation == Deviation::TakesAnyEvent {
            return Ok(());
        }
    }
}

#[async_trait(?Send)]
impl Lock for Mutex {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        // Step 1.
        let session = session_of(&self.client, self.lock.ttl, &mut self.session).await?;
        let prefix = self.lock.prefix();
        let ticket = make_key(&self.client, &prefix, session.lease()).await;
        let ticket = ticket.map_err(seen)?;
        if !ticket.is_oldest {
            self.wait(&ticket).await?;
        }
        let key = String::from_utf8_lossy(&ticket.key);
        Ok(Held::at(key.into()).with_token(ticket.my_rev.unsigned_abs()))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let deleted = self.client.delete(held.path_or_key.as_bytes()).await; // Step 8.
        deleted.map(drop).map_err(seen)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.session {
            Some(session) => session.done().await,
            None => std::future::pending().await,
        }
        LockError::SessionExpired
    }
}
