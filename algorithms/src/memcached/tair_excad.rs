//! `EXSET NX EX`, and `EXCAD` with the version that it was given: a version for a token.
//!
//! # Source
//!
//! The commands of TairString, taken by their names: `EXCAD` deletes "if the version matches".
//!
//! # Steps
//!
//! 1. `EXSET key 0 EX lease NX`. If it was set, we hold the lock, and its version is 1. If not, again later.
//! 2. Release: `EXCAD key 1`.
//!
//! # Guarantees
//!
//! - The key goes by itself.
//!
//! # Hazards
//!
//! - Each key begins with version 1 again after an expiry or a `DEL`: a late `EXCAD` deletes the key of the next
//!   (scenario `memcached/tair-version-restarts`).

use async_trait::async_trait;

use super::item::Item;
use super::{OverMemcached, TAIR_STRING, seen, token_lock};
use crate::clients::RequestKind;
use crate::clients::memcached::{Command, Reply};
use crate::redis::leased::never;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "tair-excad-lock",
    summary: "EXSET NX EX; released by EXCAD with the version, which is 1 for each holder.",
    source: "Alibaba Cloud, Tair: EXSET and EXCAD",
    flaw: Some("the version begins with 1 again, so that it is each holder's"),
    requests: &[RequestKind::Storage, RequestKind::Deletion],
    build: Build::Other(&OverMemcached {
        products: TAIR_STRING,
        build: &|client, env, lease| Box::new(ExCadLock(Item::new(client, env, lease))),
    }),
    ..token_lock::RECIPE
};

struct ExCadLock(Item);

#[async_trait(?Send)]
impl Lock for ExCadLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Item { client, lease, .. } = &self.0;
        let exset = Command::ExSet {
            key: lease.key.clone(),
            value: "0".into(),
            time: Some(lease.time),
            if_missing: true,
            version: None,
        };
        while client.execute(exset.clone()).await.map_err(seen)? != Reply::Stored {
            self.0.pause().await; // Step 1.
        }
        Ok(self.0.held())
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let excad = Command::ExCad(held.path_or_key, 1);
        match self.0.client.execute(excad).await.map_err(seen)? {
            Reply::Deleted => Ok(()), // Step 2.
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
