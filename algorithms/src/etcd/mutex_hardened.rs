//! etcd's mutex with every known hole closed that a client can close.
//!
//! # Source
//!
//! etcd, `client/v3/concurrency/mutex.go` (3.5), and what is wrong with it: issues 11456 (a dead waiter is granted),
//! 19597 (a dead waiter waits on), 22082 (a late unlock deletes the next lock).
//!
//! # Steps
//!
//! 1. A session of this attempt's own, so that its key is no other attempt's.
//! 2. Steps 2 to 5 of [`mutex`], but only for as long as the session lives: its end ends the wait.
//! 3. Read our own key: it must have been made at our revision.
//! 4. Whatever ends `acquire` early revokes the lease, in the background if the call was dropped: no key of it stays.
//! 5. While holding, stop believing as soon as the session is done, or our key is deleted.
//! 6. Unlock: revoke the lease, again until there is an answer. A lease is of one attempt: no other lock goes with it.
//!
//! # Guarantees
//!
//! - Those of [`mutex`], and no key outlives the attempt that made it (`no-orphan`).
//!
//! # Hazards
//!
//! - A pause that is longer than the lease still leaves two believers for a while (scenario `etcd/holder-pause`).
//!   Every write has to bring the token along.

use std::cell::Cell;

use async_trait::async_trait;

use super::mutex::{self, Deviation, Ticket, make_key, wait_deletes};
use super::{EtcdLock, OverEtcd, seen};
use crate::clients::etcd::concurrency::Session;
use crate::clients::etcd::{Client, EventType, KeyRange, WatchCreateRequest};
use crate::clients::{RequestKind, select};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd-mutex-hardened",
    summary: "etcd's mutex with a session for each attempt, whose end ends the wait and the hold.",
    source: "etcd 3.5, client/v3/concurrency/mutex.go; issues 11456, 19597, 22082",
    requests: REQUESTS,
    build: Build::Other(&OverEtcd(&|client, env, lock| {
        Box::new(Hardened {
            client,
            env,
            lock,
            session: None,
        })
    })),
    ..mutex::RECIPE
};

/// The requests that it makes.
const REQUESTS: &[RequestKind] = &[
    RequestKind::Range,
    RequestKind::Txn,
    RequestKind::LeaseGrant,
    RequestKind::LeaseRevoke,
    RequestKind::LeaseKeepAlive,
    RequestKind::WatchCreate,
];

struct Hardened {
    client: Client,
    env: Env,
    lock: EtcdLock,
    session: Option<Session>,
}

/// The one exit of an attempt: the lease is revoked, unless the attempt holds the lock.
struct CleanupGuard {
    env: Env,
    session: Session,
    is_needed: Cell<bool>,
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        if self.is_needed.get() {
            let (env, session) = (self.env.clone(), self.session.clone());
            self.env
                .spawn(Box::pin(async move { revoke(&env, &session).await }));
        }
    }
}

/// Revokes the lease of a session, again until there is an answer.
async fn revoke(env: &Env, session: &Session) {
    loop {
        match session.client().revoke(session.lease()).await {
            Ok(()) => return,
            Err(error) if error.is_lease_not_found() => return,
            Err(_) => env.sleep(RETRY).await,
        }
    }
}

/// How long it waits before it asks again.
const RETRY: std::time::Duration = std::time::Duration::from_millis(50);

impl Hardened {
    /// Steps 2 and 3.
    async fn take_turn(&self, session: &Session) -> Result<Ticket, LockError> {
        let prefix = self.lock.prefix();
        let ticket = make_key(&self.client, &prefix, session.lease()).await;
        let ticket = ticket.map_err(seen)?;
        if !ticket.is_oldest {
            let turn = wait_deletes(&self.client, &prefix, ticket.my_rev, Deviation::None);
            turn.await.map_err(seen)?;
            let own = self.client.get(&ticket.key).await.map_err(seen)?;
            if own.is_none_or(|own| own.create_revision != ticket.my_rev) {
                return Err(LockError::SessionExpired);
            }
        }
        Ok(ticket)
    }
}

#[async_trait(?Send)]
impl Lock for Hardened {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let granted = Session::new(&self.client, self.lock.ttl).await;
        let session = granted.map_err(seen)?; // Step 1.
        let exit = CleanupGuard {
            env: self.env.clone(),
            session: session.clone(),
            is_needed: Cell::new(true),
        };
        let ended = async {
            session.done().await;
            Err(LockError::SessionExpired)
        };
        let ticket = select(ended, self.take_turn(&session)).await?;
        exit.is_needed.set(false);
        self.session = Some(session);
        let key = String::from_utf8_lossy(&ticket.key);
        Ok(Held::at(key.into()).with_token(ticket.my_rev.unsigned_abs()))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let Some(session) = self.session.take() else {
            return Err(LockError::NotHeld);
        };
        let exit = CleanupGuard {
            env: self.env.clone(),
            session: session.clone(),
            is_needed: Cell::new(true),
        };
        revoke(&self.env, &session).await; // Step 6.
        exit.is_needed.set(false);
        Ok(())
    }

    async fn lost(&self, held: &Held) -> LockError {
        let Some(session) = &self.session else {
            return std::future::pending().await;
        };
        let gone = async {
            let watch = self.client.watch(WatchCreateRequest {
                keys: KeyRange::one(held.path_or_key.as_bytes()),
                start_revision: held.token.unwrap_or_default().cast_signed() + 1,
                ..WatchCreateRequest::default()
            });
            while let Ok(event) = watch.next().await {
                if event.kind == EventType::Delete {
                    return;
                }
            }
            std::future::pending().await
        };
        select(session.done(), gone).await; // Step 5.
        LockError::SessionExpired
    }
}
