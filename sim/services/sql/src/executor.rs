//! The execution of statements, which can stop wherever it must wait, and goes on from there.

use std::rc::Rc;

use picklock_clients::sql::{
    CommandTag, Dialect, ErrorCode, Expr, IsolationLevel, Notice, QueryResult, RowLocking,
    RowStrength, Select, Setting, SettingValue, Statement, TableLockMode, Value, WaitPolicy,
};

use crate::backend::Running;
use crate::expression::RowContext;
use crate::heap::{Row, Snapshot, TupleId};
use crate::io::{Locked, Output};
use crate::lock_manager::Mode;
use crate::lock_manager::{Scope, Tag};
use crate::server::Server;

/// Why a statement does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It has failed.
    Error(ErrorCode),
    /// It waits for what its session says.
    Wait,
    /// It lets others go first.
    Yield,
}

impl From<ErrorCode> for Stop {
    fn from(code: ErrorCode) -> Self {
        Self::Error(code)
    }
}

/// How far a statement is with the rows that it looks at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanned {
    pub snapshot: Option<Snapshot>,
    pub candidates: Option<Vec<TupleId>>,
    pub at: usize,
    /// The conditions have been looked at, and the rows sorted.
    is_sorted: bool,
    pub rows: Vec<Vec<Value>>,
    pub count: u64,
    /// What it does can be undone by itself.
    has_level: bool,
}

/// What is done with each row.
#[derive(Clone, Copy)]
pub(crate) enum Action<'s> {
    Answer(&'s [Expr]),
    Update(&'s [(&'static str, Expr)], &'s [Expr]),
    Delete(&'s [Expr]),
}

/// A look at the rows of a table.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'s> {
    pub table: usize,
    pub filter: &'s [Expr],
    pub order_by: Option<picklock_clients::sql::OrderBy>,
    pub limit: usize,
    pub locking: Option<RowLocking>,
    pub action: Action<'s>,
}

fn done(tag: CommandTag) -> QueryResult {
    QueryResult {
        tag,
        count: 0,
        rows: Vec::new(),
    }
}

impl Server {
    /// Executes a statement, and commits it if it is a transaction by itself.
    pub(crate) fn run_statement(&mut self, run: &mut Running) -> Result<QueryResult, Stop> {
        let statement = Rc::clone(&run.statement);
        if run.answer.is_none() {
            let answer = match &*statement {
                Statement::Batch(all) => self.run_batch(run, all)?,
                one => self.execute(run, one)?,
            };
            run.answer = Some(answer);
        }
        let transaction = self
            .backends
            .get(&run.me)
            .and_then(|backend| backend.transaction.as_ref());
        let is_over = transaction.is_some_and(|transaction| !transaction.is_block);
        if is_over || run.lsn.is_some() {
            self.commit(run)?;
        }
        Ok(run.answer.take().unwrap_or(done(CommandTag::Select)))
    }

    fn run_batch(&mut self, run: &mut Running, all: &[Statement]) -> Result<QueryResult, Stop> {
        let mut last = done(CommandTag::Select);
        while let Some(one) = all.get(run.step) {
            last = self.execute(run, one)?;
            run.step += 1;
            run.scan = Scanned::default();
            run.memo.clear();
            run.memo_at = 0;
        }
        Ok(last)
    }

