//! `put` with a version that passes only on a missing key, and a release that looks first and deletes then.
//!
//! # Source
//!
//! The client of Tair's cache engine (MDB): `put(namespace, key, value, version, expireTime)`; locks that give the
//! version 2.
//!
//! # Steps
//!
//! 1. `put key token version 2 expire lease`. If it passes, we hold the lock: the key is of version 1 now, and each
//!    other `put` with version 2 is a version error. If not, again later.
//! 2. If no answer came: `get key`. If it is our token, we hold the lock.
//! 3. Release: `get key`, and if it is our token, `delete key`.
//!
//! # Guarantees
//!
//! - The key goes by itself.
//!
//! # Hazards
//!
//! - Between the look and the `delete` the lease can end (scenario `memcached/tair-late-delete`). There is no command
//!   that compares and deletes.
//! - It does not look at the clock: it goes on believing after the lease.

use async_trait::async_trait;

use super::item::Item;
use super::{OverMemcached, TAIR_MDB, seen, token_lock};
use crate::clients::RequestKind;
use crate::clients::memcached::{Command, MemcachedResult, Reply};
use crate::redis::leased::never;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "tair-put-version-lock",
    summary: "put with a version that no key has; released by get, a comparison in the client, and delete.",
    source: "Tair's client: put with a version",
    flaw: Some("the lease can end between the look and the delete"),
    requests: &[
        RequestKind::TairPut,
        RequestKind::Retrieval,
        RequestKind::Deletion,
    ],
    build: Build::Other(&OverMemcached {
        products: TAIR_MDB,
        build: &|client, env, lease| Box::new(PutVersion(Item::new(client, env, lease))),
    }),
    ..token_lock::RECIPE
};

/// No key is of this version when it is made.
const NOT_THE_FIRST: u64 = 2;

struct PutVersion(Item);

impl PutVersion {
    async fn put(&self) -> MemcachedResult<bool> {
        let Item {
            client,
            lease,
            token,
            ..
        } = &self.0;
        let put = Command::Put {
            key: lease.key.clone(),
            value: (**token).into(),
            version: NOT_THE_FIRST,
            expire: self.0.exptime(),
        };
        Ok(client.execute(put).await? == Reply::Stored)
    }
}

#[async_trait(?Send)]
impl Lock for PutVersion {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.0.token = self.0.env.guid();
        let (put, look) = (async || self.put().await, async || self.0.is_ours().await);
        let mut unanswered = None;
        while !self.0.takes(&put, &look, &mut unanswered).await? {
            self.0.pause().await; // Steps 1 and 2.
        }
        Ok(self.0.held())
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if !self.0.is_ours().await.map_err(seen)? {
            return Err(LockError::PlaceLost); // Step 3.
        }
        let delete = self.0.client.delete(&held.path_or_key).await;
        delete.map_err(seen)?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
