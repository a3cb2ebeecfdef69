//! The lock with a token whose waiters read the item: so it is not evicted.
//!
//! # Source
//!
//! [`token_lock`], and how memcached evicts: the item of a class that is unread for longest.
//!
//! # Steps
//!
//! Those of [`token_lock`], but before the `add` of step 2: `get key`, and if there is an item, wait.
//!
//! # Guarantees
//!
//! - Those of [`token_lock`]; and an item that is waited for is not evicted (scenario `memcached/eviction`).
//!
//! # Hazards
//!
//! - Where no contender waits, no client reads the item, and it may be evicted all the same.

use super::token_lock::{self, TokenLock};
use super::{MEMCACHED, OverMemcached};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "memcached-token-lock-read",
    summary: "The lock with a token whose waiters read the item, and so keep it from being evicted.",
    build: Build::Other(&OverMemcached {
        products: MEMCACHED,
        build: &|client, env, lease| {
            Box::new(TokenLock {
                reads: true,
                ..TokenLock::new(client, env, lease)
            })
        },
    }),
    ..token_lock::RECIPE
};
