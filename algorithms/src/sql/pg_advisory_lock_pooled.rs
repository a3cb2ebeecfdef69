//! An advisory lock of a session over a pool of connections: each statement has another session.
//!
//! # Source
//!
//! PgBouncer, features: session-level advisory locks do not work in transaction mode; golang-migrate 446 and 960.
//!
//! # Steps
//!
//! 1. Draw a connection from the pool, `SELECT pg_try_advisory_lock(key)`, and put it back. If it answers `true`, we
//!    hold the lock. If not, again a tenth of a second later.
//! 2. Release: draw a connection from the pool, `SELECT pg_advisory_unlock(key)`, and put it back.
//!
//! # Guarantees
//!
//! - None: the lock is that of a session, and which session a statement has the pool decides.
//!
//! # Hazards
//!
//! - Another connection unlocks nothing: the answer is `false`, with a warning, and the session in the pool keeps the
//!   lock (scenario `sql/pool`).

use std::collections::VecDeque;
use std::future::pending;

use async_trait::async_trait;

use super::pg_try_advisory_lock;
use super::{OverSql, POLL, POSTGRES, SqlLock, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{
    AdvisoryLock, Connection, DataSource, Function, SqlResult, Statement, Value,
};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "pg-advisory-lock-pooled",
    summary: "An advisory lock of a session, by whichever connection a pool gives.",
    source: "PgBouncer, features: session-level advisory locks in transaction mode",
    flaw: Some("the unlock goes by another connection than the lock"),
    requests: &[RequestKind::TryAdvisoryLock, RequestKind::AdvisoryUnlock],
    build: Build::Other(&OverSql {
        databases: POSTGRES,
        table: None,
        build: &|source, env, lock| Box::new(PooledLock::new(source, env, lock)),
    }),
    ..pg_try_advisory_lock::RECIPE
};

/// How many connections the pool has.
const POOL: usize = 2;

struct PooledLock {
    source: DataSource,
    env: Env,
    lock: SqlLock,
    /// The connection that was used longest ago comes first.
    pool: VecDeque<Connection>,
}

impl PooledLock {
    fn new(source: DataSource, env: Env, lock: SqlLock) -> Self {
        Self {
            source,
            env,
            lock,
            pool: VecDeque::new(),
        }
    }

    /// Whether a function answers `true`, by the next connection of the pool.
    async fn is_true(&mut self, function: Function) -> SqlResult<bool> {
        self.pool.retain(|connection| !connection.is_closed());
        while self.pool.len() < POOL {
            let connection = self.source.connect().await?;
            self.pool.push_back(connection);
        }
        let Some(connection) = self.pool.pop_front() else {
            return Ok(false);
        };
        let answer = connection.execute(Statement::call(function)).await?;
        self.pool.push_back(connection);
        Ok(answer.value().is_some_and(Value::is_true))
    }
}

#[async_trait(?Send)]
impl Lock for PooledLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let which = AdvisoryLock {
            tries: true,
            ..AdvisoryLock::default()
        };
        loop {
            let lock = Function::advisory(which, self.lock.id);
            if self.is_true(lock).await.map_err(seen)? {
                return Ok(Held::at(self.lock.name.clone()));
            }
            self.env.sleep(POLL).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let unlock = Function::advisory_unlock(self.lock.id);
        self.is_true(unlock).await.map(drop).map_err(seen)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        pending().await
    }
}
