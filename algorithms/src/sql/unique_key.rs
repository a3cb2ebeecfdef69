//! A row of a unique key: the client that inserts it holds the lock, and deletes it.
//!
//! # Source
//!
//! The table of locks that texts on distributed locks begin with: "INSERT INTO lock (name) .., DELETE FROM lock WHERE
//! name = ..".
//!
//! # Steps
//!
//! 1. `INSERT INTO locks (name, owner) VALUES (.., ..) ON CONFLICT DO NOTHING`. If it says one row, we hold the lock.
//!    If not, again a tenth of a second later.
//! 2. Release: `DELETE FROM locks WHERE name = ..`.
//!
//! # Guarantees
//!
//! - As long as each owner deletes its row, one at a time has it.
//!
//! # Hazards
//!
//! - An owner that dies leaves its row behind, for ever (scenario `sql/left-behind-row`).
//! - An insert whose answer is lost may be committed: its owner waits for its own row.

use async_trait::async_trait;

use super::session::Session;
use super::{LockTable, OverSql, POLL, SqlLock, no_row, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{DataSource, Delete, Insert, OnConflict, col, text};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe, RowHold};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "sql-unique-key",
    summary: "A row that its owner inserts and deletes.",
    source: "the table of locks of every text on the subject",
    flaw: Some("the row of an owner that dies stays for ever"),
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::of_row(|row| {
        let identity = row.text("owner")?;
        let expires = None;
        Some(RowHold { identity, expires })
    }),
    requests: &[RequestKind::Insert, RequestKind::DeleteRows],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, env, lock| Box::new(UniqueKey::new(source, env, lock)),
    }),
};

const TABLE: LockTable = LockTable {
    name: "locks",
    columns: &["name", "owner"],
    row: no_row,
};

struct UniqueKey {
    session: Session,
    env: Env,
    lock: SqlLock,
}

impl UniqueKey {
    fn new(source: DataSource, env: Env, lock: SqlLock) -> Self {
        let session = Session::new(source);
        Self { session, env, lock }
    }
}

#[async_trait(?Send)]
impl Lock for UniqueKey {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            let (name, owner) = (text(&self.lock.name), text(&self.env.guid()));
            let row = Insert::into("locks", [("name", name), ("owner", owner)])
                .on_conflict(OnConflict::DoNothing);
            if self.session.execute(row).await.map_err(seen)?.count == 1 {
                return Ok(Held::at(self.lock.name.clone()));
            }
            self.env.sleep(POLL).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let row = Delete::from("locks").and(col("name").equals(text(&self.lock.name)));
        match self.session.execute(row).await.map_err(seen)?.count {
            0 => Err(LockError::NotHeld),
            _ => Ok(()),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        std::future::pending().await
    }
}
