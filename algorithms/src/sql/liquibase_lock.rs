//! Liquibase's lock: a row that says whether it is locked.
//!
//! # Source
//!
//! Liquibase 4, `StandardLockService`; the table `DATABASECHANGELOGLOCK`.
//!
//! # Steps
//!
//! 1. `SELECT locked FROM databasechangeloglock WHERE id = 1`. If it is, again ten seconds later.
//! 2. `UPDATE databasechangeloglock SET locked = TRUE, lockedby = .. WHERE id = 1 AND locked = FALSE`, committed at
//!    once. If that changes the row, we hold the lock. If not, go to 1.
//! 3. Release: `UPDATE databasechangeloglock SET locked = FALSE, lockedby = NULL WHERE id = 1`.
//!
//! # Guarantees
//!
//! - As long as each owner releases it, one at a time has the lock.
//!
//! # Hazards
//!
//! - An owner that dies leaves the row locked, and no contender enters until an operator runs `releaseLocks` (scenario
//!   `sql/left-behind-row`).
//! - The release looks at no owner: after `releaseLocks` it frees the lock of the next one.

use std::future::pending;
use std::time::Duration;

use async_trait::async_trait;

use super::session::Session;
use super::{LockTable, OverSql, SqlLock, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{DataSource, Expr, Select, SqlResult, Update, Value, col, text};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe, RowHold};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "liquibase-lock",
    summary: "Liquibase: a row that says whether it is locked, and by which host.",
    source: "Liquibase 4, StandardLockService",
    flaw: Some("the row of an owner that dies stays locked"),
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::of_row(|row| {
        let identity = row
            .text("lockedby")
            .filter(|_| row.number("locked") == Some(1))?;
        let expires = None;
        Some(RowHold { identity, expires })
    }),
    requests: &[RequestKind::Select, RequestKind::Update],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, env, lock| Box::new(ChangeLogLock::new(source, env, lock)),
    }),
};

const TABLE: LockTable = LockTable {
    name: "databasechangeloglock",
    columns: &["id", "locked", "lockedby"],
    row: |lock| vec![Value::Int(lock.id), Value::Int(0), Value::Null],
};

/// `liquibase.changelogLockPollRate`
const POLL_RATE: Duration = Duration::from_secs(10);

struct ChangeLogLock {
    session: Session,
    env: Env,
    lock: SqlLock,
}

impl ChangeLogLock {
    fn new(source: DataSource, env: Env, lock: SqlLock) -> Self {
        let session = Session::new(source);
        Self { session, env, lock }
    }

    fn id(&self) -> Expr {
        self.lock.id.into()
    }

    async fn is_locked(&mut self) -> SqlResult<bool> {
        let row =
            Select::from("databasechangeloglock", [col("locked")]).and(col("id").equals(self.id()));
        let found = self.session.execute(row).await?;
        Ok(found.value().is_some_and(Value::is_true))
    }

    async fn locks(&mut self) -> SqlResult<bool> {
        let (locked, by) = (1.into(), text(&self.env.host()));
        let row = Update::of(
            "databasechangeloglock",
            [("locked", locked), ("lockedby", by)],
        )
        .and(col("id").equals(self.id()))
        .and(col("locked").equals(0));
        Ok(self.session.execute(row).await?.count == 1)
    }
}

#[async_trait(?Send)]
impl Lock for ChangeLogLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            let is_locked = self.is_locked().await.map_err(seen)?; // Step 1.
            if !is_locked && self.locks().await.map_err(seen)? {
                return Ok(Held::at(self.lock.name.clone())); // Step 2.
            }
            self.env.sleep(POLL_RATE).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let row = [("locked", 0.into()), ("lockedby", Expr::Value(Value::Null))];
        let row = Update::of("databasechangeloglock", row).and(col("id").equals(self.id()));
        self.session.execute(row).await.map(drop).map_err(seen) // Step 3.
    }

    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }
}
