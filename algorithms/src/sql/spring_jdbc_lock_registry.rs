//! Spring Integration's lock over JDBC: a row with the time at which it was written, by the clock of the application.
//!
//! # Source
//!
//! Spring Integration 6.4, `JdbcLockRegistry`, `DefaultLockRepository`.
//!
//! # Steps
//!
//! 1. In a transaction: delete the row of this key whose `CREATED_DATE` is before now less the time to live; set
//!    `CREATED_DATE` of the row if it is of this client; insert it if that changed none. A key that is there says that
//!    another client has the lock: again a tenth of a second later.
//! 2. Unlock: `DELETE FROM INT_LOCK WHERE LOCK_KEY = .. AND CLIENT_ID = ..`. If that deletes no row, the lock was lost
//!    (6.4).
//!
//! # Guarantees
//!
//! - At most one owner as long as sections take less than the time to live, and all machines have the same time.
//!
//! # Hazards
//!
//! - Nothing renews the row unless the caller does, and it is not told when the row is over (scenario
//!   `sql/long-section`).
//! - The time is that of the machine: one whose clock is ahead deletes a row that is not over (scenario
//!   `sql/application-clock`).

use std::future::pending;

use async_trait::async_trait;

use super::session::Session;
use super::{LockTable, OverSql, POLL, SqlLock, no_row, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{
    DataSource, Delete, Expr, Insert, OnConflict, SqlResult, Statement, Update, Value, col, text,
};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe, RecipeInput, RowHold};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "spring-jdbc-lock-registry",
    summary: "Spring Integration: a row that is over when it is old by the clock of the application.",
    source: "Spring Integration 6.4, JdbcLockRegistry, DefaultLockRepository",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::of_row(|row| {
        let (identity, expires) = (row.text("client_id")?, row.time("expires_at"));
        Some(RowHold { identity, expires })
    }),
    requests: &[
        RequestKind::Begin,
        RequestKind::DeleteRows,
        RequestKind::Update,
        RequestKind::Insert,
        RequestKind::Commit,
    ],
    inputs: &[RecipeInput::WallClock],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, env, lock| Box::new(JdbcLock::new(source, env, lock)),
    }),
};

/// `CREATED_DATE` and the time to live, added up.
const TABLE: LockTable = LockTable {
    name: "int_lock",
    columns: &["lock_key", "client_id", "expires_at"],
    row: no_row,
};

struct JdbcLock {
    session: Session,
    env: Env,
    lock: SqlLock,
    client: String,
}

impl JdbcLock {
    fn new(source: DataSource, env: Env, lock: SqlLock) -> Self {
        Self {
            session: Session::new(source),
            client: env.guid(),
            env,
            lock,
        }
    }

    /// The time of the machine, so much later.
    fn wall(&self, later: std::time::Duration) -> Expr {
        let micros = (self.env.wall() + later).as_micros();
        Expr::Value(Value::Timestamp(i64::try_from(micros).unwrap_or(i64::MAX)))
    }

    /// Step 1.
    async fn acquires(&mut self) -> SqlResult<bool> {
        let (key, client) = (text(&self.lock.name), text(&self.client));
        let (now, until) = (
            self.wall(std::time::Duration::ZERO),
            self.wall(self.lock.lease),
        );
        self.session.execute(Statement::Begin(None)).await?;
        let expired = Delete::from("int_lock")
            .and(col("lock_key").equals(key.clone()))
            .and(col("expires_at").less(now));
        self.session.execute_held(expired).await?;
        let own = Update::of("int_lock", [("expires_at", until.clone())])
            .and(col("lock_key").equals(key.clone()))
            .and(col("client_id").equals(client.clone()));
        let mut held = self.session.execute_held(own).await?.count > 0;
        if !held {
            let row = [
                ("lock_key", key),
                ("client_id", client),
                ("expires_at", until),
            ];
            let row = Insert::into("int_lock", row).on_conflict(OnConflict::DoNothing);
            held = self.session.execute_held(row).await?.count == 1;
        }
        self.session.execute_held(Statement::Commit).await?;
        Ok(held)
    }
}

#[async_trait(?Send)]
impl Lock for JdbcLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            match self.acquires().await {
                Ok(true) => return Ok(Held::at(self.lock.name.clone())),
                // A deadlock or a snapshot that is too old: the transaction is tried again.
                Err(error)
                    if error
                        .code()
                        .is_some_and(|code| code.is_serialization_failure()) =>
                {
                    self.session.close();
                }
                Ok(false) => {}
                Err(error) => {
                    self.session.close();
                    return Err(seen(error));
                }
            }
            self.env.sleep(POLL).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let row = Delete::from("int_lock")
            .and(col("lock_key").equals(text(&self.lock.name)))
            .and(col("client_id").equals(text(&self.client)));
        match self.session.execute(row).await.map_err(seen)?.count {
            0 => Err(LockError::PlaceLost), // Step 2.
            _ => Ok(()),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }
}
