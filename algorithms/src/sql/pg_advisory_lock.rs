//! An advisory lock of a session: the server keeps a queue, and the end of the connection gives the lock back.
//!
//! # Source
//!
//! PostgreSQL 15 manual, 13.3.5 "Advisory Locks"; session level.
//!
//! # Steps
//!
//! 1. A connection of our own.
//! 2. `SELECT pg_advisory_lock(key)`: answered when we hold the lock.
//! 3. Release: `SELECT pg_advisory_unlock(key)` by the same connection, and read the answer: `false` says that we held
//!    nothing.
//! 4. On doubt close the connection: after an error a lock may be held all the same.
//!
//! # Guarantees
//!
//! - While the connection stands no other session holds the lock, and no clock ends it.
//! - The end of the process ends the connection, and the lock with it.
//!
//! # Hazards
//!
//! - A holder that does not watch its connection works on when that is gone, and the lock with it. This recipe hears of
//!   the end of the connection.
//! - The server may end the session of a holder that stands still or hears nothing (`idle_session_timeout`, or a
//!   crash).
//! - A backend that waits does not look whether its client is there: it is granted the lock in its turn, and gives it
//!   back when it has read the end of the connection.

use async_trait::async_trait;

use super::session::Session;
use super::{OverSql, POSTGRES, SqlLock, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{AdvisoryLock, DataSource, Function, Statement, Value};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "pg-advisory-lock",
    summary: "An advisory lock of a session, which waits for its turn at the server.",
    source: "PostgreSQL 15 manual, 13.3.5 Advisory Locks",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::SESSION,
    requests: &[RequestKind::AdvisoryLock, RequestKind::AdvisoryUnlock],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverSql {
        databases: POSTGRES,
        table: None,
        build: &|source, _, lock| Box::new(SessionLock::new(source, lock)),
    }),
};

struct SessionLock {
    session: Session,
    lock: SqlLock,
}

impl SessionLock {
    fn new(source: DataSource, lock: SqlLock) -> Self {
        let session = Session::new(source);
        Self { session, lock }
    }
}

/// Releases an advisory lock of the session.
pub(super) async fn unlock(session: &mut Session, key: i64) -> Result<(), LockError> {
    let unlock = Statement::call(Function::advisory_unlock(key));
    let answer = session.execute_held(unlock).await.map_err(seen)?;
    match answer.value().is_some_and(Value::is_true) {
        true => Ok(()),
        false => Err(LockError::NotHeld),
    }
}

#[async_trait(?Send)]
impl Lock for SessionLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let key = self.lock.id;
        let lock = Statement::call(Function::advisory(AdvisoryLock::default(), key));
        if let Err(error) = self.session.execute(lock).await {
            self.session.close(); // Step 4.
            return Err(seen(error));
        }
        Ok(Held::at(self.lock.name.clone()))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let released = unlock(&mut self.session, self.lock.id).await; // Step 3.
        if released.is_err() {
            self.session.close(); // Step 4.
        }
        released
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.session.closed().await
    }
}
