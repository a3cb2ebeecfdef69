//! A counter of the clients inside: `incr`, and the client that makes it 1 is in.
//!
//! # Source
//!
//! Locks and semaphores by `incr` and `decr`, as tutorials have them.
//!
//! # Steps
//!
//! 1. `add key 0 0`, so that there is a counter.
//! 2. `incr key 1`. If it is 1 by that, we hold the lock. If not: `decr key 1`, and again later.
//! 3. Release: `decr key 1`.
//!
//! # Guarantees
//!
//! - One at a time, as long as no contender dies and no answer is lost.
//!
//! # Hazards
//!
//! - The counter has no owners and no expiry: one that dies inside is counted for ever (scenario
//!   `memcached/holder-crash`).

use async_trait::async_trait;

use super::item::Item;
use super::{MEMCACHED, OverMemcached, seen, token_lock};
use crate::clients::RequestKind;
use crate::clients::redis::Value;
use crate::redis::leased::never;
use crate::{Build, Claim, Held, KeyHold, Keys, Lock, LockError, LockKind, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "memcached-incr",
    summary: "incr, and the one that makes it 1 is in; released by decr.",
    source: "Tutorials",
    flaw: Some("the counter has no owners, and one that dies is counted for ever"),
    claims: &[
        Claim::MutualExclusion,
        Claim::ExclusiveOwnership,
        Claim::Progress,
        Claim::NoOrphan,
    ],
    ownership: OwnershipRule::of_keys(LockKind::Mutex, counted),
    requests: &[RequestKind::Add, RequestKind::IncrDecr],
    build: Build::Other(&OverMemcached {
        products: MEMCACHED,
        build: &|client, env, lease| Box::new(Counter(Item::new(client, env, lease))),
    }),
    ..token_lock::RECIPE
};

/// A counter that is not zero is a hold, which says not whose.
fn counted(keys: &dyn Keys, lock: &str, holds: &mut Vec<KeyHold>) {
    if let Some(Value::Bulk(count)) = keys.read(lock)
        && count.iter().any(|digit| (b'1'..=b'9').contains(digit))
    {
        holds.push(KeyHold::exclusive(b"counted".as_slice().into()));
    }
}

struct Counter(Item);

#[async_trait(?Send)]
impl Lock for Counter {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Item { client, lease, .. } = &self.0;
        loop {
            client.add(&lease.key, "0", 0).await.map_err(seen)?; // Step 1.
            match client.incr(&lease.key, 1).await.map_err(seen)? {
                Some(1) => return Ok(self.0.held()), // Step 2.
                Some(_) => client.decr(&lease.key, 1).await.map_err(seen)?,
                None => None,
            };
            self.0.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let decr = self.0.client.decr(&held.path_or_key, 1).await; // Step 3.
        decr.map_err(seen)?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
