//! A row that a transaction locks: `SELECT .. FOR UPDATE`, held until the transaction ends.
//!
//! # Source
//!
//! PostgreSQL 15 manual, 13.3.2 "Row-Level Locks"; MySQL 8.0 reference manual, 17.7.2.4 "Locking Reads". Quartz's
//! `StdRowLockSemaphore` is made so.
//!
//! # Steps
//!
//! 1. A connection of our own, and `BEGIN`.
//! 2. `SELECT name FROM locks WHERE name = .. FOR UPDATE`: answered when the transaction has the lock of the row.
//! 3. Count the rows: none says that there is no such row, and no lock.
//! 4. Work, outside of the transaction.
//! 5. Release: `COMMIT`. It changes nothing, so that an answer that is lost leaves nothing open.
//! 6. After an error close the connection.
//!
//! # Guarantees
//!
//! - While the transaction is open no other one has the lock of the row, and no clock ends it.
//! - The end of the process ends the connection, and the transaction with it.
//!
//! # Hazards
//!
//! - A server that does not wait for ever ends the transaction of a holder that works for long
//!   (`idle_in_transaction_session_timeout`). This recipe hears of the end of the connection.
//! - A row that is deleted takes the lock with it: a waiter finds no row. Step 3 sees that.

use async_trait::async_trait;

use super::session::Session;
use super::{LockTable, OverSql, SqlLock, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{
    DataSource, RowStrength, Select, Statement, Value, WaitPolicy, col, text,
};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "sql-for-update",
    summary: "The lock of a row, which a transaction holds until it ends.",
    source: "PostgreSQL 15 manual, 13.3.2 Row-Level Locks; Quartz, StdRowLockSemaphore",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::SESSION,
    requests: &[
        RequestKind::Begin,
        RequestKind::SelectForUpdate,
        RequestKind::Commit,
    ],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, _, lock| Box::new(ForUpdate::new(source, lock)),
    }),
};

const TABLE: LockTable = LockTable {
    name: "locks",
    columns: &["name"],
    row: |lock| vec![Value::Text(lock.name.clone())],
};

struct ForUpdate {
    session: Session,
    lock: SqlLock,
}

impl ForUpdate {
    fn new(source: DataSource, lock: SqlLock) -> Self {
        let session = Session::new(source);
        Self { session, lock }
    }

    async fn locks_row(&mut self) -> Result<(), LockError> {
        self.session
            .execute(Statement::Begin(None))
            .await
            .map_err(seen)?; // Step 1.
        let row = Select::from("locks", [col("name")])
            .and(col("name").equals(text(&self.lock.name)))
            .locking(RowStrength::Update, WaitPolicy::Block);
        let found = self.session.execute_held(row).await.map_err(seen)?; // Step 2.
        match found.count {
            1 => Ok(()),
            _ => Err(LockError::PlaceLost), // Step 3.
        }
    }
}

#[async_trait(?Send)]
impl Lock for ForUpdate {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if let Err(error) = self.locks_row().await {
            self.session.close(); // Step 6.
            return Err(error);
        }
        Ok(Held::at(self.lock.name.clone()))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let committed = self.session.execute_held(Statement::Commit).await; // Step 5.
        if committed.is_err() {
            self.session.close(); // Step 6.
        }
        committed.map(drop).map_err(seen)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.session.closed().await
    }
}