    fn execute(&mut self, run: &mut Running, statement: &Statement) -> Result<QueryResult, Stop> {
        let me = run.me;
        let transaction = self
            .backends
            .get(&me)
            .and_then(|backend| backend.transaction.as_ref());
        let has_failed = transaction.is_some_and(|transaction| transaction.failed);
        let ends = matches!(
            statement,
            Statement::Commit | Statement::Rollback | Statement::RollbackTo(_)
        );
        if has_failed && !ends {
            return Err(ErrorCode::InFailedSqlTransaction.into());
        }
        let tag = match statement {
            Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_) => return self.execute_rows(run, statement),
            Statement::Batch(all) => return self.run_batch(run, all),
            Statement::Show(setting) => return Ok(self.show(run, *setting)),
            Statement::Begin(isolation) => self.begin(run, *isolation)?,
            Statement::Commit => self.commit_statement(run)?,
            Statement::Rollback => self.rollback_statement(run),
            Statement::Savepoint(name) => {
                self.savepoint(me, Some(name));
                CommandTag::Savepoint
            }
            Statement::RollbackTo(name) => {
                self.rollback_to(me, name)?;
                CommandTag::Rollback
            }
            Statement::Release(name) => {
                self.release_savepoint(me, name)?;
                CommandTag::Release
            }
            Statement::LockTable(table, mode) => {
                self.lock_table(run, table, *mode)?;
                CommandTag::LockTable
            }
            Statement::Set {
                setting,
                value,
                local,
            } => self.set(run, *setting, *value, *local),
            Statement::SetIsolation(isolation) => {
                if let Some(backend) = self.backends.get_mut(&me) {
                    backend.isolation = *isolation;
                }
                CommandTag::Set
            }
            Statement::ResetAll => self.reset_all(run),
            Statement::DiscardAll => {
                if self.in_block(run) {
                    return Err(ErrorCode::ActiveSqlTransaction.into());
                }
                self.release_where(me, |_, held| held.scope == Scope::Session);
                self.reset_all(run);
                CommandTag::DiscardAll
            }
            Statement::PrepareTransaction(gid) => {
                if !self.in_block(run) && run.lsn.is_none() {
                    return Err(ErrorCode::NoActiveSqlTransaction.into());
                }
                self.prepare_transaction(run, gid)?;
                CommandTag::PrepareTransaction
            }
            Statement::CommitPrepared(gid) => {
                self.finish_prepared(run, gid, true)?;
                CommandTag::CommitPrepared
            }
            Statement::RollbackPrepared(gid) => {
                self.finish_prepared(run, gid, false)?;
                CommandTag::RollbackPrepared
            }
            Statement::Kill { query, pid } => {
                self.kill(*pid, *query)?;
                CommandTag::Kill
            }
        };
        Ok(done(tag))
    }

    pub(crate) fn in_block(&self, run: &Running) -> bool {
        let transaction = self
            .backends
            .get(&run.me)
            .and_then(|backend| backend.transaction.as_ref());
        transaction.is_some_and(|transaction| transaction.is_block)
    }

    fn notice_of_postgres(&self, run: &mut Running, notice: Notice) {
        if self.settings.dialect == Dialect::Postgres {
            run.notices.push(notice);
        }
    }

    fn begin(
        &mut self,
        run: &mut Running,
        isolation: Option<IsolationLevel>,
    ) -> Result<CommandTag, Stop> {
        if self.in_block(run) || run.lsn.is_some() {
            match self.settings.dialect {
                Dialect::Postgres => run.notices.push(Notice::TransactionInProgress),
                Dialect::MySql => self.commit(run)?,
            }
        }
        let (began, default) = (
            run.began,
            self.backends.get(&run.me).map(|backend| backend.isolation),
        );
        let transaction = self.transaction(run.me);
        if !transaction.is_block {
            transaction.is_block = true;
            transaction.began = began;
        }
        if let Some(isolation) = isolation.or(default.filter(|_| transaction.xids.is_empty())) {
            transaction.isolation = isolation;
        }
        Ok(CommandTag::Begin)
    }

    fn commit_statement(&mut self, run: &mut Running) -> Result<CommandTag, Stop> {
        if run.lsn.is_none() && !self.in_block(run) {
            self.notice_of_postgres(run, Notice::NoTransaction);
            return Ok(CommandTag::Commit);
        }
        if self.transaction(run.me).failed {
            self.rollback(run.me);
            return Ok(CommandTag::Rollback);
        }
        self.commit(run)?;
        Ok(CommandTag::Commit)
    }

    fn rollback_statement(&mut self, run: &mut Running) -> CommandTag {
        if !self.in_block(run) {
            self.notice_of_postgres(run, Notice::NoTransaction);
        }
        self.rollback(run.me);
        CommandTag::Rollback
    }

    fn lock_table(
        &mut self,
        run: &mut Running,
        table: &str,
        mode: TableLockMode,
    ) -> Result<(), Stop> {
        if !self.in_block(run) {
            return Err(ErrorCode::NoActiveSqlTransaction.into());
        }
        let table = self.table(table)?;
        let name = self.heap.tables[table].name;
        self.lock_relation(run, name, mode)
    }

    fn set(
        &mut self,
        run: &mut Running,
        setting: Setting,
        value: SettingValue,
        local: bool,
    ) -> CommandTag {
        if local && !self.in_block(run) {
            run.notices.push(Notice::SetLocalOutsideTransaction);
            return CommandTag::Set;
        }
        let is_transactional = self.settings.dialect == Dialect::Postgres;
        let Some(backend) = self.backends.get_mut(&run.me) else {
            return CommandTag::Set;
        };
        backend.settings.assign(setting, value);
        if let Some(transaction) = backend.transaction.as_mut().filter(|_| !local) {
            transaction.settings.1.assign(setting, value);
            if !is_transactional {
                transaction.settings.0.assign(setting, value);
            }
            if (setting, value) == (Setting::Autocommit, SettingValue::On(true)) {
                transaction.is_block = false;
            }
        }
        CommandTag::Set
    }

    fn reset_all(&mut self, run: &Running) -> CommandTag {
        if let Some(backend) = self.backends.get_mut(&run.me) {
            backend.settings = self.settings.session;
            if let Some(transaction) = &mut backend.transaction {
                transaction.settings.1 = self.settings.session;
            }
        }
        CommandTag::Reset
    }

    fn show(&self, run: &Running, setting: Setting) -> QueryResult {
        let settings = self.backends.get(&run.me).map(|backend| backend.settings);
        let millis = settings.map_or(0, |settings| settings.time(setting).as_millis());
        let text = match millis {
            0 => "0".to_owned(),
            _ if millis.is_multiple_of(1_000) => format!("{}s", millis / 1_000),
            _ => format!("{millis}ms"),
        };
        QueryResult {
            rows: vec![vec![Value::Text(text.into())]],
            ..done(CommandTag::Show)
        }
    }

    pub(crate) fn table(&self, name: &str) -> Result<usize, Stop> {
        self.heap
            .table(name)
            .ok_or(Stop::Error(self.profile.no_table))
    }

    /// A statement that looks at rows, or changes them. One of InnoDB can be undone by itself.
    fn execute_rows(
        &mut self,
        run: &mut Running,
        statement: &Statement,
    ) -> Result<QueryResult, Stop> {
        let writes = match statement {
            Statement::Select(select) => select.locking.is_some(),
            _ => true,
        };
        if writes && !self.is_primary() {
            return Err(self.profile.read_only.into());
        }
        if writes && self.profile.locks_records && !run.scan.has_level && self.in_block(run) {
            self.savepoint(run.me, None);
            run.scan.has_level = true;
        }
        let tag = match statement {
            Statement::Select(select) => {
                self.select(run, select)?;
                CommandTag::Select
            }
            Statement::Insert(insert) => {
                self.insert(run, insert)?;
                CommandTag::Insert
            }
            Statement::Update(update) => {
                let action = Action::Update(&update.set, &update.returning);
                self.change(run, update.table, &update.filter, action)?;
                CommandTag::Update
            }
            Statement::Delete(delete) => {
                let action = Action::Delete(&delete.returning);
                self.change(run, delete.table, &delete.filter, action)?;
                CommandTag::Delete
            }
            _ => return Err(ErrorCode::SyntaxError.into()),
        };
        if std::mem::take(&mut run.scan.has_level) {
            let level = self.transaction(run.me).level();
            self.merge_levels(run.me, level);
        }
        let rows = std::mem::take(&mut run.scan.rows);
        let count = match tag {
            CommandTag::Select => rows.len() as u64,
            _ => run.scan.count,
        };
        Ok(QueryResult { tag, count, rows })
    }

    fn change(
        &mut self,
        run: &mut Running,
        table: &str,
        filter: &[Expr],
        action: Action,
    ) -> Result<(), Stop> {
        let table = self.table(table)?;
        let key = self.heap.tables[table]
            .columns
            .first()
            .map(|(name, _)| *name);
        let strength = match action {
            Action::Update(set, _) if set.iter().all(|(column, _)| Some(*column) != key) => {
                RowStrength::NoKeyUpdate
            }
            Action::Update(..) | Action::Delete(_) | Action::Answer(_) => RowStrength::Update,
        };
        self.lock_relation(
            run,
            self.heap.tables[table].name,
            TableLockMode::RowExclusive,
        )?;
        let scan = Scan {
            table,
            filter,
            order_by: None,
            limit: usize::MAX,
            locking: Some(RowLocking {
                strength,
                wait: WaitPolicy::Block,
            }),
            action,
        };
        self.scan(run, &scan)
    }

    fn select(&mut self, run: &mut Running, select: &Select) -> Result<(), Stop> {
        let Some(table) = select.from else {
            let context = RowContext::none();
            if self.all_true(run, &context, &select.filter)? {
                let row = self.project(run, &context, &select.items)?;
                run.scan.rows.push(row);
            }
            return Ok(());
        };
        let table = self.table(table)?;
        let mut locking = select.locking;
        if self.profile.locks_records
            && self.in_block(run)
            && self.transaction(run.me).isolation == IsolationLevel::Serializable
        {
            let (strength, wait) = (RowStrength::Share, WaitPolicy::Block);
            locking = locking.or(Some(RowLocking { strength, wait }));
        }
        let mode = match locking {
            Some(_) => TableLockMode::RowShare,
            None => TableLockMode::AccessShare,
        };
        self.lock_relation(run, self.heap.tables[table].name, mode)?;
        let counts = select.items.contains(&Expr::Count);
        let limit = select.limit.filter(|_| !counts);
        let scan = Scan {
            table,
            filter: &select.filter,
            order_by: select.order_by,
            limit: limit.unwrap_or(usize::MAX),
            locking,
            action: Action::Answer(&select.items),
        };
        self.scan(run, &scan)?;
        if counts {
            let count = i64::try_from(run.scan.rows.len()).unwrap_or(i64::MAX);
            run.scan.rows = vec![vec![Value::Int(count)]];
        }
        Ok(())
    }

    /// Looks at the rows of a table, one after the other.
    fn scan(&mut self, run: &mut Running, scan: &Scan) -> Result<(), Stop> {
        if run.scan.snapshot.is_none() {
            run.scan.snapshot = Some(self.take_snapshot(run.me));
        }
        if run.scan.candidates.is_none() {
            if self.transaction(run.me).isolation == IsolationLevel::Serializable {
                let read = (scan.table, self.key_asked(scan));
                self.transaction(run.me).reads.push(read);
            }
            let found = match scan.locking {
                Some(_) if self.profile.locks_records => self.records_to_lock(run, scan)?,
                _ => self.visible_rows(run, scan),
            };
            run.scan.candidates = Some(found);
        }
        let key = self.heap.tables[scan.table]
            .columns
            .first()
            .map(|(name, _)| *name);
        let sorts = scan.order_by.is_some_and(|order| Some(order.column) != key);
        if sorts && !run.scan.is_sorted {
            self.filter_and_sort(run, scan)?;
        }
        while let Some(id) = candidate(run)
            && run.scan.rows.len() < scan.limit
        {
            run.memo_at = 0;
            if self.profile.locks_records && scan.locking.is_some() {
                self.scan_record(run, scan, id)?;
            } else {
                self.scan_tuple(run, scan, id)?;
            }
            next_row(run);
        }
        Ok(())
    }

    fn visible_rows(&self, run: &Running, scan: &Scan) -> Vec<TupleId> {
        let me = crate::lock_manager::Holder::Session(run.me);
        let snapshot = run.scan.snapshot.unwrap_or_default();
        let mut rows = self.heap.visible(scan.table, me, snapshot);
        if let Some(order) = scan.order_by {
            self.sort(&mut rows, scan.table, order);
        }
        rows
    }

    pub(crate) fn sort(
        &self,
        rows: &mut [TupleId],
        table: usize,
        order: picklock_clients::sql::OrderBy,
    ) {
        let place = self.heap.tables[table]
            .place(order.column)
            .unwrap_or_default();
        let value = |id: &TupleId| self.heap.row(table, *id).map(|row| row[place].clone());
        rows.sort_by_key(value);
        if order.descending {
            rows.reverse();
        }
    }

    /// Without an index, all conditions are looked at before the first row is taken.
    fn filter_and_sort(&mut self, run: &mut Running, scan: &Scan) -> Result<(), Stop> {
        let mut kept = Vec::new();
        while let Some(id) = candidate(run) {
            run.memo_at = 0;
            let row = self.heap.row(scan.table, id);
            let context = RowContext::of(scan.table, row.as_ref());
            if self.all_true(run, &context, scan.filter)? {
                kept.push(id);
            } else if let Some(candidates) = &mut run.scan.candidates {
                candidates.remove(run.scan.at);
                run.memo.clear();
                continue;
            }
            next_row(run);
        }
        (run.scan.at, run.scan.is_sorted) = (0, true);
        Ok(())
    }

    /// Looks at a row in PostgreSQL, or at one that is not locked.
    fn scan_tuple(&mut self, run: &mut Running, scan: &Scan, id: TupleId) -> Result<(), Stop> {
        let Some(row) = self.heap.row(scan.table, id) else {
            return Ok(());
        };
        let context = RowContext::of(scan.table, Some(&row));
        if !run.scan.is_sorted && !self.all_true(run, &context, scan.filter)? {
            return Ok(());
        }
        let Some(locking) = scan.locking else {
            return self.act(run, scan, id, &row);
        };
        let Some(at) = self.lock_tuple(run, scan.table, id, locking)? else {
            return Ok(());
        };
        if at == id {
            return self.act(run, scan, id, &row);
        }
        let Some(row) = self.heap.row(scan.table, at) else {
            return Ok(());
        };
        let context = RowContext::of(scan.table, Some(&row));
        if self.all_true(run, &context, scan.filter)? {
            self.act(run, scan, at, &row)?;
        }
        Ok(())
    }

    /// Does to a row what the statement is for.
    pub(crate) fn act(
        &mut self,
        run: &mut Running,
        scan: &Scan,
        id: TupleId,
        row: &Row,
    ) -> Result<(), Stop> {
        let context = RowContext::of(scan.table, Some(row));
        let (answered, returning) = match scan.action {
            Action::Answer(items) => (Rc::clone(row), items),
            Action::Update(set, returning) => {
                let new = self.updated(run, &context, set)?;
                let changes = new != *row;
                if changes || !self.profile.truth_is_number {
                    self.write(run, scan.table, Some(id), Some(Rc::clone(&new)))?;
                }
                let counts = changes || !self.profile.truth_is_number || self.settings.found_rows;
                run.scan.count += u64::from(counts);
                (new, returning)
            }
            Action::Delete(returning) => {
                self.write(run, scan.table, Some(id), None)?;
                run.scan.count += 1;
                (Rc::clone(row), returning)
            }
        };
        if !returning.is_empty() {
            let context = RowContext::of(scan.table, Some(&answered));
            let items = self.project(run, &context, returning)?;
            run.scan.rows.push(items);
        }
        Ok(())
    }

    /// A row with new values.
    pub(crate) fn updated(
        &mut self,
        run: &mut Running,
        context: &RowContext,
        set: &[(&'static str, Expr)],
    ) -> Result<Row, Stop> {
        let mut values = context.values();
        for (column, value) in set {
            let value = self.evaluate(run, context, value)?;
            let place = context
                .table
                .and_then(|table| self.heap.tables[table].place(column));
            let place = place.ok_or(Stop::Error(self.profile.no_column))?;
            values[place] = value;
        }
        Ok(values.into())
    }

    /// A transaction has locked a row so that others are kept out.
    pub(crate) fn row_locked(&mut self, run: &Running, table: usize, row: &Row) {
        let connection = run.me;
        let name = self.heap.tables[table].name;
        let lock = Locked::Row(name, row.first().cloned().unwrap_or(Value::Null));
        let transaction = self.transaction(connection);
        if transaction.rows.iter().any(|(_, held)| *held == lock) {
            return;
        }
        let level = transaction.level();
        transaction.rows.push((level, lock.clone()));
        self.out.push(Output::Acquired {
            connection,
            lock,
            shared: false,
        });
    }

    pub(crate) fn kill(&mut self, pid: u32, only_query: bool) -> Result<(), Stop> {
        let session = picklock_machines::ConnectionId(pid);
        if !self.backends.contains_key(&session) {
            return Err(ErrorCode::NoSuchThread.into());
        }
        match only_query {
            true => self.interrupt(session, self.profile.canceled),
            false => self.terminate(session),
        }
        Ok(())
    }

    /// Releases what a session has in front of all others that wait for a version of a row.
    pub(crate) fn unlock_tuple(&mut self, run: &Running, table: usize, id: TupleId) {
        let tag = Tag::Tuple(self.heap.tables[table].name, id);
        let holder = crate::lock_manager::Holder::Session(run.me);
        self.locks
            .release(&tag, holder, |held| matches!(held.mode, Mode::Table(_)));
    }
}

fn candidate(run: &Running) -> Option<TupleId> {
    run.scan.candidates.as_ref()?.get(run.scan.at).copied()
}

fn next_row(run: &mut Running) {
    run.scan.at += 1;
    run.memo.clear();
    run.memo_at = 0;
}
