//! `add` with a token of this acquisition, a deadline that allows for the server's clock, and a release by `gets` and
//! `cas`.
//!
//! # Source
//!
//! memcached, `doc/protocol.txt`: `add`, `gets`, `cas`, and exptime; the wiki's ProgrammingTricks ("ghetto central
//! locking"), with an owner.
//!
//! # Steps
//!
//! 1. A token for this acquisition alone.
//! 2. Look at the monotonic clock, then `add key token exptime`. If it is STORED, we hold the lock until that time
//!    and the lease, less a second, by which the server's clock may end it early, and less what clocks may differ. If
//!    not, again a little later.
//! 3. If no answer came: `get key`. If it is our token, we hold the lock, from the time before the `add`.
//! 4. At the deadline, stop believing.
//! 5. Release: `gets key`. If it is our token: `cas key` with its number and the exptime -1, which deletes the item if
//!    no client has stored since.
//!
//! # Guarantees
//!
//! - `mutual-exclusion` and `own-release-only`, as long as clocks keep their pace, the server forgets nothing, all
//!   clients find the same server, and no process stands still.
//!
//! # Hazards
//!
//! - A client that counts the whole lease believes for longer than the server does
//!   ([`token_lock_full_second`](super::token_lock_full_second), scenario `memcached/early-second`).
//! - A waiter that asks by `add` does not keep the item from being evicted
//!   ([`token_lock_read`](super::token_lock_read) reads it, scenario `memcached/eviction`).
//! - A restart, a flush, a server that a client leaves out, and a lease of more than 30 days give the lock away
//!   (scenarios `memcached/restart`, `memcached/ejected-server`, `memcached/thirty-days`).

use std::time::Duration;

use async_trait::async_trait;

use super::item::{Item, released};
use super::{MEMCACHED, OverMemcached};
use crate::clients::RequestKind;
use crate::clients::memcached::{Memcached, MemcachedResult};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "memcached-token-lock",
    summary: "add with a token and a deadline a second early; released by gets and cas.",
    source: "memcached, doc/protocol.txt; ProgrammingTricks, with an owner",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::KEY,
    requests: &[RequestKind::Add, RequestKind::Retrieval, RequestKind::Cas],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverMemcached {
        products: MEMCACHED,
        build: &|client, env, lease| Box::new(TokenLock::new(client, env, lease)),
    }),
};

pub(super) struct TokenLock {
    pub item: Item,
    /// By which the server's clock may end a lease early.
    pub early: Duration,
    /// Whether a waiter reads the item before it asks.
    pub reads: bool,
}

impl TokenLock {
    pub fn new(client: Memcached, env: Env, lease: Lease) -> Self {
        Self {
            item: Item::new(client, env, lease),
            early: Duration::from_secs(1),
            reads: false,
        }
    }

    /// For how long a lease is believed in: clocks may differ in their pace by one in a hundred.
    fn valid(&self) -> Duration {
        let lease = Duration::from_secs(self.item.exptime().unsigned_abs());
        let surely = lease.saturating_sub(self.early);
        surely - surely / 100
    }

    async fn add(&self) -> MemcachedResult<bool> {
        let Item { client, lease, .. } = &self.item;
        if self.reads && client.get(&lease.key).await?.is_some() {
            return Ok(false);
        }
        let exptime = self.item.exptime();
        client.add(&lease.key, &self.item.token, exptime).await
    }

    /// Deletes the item if it is ours. Answers whether it was.
    async fn delete_if_ours(&self) -> MemcachedResult<bool> {
        let Item {
            client,
            lease,
            token,
            ..
        } = &self.item;
        match client.gets(&lease.key).await? {
            Some(found) if *found.value == **token => {
                client.cas(&lease.key, "", -1, found.cas).await
            }
            _ => Ok(false),
        }
    }
}

#[async_trait(?Send)]
impl Lock for TokenLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.item.token = self.item.env.guid(); // Step 1.
            let valid_until = self.item.env.monotonic() + self.valid();
            let add = async || self.add().await;
            let look = async || self.item.is_ours().await; // Step 3.
            let ours = self.item.takes(add, look, &mut unanswered).await?;
            if ours && self.item.env.monotonic() < valid_until {
                return Ok(self.item.held().until(valid_until)); // Step 2.
            }
            self.item.pause().await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let mut unanswered = None;
        let delete = async || self.delete_if_ours().await; // Step 5.
        let done = self.item.until_answered(&mut unanswered, delete).await?;
        released(done, unanswered)
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.item.lapsed(held).await // Step 4.
    }
}
