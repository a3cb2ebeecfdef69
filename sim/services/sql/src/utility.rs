//! Statements about transactions, settings, and sessions (PostgreSQL's `utility.c`).

use std::rc::Rc;

use picklock_clients::sql::{
    CommandTag, Dialect, ErrorCode, IsolationLevel, Notice, QueryResult, Setting, SettingValue,
    Statement, TableLockMode, Value,
};
use picklock_machines::ConnectionId;

use crate::lock_manager::Scope;
use crate::session::{Done, Scanned, Session};
use crate::state::Instance;

fn done(tag: CommandTag) -> QueryResult {
    QueryResult {
        tag,
        count: 0,
        rows: Vec::new(),
    }
}

fn in_block(s: &Session) -> bool {
    s.transaction
        .as_ref()
        .is_some_and(|transaction| transaction.is_block)
}

impl Instance {
    /// Executes a statement, and commits it if it is a transaction by itself.
    pub fn run_statement(&mut self, s: &mut Session) -> Done<QueryResult> {
        if s.run.answer.is_none()
            && let Some(statement) = s.run.statement.clone()
        {
            s.run.answer = Some(match &*statement {
                Statement::Batch(all) => self.run_batch(s, all)?,
                one => self.execute(s, one)?,
            });
        }
        if s.transaction.is_some() && !in_block(s) || s.run.lsn.is_some() {
            self.commit(s)?;
        }
        Ok(s.run.answer.take().unwrap_or(done(CommandTag::Select)))
    }

    fn run_batch(&mut self, s: &mut Session, all: &[Statement]) -> Done<QueryResult> {
        let mut last = done(CommandTag::Select);
        while let Some(one) = all.get(s.run.step) {
            last = self.execute(s, one)?;
            s.run.step += 1;
            s.next_row();
            s.run.scan = Scanned::default();
        }
        Ok(last)
    }

