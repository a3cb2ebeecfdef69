//! An advisory lock of a session that is tried again and again.
//!
//! # Source
//!
//! PostgreSQL 15 manual, 13.3.5 "Advisory Locks", `pg_try_advisory_lock`; Flyway and with_advisory_lock ask so.
//!
//! # Steps
//!
//! 1. A connection of our own.
//! 2. `SELECT pg_try_advisory_lock(key)`. If it answers `true`, we hold the lock. If not, again a tenth of a second
//!    later.
//! 3. Release as [`super::pg_advisory_lock`].
//!
//! # Guarantees
//!
//! - Those of [`super::pg_advisory_lock`]. No backend waits, so none is left behind by a client that
//!   is gone.
//!
//! # Hazards
//!
//! - There is no order, and a contender may come away empty for as long as others come.

use async_trait::async_trait;

use super::pg_advisory_lock::{self, unlock};
use super::session::Session;
use super::{OverSql, POLL, POSTGRES, SqlLock, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{AdvisoryLock, DataSource, Function, Statement, Value};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "pg-try-advisory-lock",
    summary: "An advisory lock of a session that is tried until it is free.",
    source: "PostgreSQL 15 manual, 13.3.5 Advisory Locks: pg_try_advisory_lock",
    requests: &[RequestKind::TryAdvisoryLock, RequestKind::AdvisoryUnlock],
    build: Build::Other(&OverSql {
        databases: POSTGRES,
        table: None,
        build: &|source, env, lock| Box::new(TriedLock::new(source, env, lock)),
    }),
    ..pg_advisory_lock::RECIPE
};

struct TriedLock {
    session: Session,
    env: Env,
    lock: SqlLock,
}

impl TriedLock {
    fn new(source: DataSource, env: Env, lock: SqlLock) -> Self {
        let session = Session::new(source);
        Self { session, env, lock }
    }
}

#[async_trait(?Send)]
impl Lock for TriedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let which = AdvisoryLock {
            tries: true,
            ..AdvisoryLock::default()
        };
        loop {
            let lock = Statement::call(Function::advisory(which, self.lock.id));
            match self.session.execute(lock).await {
                Ok(answer) if answer.value().is_some_and(Value::is_true) => {
                    return Ok(Held::at(self.lock.name.clone()));
                }
                Ok(_) => self.env.sleep(POLL).await,
                Err(error) => {
                    self.session.close();
                    return Err(seen(error));
                }
            }
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let released = unlock(&mut self.session, self.lock.id).await;
        if released.is_err() {
            self.session.close();
        }
        released
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.session.closed().await
    }
}
