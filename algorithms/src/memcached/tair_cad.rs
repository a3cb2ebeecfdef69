//! `SET NX EX` with a token, and `CAD`, which deletes it if it is ours: one step at the server.
//!
//! # Source
//!
//! Alibaba Cloud, Tair: "Implement high-performance distributed locks by using TairString" (`CAS`, `CAD`).
//!
//! # Steps
//!
//! 1. A token for this acquisition alone.
//! 2. Look at the monotonic clock, then `SET key token NX EX lease`. If it was set, we hold the lock until that time
//!    and the lease, less what clocks may differ. If not, again a little later.
//! 3. If no answer came: `GET key`. If it is our token, we hold the lock, from the time before the `SET`.
//! 4. At the deadline, stop believing.
//! 5. Release: `CAD key token`.
//!
//! # Guarantees
//!
//! - `mutual-exclusion` and `own-release-only`, as long as clocks keep their pace, the server forgets nothing, and no
//!   process stands still.
//!
//! # Hazards
//!
//! - A version is no token: it begins with 1 again ([`tair_excad`](super::tair_excad), scenario
//!   `memcached/tair-version-restarts`).
//! - A renewal by `CAS` without a time makes the lock last for ever.

use async_trait::async_trait;

use super::item::{Item, released};
use super::{OverMemcached, TAIR_STRING, token_lock};
use crate::clients::RequestKind;
use crate::clients::memcached::{Command, MemcachedResult, Reply};
use crate::redis::leased::drift;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "tair-cad-lock",
    summary: "SET NX EX with a token and a deadline; released by CAD, which deletes only its own.",
    source: "Alibaba Cloud, Tair: distributed locks by TairString",
    requests: &[
        RequestKind::Storage,
        RequestKind::Retrieval,
        RequestKind::Deletion,
    ],
    build: Build::Other(&OverMemcached {
        products: TAIR_STRING,
        build: &|client, env, lease| Box::new(CadLock(Item::new(client, env, lease))),
    }),
    ..token_lock::RECIPE
};

struct CadLock(Item);

impl CadLock {
    async fn set(&self) -> MemcachedResult<bool> {
        let Item {
            client,
            lease,
            token,
            ..
        } = &self.0;
        let set = Command::SetNx(lease.key.clone(), (**token).into(), lease.time);
        Ok(client.execute(set).await? == Reply::Stored)
    }

    async fn compare_and_delete(&self) -> MemcachedResult<bool> {
        let Item {
            client,
            lease,
            token,
            ..
        } = &self.0;
        let cad = Command::CompareAndDelete(lease.key.clone(), (**token).into());
        Ok(client.execute(cad).await? == Reply::Deleted)
    }
}

#[async_trait(?Send)]
impl Lock for CadLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut unanswered = None;
        loop {
            self.0.token = self.0.env.guid(); // Step 1.
            let lease = self.0.lease.time;
            let valid_until = self.0.env.monotonic() + lease.saturating_sub(drift(lease));
            let set = async || self.set().await;
            let look = async || self.0.is_ours().await; // Step 3.
            let ours = self.0.takes(set, look, &mut unanswered).await?;
            if ours && self.0.env.monotonic() < valid_until {
                return Ok(self.0.held().until(valid_until)); // Step 2.
            }
            self.0.pause().await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let mut unanswered = None;
        let cad = async || self.compare_and_delete().await; // Step 5.
        let done = self.0.until_answered(&mut unanswered, cad).await?;
        released(done, unanswered)
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.0.lapsed(held).await // Step 4.
    }
}
