//! A dedicated connection: the session that a lock is held by.

use std::future::pending;

use crate::LockError;
use crate::clients::sql::{
    Connection, DataSource, QueryResult, Severity, SqlError, SqlResult, Statement,
};

/// A connection that no other code has, and where to get another.
pub(super) struct Session {
    source: DataSource,
    connection: Option<Connection>,
}

impl Session {
    /// Of this source, without a connection so far.
    pub(super) fn new(source: DataSource) -> Self {
        Self {
            source,
            connection: None,
        }
    }

    /// Executes a statement, by a new connection if there is none. The connection is closed if the statement is given
    /// up, or no answer of the server comes.
    pub(super) async fn execute(
        &mut self,
        statement: impl Into<Statement>,
    ) -> SqlResult<QueryResult> {
        let connection = match self.take() {
            Some(connection) => connection,
            None => self.source.connect().await?,
        };
        self.execute_by(connection, statement.into()).await
    }

    /// Executes a statement by the connection that there is.
    pub(super) async fn execute_held(
        &mut self,
        statement: impl Into<Statement>,
    ) -> SqlResult<QueryResult> {
        match self.take() {
            Some(connection) => self.execute_by(connection, statement.into()).await,
            None => Err(SqlError::NotConnected),
        }
    }

    async fn execute_by(
        &mut self,
        connection: Connection,
        statement: Statement,
    ) -> SqlResult<QueryResult> {
        let result = connection.execute(statement).await;
        let keeps = match &result {
            Ok(_) => true,
            Err(SqlError::Server(code)) => code.severity() == Severity::Error,
            Err(_) => false,
        };
        self.connection = keeps.then_some(connection);
        result
    }

    /// Closes the connection: on doubt, and with it go the locks that it holds.
    pub(super) fn close(&mut self) {
        self.connection = None;
    }

    fn take(&mut self) -> Option<Connection> {
        let connection = self.connection.take();
        connection.filter(|connection| !connection.is_closed())
    }

    /// Resolves when the driver learns that the connection is gone.
    pub(super) async fn closed(&self) -> LockError {
        match &self.connection {
            Some(connection) => connection.closed().await,
            None => pending().await,
        }
        LockError::ConnectionLoss
    }
}
