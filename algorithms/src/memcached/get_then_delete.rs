//! `add` with a token, and a release that looks first and deletes then: the common half of a fix.
//!
//! # Source
//!
//! Tutorials that give the lock of memcached an owner, and do without `cas`.
//!
//! # Steps
//!
//! 1. `add key token exptime`. If it is STORED, we hold the lock; if not, try again later.
//! 2. Release: `get key`.
//! 3. If it is our token: `delete key`.
//!
//! # Guarantees
//!
//! - The item goes by itself.
//!
//! # Hazards
//!
//! - Between the look and the `delete` the lease can end, and another take the lock: the `delete` takes it away again
//!   (scenario `memcached/look-then-delete`).

use async_trait::async_trait;

use super::item::Item;
use super::{MEMCACHED, OverMemcached, seen, token_lock};
use crate::clients::RequestKind;
use crate::redis::leased::never;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "memcached-get-then-delete",
    summary: "add with a token; released by get, a comparison in the client, and delete.",
    source: "Tutorials",
    flaw: Some("the lease can end between the look and the delete"),
    requests: &[
        RequestKind::Add,
        RequestKind::Retrieval,
        RequestKind::Deletion,
    ],
    build: Build::Other(&OverMemcached {
        products: MEMCACHED,
        build: &|client, env, lease| Box::new(GetThenDelete(Item::new(client, env, lease))),
    }),
    ..token_lock::RECIPE
};

struct GetThenDelete(Item);

#[async_trait(?Send)]
impl Lock for GetThenDelete {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.0.token = self.0.env.guid();
        let Item {
            client,
            lease,
            token,
            ..
        } = &self.0;
        let exptime = self.0.exptime();
        while !client.add(&lease.key, token, exptime).await.map_err(seen)? {
            self.0.pause().await; // Step 1.
        }
        Ok(self.0.held())
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if !self.0.is_ours().await.map_err(seen)? {
            return Err(LockError::PlaceLost); // Step 2.
        }
        let delete = self.0.client.delete(&held.path_or_key).await; // Step 3.
        delete.map_err(seen)?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
