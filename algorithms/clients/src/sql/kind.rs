//! The kind of request that a statement is, for faults that wait for one.

use super::{Delete, Expr, Function, Insert, Select, Statement, Update};
use crate::RequestKind;

impl Statement {
    /// Its kind.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Begin(_) => RequestKind::Begin,
            Self::Commit | Self::CommitPrepared(_) => RequestKind::Commit,
            Self::Rollback | Self::RollbackPrepared(_) => RequestKind::Rollback,
            Self::Select(select) => select.kind(),
            Self::Insert(_) => RequestKind::Insert,
            Self::Update(_) => RequestKind::Update,
            Self::Delete(_) => RequestKind::DeleteRows,
            Self::Savepoint(_)
            | Self::RollbackTo(_)
            | Self::Release(_)
            | Self::LockTable(..)
            | Self::Set { .. }
            | Self::Show(_)
            | Self::ResetAll
            | Self::DiscardAll
            | Self::SetIsolation(_)
            | Self::PrepareTransaction(_)
            | Self::Kill { .. }
            | Self::Batch(_) => RequestKind::OtherStatement,
        }
    }
}

impl Select {
    fn kind(&self) -> RequestKind {
        let function = self.items.iter().find_map(|item| match item {
            Expr::Function(function) => Some(function),
            _ => None,
        });
        match function {
            Some(Function::AdvisoryLock(which, _)) if which.tries => RequestKind::TryAdvisoryLock,
            Some(Function::AdvisoryLock(..)) => RequestKind::AdvisoryLock,
            Some(Function::AdvisoryUnlock { .. } | Function::AdvisoryUnlockAll) => {
                RequestKind::AdvisoryUnlock
            }
            Some(Function::GetLock(..)) => RequestKind::GetLock,
            Some(Function::ReleaseLock(_) | Function::ReleaseAllLocks) => RequestKind::ReleaseLock,
            Some(
                Function::IsFreeLock(_)
                | Function::IsUsedLock(_)
                | Function::CancelBackend(_)
                | Function::TerminateBackend(_)
                | Function::Sleep(_),
            ) => RequestKind::OtherStatement,
            None if self.locking.is_some() => RequestKind::SelectForUpdate,
            None => RequestKind::Select,
        }
    }
}

macro_rules! statements {
    ($($statement:ident,)+) => {
        $(impl From<$statement> for Statement {
            fn from(statement: $statement) -> Self {
                Self::$statement(statement)
            }
        })+
    };
}

statements! {
    Select,
    Insert,
    Update,
    Delete,
}