    fn execute(&mut self, s: &mut Session, statement: &Statement) -> Done<QueryResult> {
        let has_failed = s
            .transaction
            .as_ref()
            .is_some_and(|transaction| transaction.failed);
        let ends = matches!(
            statement,
            Statement::Commit | Statement::Rollback | Statement::RollbackTo(_)
        );
        if has_failed && !ends {
            return Err(ErrorCode::InFailedSqlTransaction.into());
        }
        let is_of_block = matches!(
            statement,
            Statement::Savepoint(_) | Statement::RollbackTo(_) | Statement::Release(_)
        );
        if is_of_block && self.settings.dialect == Dialect::Postgres && !in_block(s) {
            return Err(ErrorCode::NoActiveSqlTransaction.into());
        }
        Ok(done(match statement {
            Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_) => return self.execute_rows(s, statement),
            Statement::Batch(all) => return self.run_batch(s, all),
            Statement::Show(setting) => return Ok(show(s, *setting)),
            Statement::Begin(_)
            | Statement::Commit
            | Statement::Rollback
            | Statement::Savepoint(_)
            | Statement::RollbackTo(_)
            | Statement::Release(_)
            | Statement::PrepareTransaction(_)
            | Statement::CommitPrepared(_)
            | Statement::RollbackPrepared(_) => self.transaction_statement(s, statement)?,
            Statement::LockTable(table, mode) => self.lock_table(s, table, *mode)?,
            Statement::Set {
                setting,
                value,
                local,
            } => self.set(s, *setting, *value, *local),
            Statement::SetIsolation(isolation) => {
                s.isolation = *isolation;
                CommandTag::Set
            }
            Statement::ResetAll => self.reset_all(s),
            Statement::DiscardAll if in_block(s) => {
                return Err(ErrorCode::ActiveSqlTransaction.into());
            }
            Statement::DiscardAll => {
                self.release_where(s.me, |_, held| held.scope == Scope::Session);
                self.reset_all(s);
                CommandTag::DiscardAll
            }
            Statement::Kill { query, pid } => match self.kill(*pid, *query) {
                true => CommandTag::Kill,
                false => return Err(ErrorCode::NoSuchThread.into()),
            },
        }))
    }

    fn transaction_statement(
        &mut self,
        s: &mut Session,
        statement: &Statement,
    ) -> Done<CommandTag> {
        Ok(match statement {
            Statement::Begin(isolation) => self.begin(s, *isolation)?,
            Statement::Commit => self.commit_statement(s)?,
            Statement::Rollback => {
                self.in_block_or_notice(s);
                self.rollback(s);
                CommandTag::Rollback
            }
            Statement::Savepoint(name) => {
                self.savepoint(s, Some(name));
                CommandTag::Savepoint
            }
            Statement::RollbackTo(name) => {
                self.rollback_to(s, name)?;
                CommandTag::Rollback
            }
            Statement::Release(name) => {
                self.release_savepoint(s, name)?;
                CommandTag::Release
            }
            Statement::PrepareTransaction(gid) => {
                if !in_block(s) {
                    return Err(ErrorCode::NoActiveSqlTransaction.into());
                }
                self.prepare_transaction(s, gid)?;
                CommandTag::PrepareTransaction
            }
            Statement::CommitPrepared(gid) => {
                self.finish_prepared(s, gid, true)?;
                CommandTag::CommitPrepared
            }
            Statement::RollbackPrepared(gid) => {
                self.finish_prepared(s, gid, false)?;
                CommandTag::RollbackPrepared
            }
            _ => return Err(ErrorCode::SyntaxError.into()),
        })
    }

    fn begin(&mut self, s: &mut Session, isolation: Option<IsolationLevel>) -> Done<CommandTag> {
        match self.settings.dialect {
            Dialect::Postgres if in_block(s) => s.run.notices.push(Notice::TransactionInProgress),
            Dialect::MySql if in_block(s) || s.run.lsn.is_some() => {
                self.commit(s)?;
                s.run.lsn = None;
            }
            Dialect::Postgres | Dialect::MySql => {}
        }
        let transaction = self.transaction(s);
        transaction.is_block = true;
        if let Some(isolation) = isolation {
            let is_late = transaction.has_looked || transaction.level() > 0;
            if transaction.isolation != isolation && is_late {
                return Err(ErrorCode::ActiveSqlTransaction.into());
            }
            transaction.isolation = isolation;
        }
        Ok(CommandTag::Begin)
    }

    /// Whether there is a transaction that can be ended. If there is none, PostgreSQL says so.
    fn in_block_or_notice(&self, s: &mut Session) -> bool {
        if !in_block(s) && self.settings.dialect == Dialect::Postgres {
            s.run.notices.push(Notice::NoTransaction);
        }
        in_block(s)
    }

    fn commit_statement(&mut self, s: &mut Session) -> Done<CommandTag> {
        if s.run.lsn.is_none() && !self.in_block_or_notice(s) {
            return Ok(CommandTag::Commit);
        }
        if s.transaction
            .as_ref()
            .is_some_and(|transaction| transaction.failed)
        {
            self.rollback(s);
            return Ok(CommandTag::Rollback);
        }
        self.commit(s)?;
        s.run.lsn = None;
        Ok(CommandTag::Commit)
    }

    fn lock_table(
        &mut self,
        s: &mut Session,
        table: &str,
        mode: TableLockMode,
    ) -> Done<CommandTag> {
        if !in_block(s) {
            return Err(ErrorCode::NoActiveSqlTransaction.into());
        }
        let table = self.table(table)?;
        self.lock_relation(s, table, mode)?;
        Ok(CommandTag::LockTable)
    }

    fn set(
        &self,
        s: &mut Session,
        setting: Setting,
        value: SettingValue,
        local: bool,
    ) -> CommandTag {
        if local && !in_block(s) {
            s.run.notices.push(Notice::SetLocalOutsideTransaction);
            return CommandTag::Set;
        }
        s.settings.assign(setting, value);
        if let Some(transaction) = s.transaction.as_mut().filter(|_| !local) {
            transaction.settings.1.assign(setting, value);
            if self.settings.dialect == Dialect::MySql {
                transaction.settings.0.assign(setting, value);
            }
            if (setting, value) == (Setting::Autocommit, SettingValue::On(true)) {
                transaction.is_block = false;
            }
        }
        CommandTag::Set
    }

    fn reset_all(&self, s: &mut Session) -> CommandTag {
        s.settings = self.settings.session;
        if let Some(transaction) = &mut s.transaction {
            transaction.settings.1 = self.settings.session;
        }
        CommandTag::Reset
    }

    /// Ends a session, or only its statement. Answers whether there is such a session.
    pub fn kill(&mut self, pid: u32, only_query: bool) -> bool {
        let session = ConnectionId(pid);
        let is_there = self.sessions.contains_key(&session);
        match only_query {
            true => self.interrupt(session, self.profile.canceled),
            false => self.terminate(session),
        }
        is_there
    }
}

fn show(s: &Session, setting: Setting) -> QueryResult {
    let millis = s.settings.time(setting).as_millis();
    let text: Rc<str> = match millis {
        0 => "0".into(),
        _ if millis.is_multiple_of(1_000) => format!("{}s", millis / 1_000).into(),
        _ => format!("{millis}ms").into(),
    };
    QueryResult {
        rows: vec![vec![Value::Text(text)]],
        ..done(CommandTag::Show)
    }
}
