//! A row of a unique key with an end, by the clock of the database: its owner, and a token that rises.
//!
//! # Source
//!
//! The table of locks with an expiry and an owner, as ShedLock (`usingDbTime`) and others have it, and a fencing token
//! (Kleppmann, "How to do distributed locking", 2016).
//!
//! # Steps
//!
//! 1. A name for this acquisition alone.
//! 2. Look at the monotonic clock, then `UPDATE locks SET owner, token = token + 1, expires_at = clock_timestamp() +
//!    lease WHERE name = .. AND expires_at <= clock_timestamp()`.
//! 3. If that changed no row: `INSERT .. ON CONFLICT DO NOTHING`, with the token 1. If that inserted none, again a
//!    tenth of a second later.
//! 4. Read the token of the row that is ours. We hold the lock until the lease is over by our own clock, less what
//!    clocks may differ.
//! 5. Release: `UPDATE locks SET expires_at = clock_timestamp() WHERE name = .. AND owner = .. AND expires_at >
//!    clock_timestamp()`, and count the row. The row stays, and its token with it.
//!
//! # Guarantees
//!
//! - `mutual-exclusion` and `own-release-only`, as long as clocks keep their pace, and no process stands still.
//! - The token rises with each owner (`fencing-monotonic`), so that a resource can refuse what is stale.
//!
//! # Hazards
//!
//! - A pause across the end of the lease: the resource must refuse what is stale (scenario `sql/pause`).
//! - By the clock of the application the lock has two owners when clocks differ
//!   ([`unique_key_app_clock`](super::unique_key_app_clock)).
//! - `now()` is the time at which the transaction began: a statement that has waited writes a lease that is over
//!   already. `clock_timestamp()` moves.

use super::OverSql;
use super::leased_row::{CLAIMS, LeasedRow, OWNER, REQUESTS, RowClock, TABLE};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "sql-unique-key-expiring",
    summary: "A row with an owner, a token, and an end by the clock of the database.",
    source: "the table of locks with an expiry (ShedLock, usingDbTime), and a fencing token",
    flaw: None,
    claims: CLAIMS,
    ownership: OWNER,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, env, lock| Box::new(LeasedRow::new(source, env, lock, RowClock::Database)),
    }),
};
