//! Messages as traces show them.

use std::fmt::{self, Formatter, Result};

use super::display::joined;
use super::{
    ClientBody, ClientMessage, CommandTag, Dialect, QueryResult, ServerMessage, Sql, Value,
};

impl fmt::Display for ClientMessage {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match &self.body {
            ClientBody::Query(statement) => Sql(self.dialect, statement).fmt(out),
            ClientBody::Cancel(pid) => write!(out, "cancel request for {pid}"),
            ClientBody::Terminate => out.write_str("terminate"),
        }
    }
}

impl CommandTag {
    const fn words(self) -> &'static str {
        match self {
            Self::Begin => "BEGIN",
            Self::Commit => "COMMIT",
            Self::Rollback => "ROLLBACK",
            Self::Savepoint => "SAVEPOINT",
            Self::Release => "RELEASE",
            Self::Select => "SELECT",
            Self::Insert => "INSERT 0",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::LockTable => "LOCK TABLE",
            Self::Set => "SET",
            Self::Show => "SHOW",
            Self::Reset => "RESET",
            Self::DiscardAll => "DISCARD ALL",
            Self::PrepareTransaction => "PREPARE TRANSACTION",
            Self::CommitPrepared => "COMMIT PREPARED",
            Self::RollbackPrepared => "ROLLBACK PREPARED",
            Self::Kill => "KILL",
        }
    }

    /// Whether a number of rows belongs to it.
    const fn counts(self) -> bool {
        matches!(
            self,
            Self::Select | Self::Insert | Self::Update | Self::Delete
        )
    }
}

impl QueryResult {
    /// The tag as `CommandComplete` has it: `INSERT 0 1`.
    pub fn command(&self) -> String {
        match self.tag.counts() {
            true => format!("{} {}", self.tag.words(), self.count),
            false => self.tag.words().to_owned(),
        }
    }
}

impl fmt::Display for QueryResult {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        out.write_str(&self.command())?;
        for row in &self.rows {
            write!(out, " {}", Values(row))?;
        }
        Ok(())
    }
}

struct Values<'a>(&'a [Value]);

impl fmt::Display for Values<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        out.write_str("(")?;
        joined(out, ", ", Dialect::Postgres, self.0)?;
        out.write_str(")")
    }
}

impl fmt::Display for ServerMessage {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match &self.result {
            Ok(result) => result.fmt(out)?,
            Err(code) => write!(out, "error {}: {}", code.code(), code.message())?,
        }
        for notice in &self.notices {
            write!(out, "; warning: {}", notice.message())?;
        }
        Ok(())
    }
}
