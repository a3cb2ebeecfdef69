//! The lock of Celery's cookbook over Django's cache: `cache.add`, and a `cache.delete` unless the lease is almost
//! over.
//!
//! # Source
//!
//! Celery, "Ensuring a task is only executed one at a time" (`userguide/tasks-cookbook`), `memcache_lock`; it gives
//! up where this waits.
//!
//! # Steps
//!
//! 1. `timeout_at = monotonic() + LOCK_EXPIRE - 3`, then `cache.add(lock_id, oid, LOCK_EXPIRE)`. If it is stored, the
//!    task runs; if not, again later.
//! 2. When the task is done, and `monotonic() < timeout_at`: `cache.delete(lock_id)`. Else the item is left to expire.
//!
//! # Guarantees
//!
//! - A task that ends in time gives back what is its own, if its `delete` is quick.
//!
//! # Hazards
//!
//! - The task does not look at the clock: it runs on after the lease (scenario `memcached/late-delete`).
//! - It looks at the clock before it deletes, and not at the item: a `delete` that is held up takes the next one's.

use std::time::Duration;

use async_trait::async_trait;

use super::item::Item;
use super::{MEMCACHED, OverMemcached, seen, token_lock};
use crate::clients::RequestKind;
use crate::redis::leased::never;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "celery-cache-lock",
    summary: "cache.add, and a cache.delete unless three seconds of the lease or less are left.",
    source: "Celery, userguide/tasks-cookbook: memcache_lock",
    flaw: Some("the task does not look at the clock, and delete does not look whose item it is"),
    requests: &[RequestKind::Add, RequestKind::Deletion],
    build: Build::Other(&OverMemcached {
        products: MEMCACHED,
        build: &|client, env, lease| {
            Box::new(CeleryCacheLock {
                item: Item::new(client, env, lease),
                timeout_at: Duration::ZERO,
            })
        },
    }),
    ..token_lock::RECIPE
};

/// What of the lease is left when it deletes no more.
const MARGIN: Duration = Duration::from_secs(3);

struct CeleryCacheLock {
    item: Item,
    timeout_at: Duration,
}

#[async_trait(?Send)]
impl Lock for CeleryCacheLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Item {
            client, env, lease, ..
        } = &self.item;
        loop {
            let timeout_at = env.monotonic() + lease.time.saturating_sub(MARGIN);
            let exptime = self.item.exptime();
            if client.add(&lease.key, "oid", exptime).await.map_err(seen)? {
                self.timeout_at = timeout_at; // Step 1.
                return Ok(self.item.held());
            }
            self.item.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        if self.item.env.monotonic() < self.timeout_at {
            let delete = self.item.client.delete(&held.path_or_key).await; // Step 2.
            delete.map_err(seen)?;
        }
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }
}
