//! A row of a unique key with an end by the clock of the application.
//!
//! # Source
//!
//! ShedLock without `usingDbTime`; Spring Integration's `DefaultLockRepository`.
//!
//! # Steps
//!
//! Those of [`super::unique_key_expiring`], but in each the time is that of the machine that asks.
//!
//! # Guarantees
//!
//! - Those of [`super::unique_key_expiring`], as long as all machines have the same time.
//!
//! # Hazards
//!
//! - A machine whose clock is ahead takes a row that is not over (scenario `sql/application-clock`).

use super::leased_row::{LeasedRow, RowClock, TABLE};
use super::{OverSql, unique_key_expiring};
use crate::{Build, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "sql-unique-key-app-clock",
    summary: "A row with an owner, a token, and an end by the clock of the application.",
    source: "ShedLock without usingDbTime",
    flaw: Some("a row is over when the clock of the machine that asks says so"),
    inputs: &[RecipeInput::WallClock],
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, env, lock| {
            Box::new(LeasedRow::new(source, env, lock, RowClock::Application))
        },
    }),
    ..unique_key_expiring::RECIPE
};
