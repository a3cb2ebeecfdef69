//! A lock with a name, which a connection holds: `GET_LOCK`.
//!
//! # Source
//!
//! MySQL 8.0 reference manual, 14.14 "Locking Functions"; MariaDB, `GET_LOCK`.
//!
//! # Steps
//!
//! 1. A connection of our own.
//! 2. `SELECT GET_LOCK(name, 10)`. If it answers 1, we hold the lock. If 0, the time was over: again. `NULL` is an
//!    error.
//! 3. Release: `SELECT RELEASE_LOCK(name)` by the same connection, and read the answer: 0 and `NULL` say that we held
//!    nothing.
//! 4. On doubt close the connection.
//!
//! # Guarantees
//!
//! - While the connection stands no other one holds the lock, and no clock ends it.
//! - The end of the process ends the connection, and the lock with it.
//!
//! # Hazards
//!
//! - The server ends a session that is idle for `wait_timeout`; a pool that connects again says nothing of it. This
//!   recipe hears of the end of the connection.
//! - A contender whose time is over queues up again, behind others: no order.

use std::time::Duration;

use async_trait::async_trait;

use super::session::Session;
use super::{MYSQL, OverSql, SqlLock, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{DataSource, Function, Statement, Value};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "mysql-get-lock",
    summary: "A lock with a name that a connection holds, and that waits for its turn at the server.",
    source: "MySQL 8.0 reference manual, 14.14 Locking Functions",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::SESSION,
    requests: &[RequestKind::GetLock, RequestKind::ReleaseLock],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: MYSQL,
        table: None,
        build: &|source, _, lock| Box::new(GetLock::new(source, lock)),
    }),
};

/// How long one call waits.
const TIMEOUT: Duration = Duration::from_secs(10);

struct GetLock {
    session: Session,
    lock: SqlLock,
}

impl GetLock {
    fn new(source: DataSource, lock: SqlLock) -> Self {
        let session = Session::new(source);
        Self { session, lock }
    }

    /// Whether a call answers 1.
    async fn asks(&mut self) -> Result<bool, LockError> {
        let lock = Statement::call(Function::get_lock(&self.lock.name, TIMEOUT));
        let answer = self.session.execute(lock).await.map_err(seen)?;
        match answer.value().and_then(Value::as_int) {
            Some(1) => Ok(true),
            Some(_) => Ok(false),
            None => Err(LockError::Refused),
        }
    }

    async fn gives_back(&mut self) -> Result<(), LockError> {
        let release = Statement::call(Function::release_lock(&self.lock.name));
        let answer = self.session.execute_held(release).await.map_err(seen)?;
        match answer.value().and_then(Value::as_int) {
            Some(1) => Ok(()),
            Some(_) | None => Err(LockError::NotHeld),
        }
    }
}

#[async_trait(?Send)]
impl Lock for GetLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            match self.asks().await {
                Ok(true) => return Ok(Held::at(self.lock.name.clone())),
                Ok(false) => {} // Step 2, again.
                Err(error) => {
                    self.session.close(); // Step 4.
                    return Err(error);
                }
            }
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let released = self.gives_back().await; // Step 3.
        if released.is_err() {
            self.session.close(); // Step 4.
        }
        released
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.session.closed().await
    }
}
