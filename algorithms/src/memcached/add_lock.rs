//! `add` with an expiry, and a `delete` that does not look whose item it is.
//!
//! # Source
//!
//! memcached wiki, ProgrammingTricks: "ghetto central locking"; `cache.add` and `cache.delete` of Django and of PHP's
//! Memcached are the same.
//!
//! # Steps
//!
//! 1. `add key 1 exptime`. If it is STORED, we hold the lock; if not, sleep, and try again.
//! 2. Release: `delete key`.
//!
//! # Guarantees
//!
//! - The item goes by itself, so a dead holder does not block the lock for ever.
//!
//! # Hazards
//!
//! - A holder that works for longer than the lease deletes the item of the next, and lets a third in (scenario
//!   `memcached/late-delete`).
//! - It does not look at the clock: it goes on believing after the lease.
//! - An `add` that was not answered may have been done: it is left until it expires (scenario
//!   `memcached/lost-add-answer`).

use async_trait::async_trait;

use super::item::Item;
use super::{MEMCACHED, OverMemcached, seen, token_lock};
use crate::clients::RequestKind;
use crate::redis::leased::never;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "memcached-add-lock",
    summary: "add with an expiry; released by delete, whichever contender's item it is by then.",
    source: "memcached wiki, ProgrammingTricks: ghetto central locking",
    flaw: Some("it deletes the item without looking whose it is"),
    requests: &[RequestKind::Add, RequestKind::Deletion],
    build: Build::Other(&OverMemcached {
        products: MEMCACHED,
        build: &|client, env, lease| Box::new(AddLock(Item::new(client, env, lease))),
    }),
    ..token_lock::RECIPE
};

struct AddLock(Item);

#[async_trait(?Send)]
impl Lock for AddLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Item { client, lease, .. } = &self.0;
        let exptime = self.0.exptime();
        while !client.add(&lease.key, "1", exptime).await.map_err(seen)? {
            self.0.pause().await; // Step 1.
        }
        Ok(self.0.held())
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let delete = self.0.client.delete(&held.path_or_key).await; // Step 2.
        delete.map_err(seen)?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
