//! BROKEN ON PURPOSE. The lock with a token that counts on the whole lease.
//!
//! # Source
//!
//! [`token_lock`], by what exptime seems to say.
//!
//! # Steps
//!
//! Those of [`token_lock`], but the deadline of step 2 is not a second early.
//!
//! # Guarantees
//!
//! None that its sibling does not have.
//!
//! # Hazards
//!
//! - The clock of the server ticks once a second, and an item of n seconds lives between n-1 and n: the next one is in
//!   while it believes (scenario `memcached/early-second`).

use std::time::Duration;

use super::token_lock::{self, TokenLock};
use super::{MEMCACHED, OverMemcached};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "memcached-token-lock-full-second",
    summary: "BROKEN: the lock with a token that believes for as long as exptime says.",
    flaw: Some("an item of n seconds may live for n-1"),
    build: Build::Other(&OverMemcached {
        products: MEMCACHED,
        build: &|client, env, lease| {
            Box::new(TokenLock {
                early: Duration::ZERO,
                ..TokenLock::new(client, env, lease)
            })
        },
    }),
    ..token_lock::RECIPE
};
