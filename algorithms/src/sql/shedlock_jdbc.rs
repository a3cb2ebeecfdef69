//! ShedLock's lock over JDBC, by the time of the database: a row that is over by itself.
//!
//! # Source
//!
//! ShedLock 7.0, `JdbcTemplateLockProvider`, `SqlStatementsSource`, `StorageBasedLockProvider`, with `usingDbTime()`.
//!
//! # Steps
//!
//! 1. If this process has not inserted the row of this name yet: `INSERT INTO shedlock (name, lock_until, locked_at,
//!    locked_by)`. If that inserts it, we hold the lock.
//! 2. Otherwise `UPDATE shedlock SET lock_until, locked_at, locked_by WHERE name = .. AND lock_until <= now()`. If that
//!    changes the row, we hold the lock. If not, the task is skipped; here it asks again a tenth of a second later.
//! 3. Work for less than `lockAtMostFor`. The job is not told when it is over.
//! 4. Unlock: `UPDATE shedlock SET lock_until = now() WHERE name = .. AND locked_by = ..`, whether that changes a row
//!    or not. `locked_by` is the name of the host.
//!
//! # Guarantees
//!
//! - At most one owner as long as sections take less than `lockAtMostFor`, by a clock that is the same for all.
//!
//! # Hazards
//!
//! - A section that takes longer goes on, and the next one enters (scenario `sql/long-section`); so does one that
//!   stands still.
//! - Before 7.0 an unlock did not look at `locked_by` ([`shedlock_jdbc_6`](super::shedlock_jdbc_6)).
//! - `locked_by` is the same for all that a host does: an unlock that comes late ends a later lock of the same host.

use std::future::pending;

use async_trait::async_trait;

use super::session::Session;
use super::{LockTable, OverSql, POLL, SqlLock, no_row, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{
    DataSource, Insert, OnConflict, SqlResult, Update, clock_timestamp, col, interval, text,
};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Env, Held, Lock, LockError, OwnershipRule, Recipe, RowHold};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "shedlock-jdbc",
    summary: "ShedLock: a row with the name of its host, and a time after which it is over.",
    source: "ShedLock 7.0, JdbcTemplateLockProvider, SqlStatementsSource (usingDbTime)",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::of_row(|row| {
        let (host, locked_at) = (row.text("locked_by")?, row.time("locked_at")?);
        Some(RowHold {
            identity: format!("{host} at {locked_at}").into(),
            expires: row.time("lock_until"),
        })
    }),
    requests: &[RequestKind::Insert, RequestKind::Update],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: None,
        table: Some(&TABLE),
        build: &|source, env, lock| Box::new(ShedLock::new(source, env, lock, true)),
    }),
};

pub(super) const TABLE: LockTable = LockTable {
    name: "shedlock",
    columns: &["name", "lock_until", "locked_at", "locked_by"],
    row: no_row,
};

pub(super) struct ShedLock {
    session: Session,
    env: Env,
    lock: SqlLock,
    /// Whether the row is known to be there.
    registered: bool,
    /// Step 4 as it is, or without a look at `locked_by`.
    checks_host: bool,
}

impl ShedLock {
    pub(super) fn new(source: DataSource, env: Env, lock: SqlLock, checks_host: bool) -> Self {
        Self {
            session: Session::new(source),
            env,
            lock,
            registered: false,
            checks_host,
        }
    }

    /// Whether the row is ours by one of the two statements.
    async fn try_lock(&mut self) -> SqlResult<bool> {
        let (name, host) = (text(&self.lock.name), text(&self.env.host()));
        let until = clock_timestamp().plus(interval(self.lock.lease));
        if !self.registered {
            let row = [
                ("name", name.clone()),
                ("lock_until", until.clone()),
                ("locked_at", clock_timestamp()),
                ("locked_by", host.clone()),
            ];
            let row = Insert::into("shedlock", row).on_conflict(OnConflict::DoNothing);
            let inserted = self.session.execute(row).await?; // Step 1.
            self.registered = true;
            if inserted.count == 1 {
                return Ok(true);
            }
        }
        let row = [
            ("lock_until", until),
            ("locked_at", clock_timestamp()),
            ("locked_by", host),
        ];
        let over = Update::of("shedlock", row)
            .and(col("name").equals(name))
            .and(col("lock_until").at_most(clock_timestamp()));
        Ok(self.session.execute(over).await?.count > 0) // Step 2.
    }
}

#[async_trait(?Send)]
impl Lock for ShedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        while !self.try_lock().await.map_err(seen)? {
            self.env.sleep(POLL).await;
        }
        Ok(Held::at(self.lock.name.clone()))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let unlock = Update::of("shedlock", [("lock_until", clock_timestamp())])
            .and(col("name").equals(text(&self.lock.name)));
        let unlock = match self.checks_host {
            true => unlock.and(col("locked_by").equals(text(&self.env.host()))),
            false => unlock,
        };
        self.session.execute(unlock).await.map(drop).map_err(seen) // Step 4.
    }

    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }
}
