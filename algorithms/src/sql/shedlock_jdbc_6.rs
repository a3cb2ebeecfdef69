//! ShedLock's lock over JDBC as it was before 7.0: an unlock does not look whose row it is.
//!
//! # Source
//!
//! ShedLock before 7.0 (d88fc4d4d), `SqlStatementsSource.getUnlockStatement`.
//!
//! # Steps
//!
//! Those of [`super::shedlock_jdbc`], but step 4 is `UPDATE shedlock SET lock_until = now() WHERE name =
//! ..`.
//!
//! # Guarantees
//!
//! - Those of [`super::shedlock_jdbc`], as long as no unlock comes late.
//!
//! # Hazards
//!
//! - The unlock of an owner whose row was over ends the lock of the next one, and a third enters (scenario
//!   `sql/long-section`).

use super::OverSql;
use super::shedlock_jdbc::{self, ShedLock, TABLE};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "shedlock-jdbc-6",
    summary: "ShedLock before 7.0: an unlock ends the lock of another host, too.",
    source: "ShedLock before 7.0 (d88fc4d4d), SqlStatementsSource",
    flaw: Some("an unlock does not look at `locked_by`"),
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, env, lock| Box::new(ShedLock::new(source, env, lock, false)),
    }),
    ..shedlock_jdbc::RECIPE
};
