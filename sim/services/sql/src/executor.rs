//! The execution of statements that look at rows. It can stop wherever it must wait, and goes on from there.

use std::rc::Rc;

use picklock_clients::sql::{
    CommandTag, ErrorCode, Expr, IsolationLevel, OrderBy, QueryResult, RowLocking, RowStrength,
    Select, Statement, TableLockMode, Value, WaitPolicy,
};

use crate::expression::RowContext;
use crate::ids::{Row, TupleId};
use crate::session::{Done, Session, Stop};
use crate::state::Instance;

/// What is done with each row.
#[derive(Clone, Copy)]
pub enum Action<'s> {
    Answer(&'s [Expr]),
    Update(&'s [(&'static str, Expr)], &'s [Expr]),
    Delete(&'s [Expr]),
}

/// A look at the rows of a table.
#[derive(Clone, Copy)]
pub struct Scan<'s> {
    pub table: usize,
    pub filter: &'s [Expr],
    pub order_by: Option<OrderBy>,
    limit: usize,
    pub locking: Option<RowLocking>,
    pub action: Action<'s>,
}

pub const fn locking(strength: RowStrength) -> RowLocking {
    let wait = WaitPolicy::Block;
    RowLocking { strength, wait }
}

impl Instance {
    pub fn table(&self, name: &str) -> Done<usize> {
        self.heap
            .table(name)
            .ok_or(Stop::Error(self.profile.no_table))
    }

    /// The first column of a table, which is its key if it has one.
    pub fn key_column(&self, table: usize) -> Option<&'static str> {
        self.heap.tables[table]
            .columns
            .first()
            .map(|(name, _)| *name)
    }

    /// A statement that looks at rows, or changes them. One of InnoDB can be undone by itself.
    pub fn execute_rows(&mut self, s: &mut Session, statement: &Statement) -> Done<QueryResult> {
        let reads = matches!(statement, Statement::Select(select) if select.locking.is_none());
        if !reads && !self.is_primary() {
            return Err(self.profile.read_only.into());
        }
        let is_block = s
            .transaction
            .as_ref()
            .is_some_and(|transaction| transaction.is_block);
        if !reads && self.profile.locks_records && is_block && !s.run.scan.has_level {
            self.savepoint(s, None);
            s.run.scan.has_level = true;
        }
        let tag = match statement {
            Statement::Select(select) => self.select(s, select)?,
            Statement::Insert(insert) => {
                self.insert(s, insert)?;
                CommandTag::Insert
            }
            Statement::Update(update) => {
                let action = Action::Update(&update.set, &update.returning);
                self.change(s, update.table, &update.filter, action)?;
                CommandTag::Update
            }
            Statement::Delete(delete) => {
                let action = Action::Delete(&delete.returning);
                self.change(s, delete.table, &delete.filter, action)?;
                CommandTag::Delete
            }
            _ => return Err(ErrorCode::SyntaxError.into()),
        };
        if std::mem::take(&mut s.run.scan.has_level) {
            let level = self.transaction(s).level();
            self.merge_levels(s, level);
        }
        let rows = std::mem::take(&mut s.run.scan.rows);
        let count = match tag {
            CommandTag::Select => rows.len() as u64,
            _ => s.run.scan.count,
        };
        Ok(QueryResult { tag, count, rows })
    }

    fn change(&mut self, s: &mut Session, table: &str, filter: &[Expr], action: Action) -> Done {
        let table = self.table(table)?;
        let key = self.key_column(table);
        let strength = match action {
            Action::Update(set, _) if set.iter().all(|(column, _)| Some(*column) != key) => {
                RowStrength::NoKeyUpdate
            }
            Action::Update(..) | Action::Delete(_) | Action::Answer(_) => RowStrength::Update,
        };
        self.lock_relation(s, table, TableLockMode::RowExclusive)?;
        let scan = Scan {
            table,
            filter,
            order_by: None,
            limit: usize::MAX,
            locking: Some(locking(strength)),
            action,
        };
        self.scan(s, &scan)
    }

    fn select(&mut self, s: &mut Session, select: &Select) -> Done<CommandTag> {
        let Some(table) = select.from else {
            if !self.profile.locks_records {
                self.take_snapshot(s, false);
            }
            let context = RowContext::none();
            if self.all_true(s, &context, &select.filter)? {
                let row = self.project(s, &context, &select.items)?;
                s.run.scan.rows.push(row);
            }
            return Ok(CommandTag::Select);
        };
        let table = self.table(table)?;
        let transaction = s
            .transaction
            .as_ref()
            .filter(|transaction| transaction.is_block);
        let is_serializable = transaction
            .is_some_and(|transaction| transaction.isolation == IsolationLevel::Serializable);
        let of_innodb =
            (self.profile.locks_records && is_serializable).then_some(locking(RowStrength::Share));
        let mode = match select.locking {
            Some(_) => TableLockMode::RowShare,
            None => TableLockMode::AccessShare,
        };
        self.lock_relation(s, table, mode)?;
        let counts = select.items.contains(&Expr::Count);
        let scan = Scan {
            table,
            filter: &select.filter,
            order_by: select.order_by,
            limit: select.limit.filter(|_| !counts).unwrap_or(usize::MAX),
            locking: select.locking.or(of_innodb),
            action: Action::Answer(&select.items),
        };
        self.scan(s, &scan)?;
        if counts {
            let count = i64::try_from(s.run.scan.rows.len()).unwrap_or(i64::MAX);
            s.run.scan.rows = vec![vec![Value::Int(count)]];
        }
        Ok(CommandTag::Select)
    }

    /// Looks at the rows of a table, one after the other.
    fn scan(&mut self, s: &mut Session, scan: &Scan) -> Done {
        if s.run.scan.snapshot.is_none() {
            s.run.scan.snapshot = Some(self.take_snapshot(s, scan.locking.is_some()));
        }
        let locks_records = self.profile.locks_records && scan.locking.is_some();
        if s.run.scan.candidates.is_none() {
            if self.transaction(s).isolation == IsolationLevel::Serializable {
                let read = (scan.table, self.key_asked(scan));
                self.transaction(s).reads.push(read);
            }
            let mut found = match locks_records {
                true => self.records_to_lock(s, scan)?,
                false => {
                    let snapshot = s.run.scan.snapshot.unwrap_or_default();
                    let mut rows = self.heap.visible(scan.table, s.holder(), snapshot);
                    if self.profile.locks_records && self.heap.tables[scan.table].has_key {
                        rows.retain(|id| !self.heap.is_reinserted(scan.table, *id, s.holder()));
                    }
                    rows
                }
            };
            if let Some(order) = scan.order_by {
                self.sort(&mut found, scan.table, order);
            }
            s.run.scan.candidates = Some(found);
        }
        let key = self.key_column(scan.table);
        let sorts = scan.order_by.is_some_and(|order| Some(order.column) != key);
        if sorts && !s.run.scan.is_sorted {
            self.filter(s, scan)?;
        }
        while let Some(id) = candidate(s)
            && s.run.scan.rows.len() < scan.limit
        {
            s.run.memo_at = 0;
            match locks_records {
                true => self.scan_record(s, scan, id)?,
                false => self.scan_tuple(s, scan, id)?,
            }
            s.next_row();
        }
        Ok(())
    }

    fn sort(&self, rows: &mut [TupleId], table: usize, order: OrderBy) {
        let place = self.heap.tables[table]
            .place(order.column)
            .unwrap_or_default();
        rows.sort_by_key(|id| self.heap.row(table, *id).map(|row| row[place].clone()));
        if order.descending {
            rows.reverse();
        }
    }

    /// Without an index, all conditions are looked at before the first row is taken.
    fn filter(&mut self, s: &mut Session, scan: &Scan) -> Done {
        while let Some(id) = candidate(s) {
            s.run.memo_at = 0;
            let row = self.heap.row(scan.table, id);
            let is_kept =
                self.all_true(s, &RowContext::of(scan.table, row.as_ref()), scan.filter)?;
            s.next_row();
            if !is_kept && let Some(candidates) = &mut s.run.scan.candidates {
                s.run.scan.at -= 1;
                candidates.remove(s.run.scan.at);
            }
        }
        (s.run.scan.at, s.run.scan.is_sorted) = (0, true);
        Ok(())
    }

    /// Looks at a row in PostgreSQL, or at one that is not locked.
    fn scan_tuple(&mut self, s: &mut Session, scan: &Scan, id: TupleId) -> Done {
        let Some(row) = self.heap.row(scan.table, id) else {
            return Ok(());
        };
        let context = RowContext::of(scan.table, Some(&row));
        if !s.run.scan.is_sorted && !self.all_true(s, &context, scan.filter)? {
            return Ok(());
        }
        let Some(locking) = scan.locking else {
            return self.act(s, scan, id, &row);
        };
        let Some(at) = self.lock_tuple(s, scan.table, id, locking)? else {
            return Ok(());
        };
        if at == id {
            return self.act(s, scan, id, &row);
        }
        let Some(row) = self.heap.row(scan.table, at) else {
            return Ok(());
        };
        match self.all_true(s, &RowContext::of(scan.table, Some(&row)), scan.filter)? {
            true => self.act(s, scan, at, &row),
            false => Ok(()),
        }
    }

    /// Does to a row what the statement is for.
    pub fn act(&mut self, s: &mut Session, scan: &Scan, id: TupleId, row: &Row) -> Done {
        let (answered, returning) = match scan.action {
            Action::Answer(items) => (Rc::clone(row), items),
            Action::Update(set, returning) => {
                let new = self.updated(s, &RowContext::of(scan.table, Some(row)), set)?;
                let changes = new != *row || !self.profile.skips_unchanged;
                if changes {
                    self.write(s, scan.table, Some(id), Some(Rc::clone(&new)))?;
                }
                s.run.scan.count += u64::from(changes || self.settings.found_rows);
                (new, returning)
            }
            Action::Delete(returning) => {
                self.write(s, scan.table, Some(id), None)?;
                s.run.scan.count += 1;
                (Rc::clone(row), returning)
            }
        };
        self.answer_row(s, scan.table, &answered, returning)
    }

    /// Adds to the answer what the statement asks for of a row.
    pub fn answer_row(&mut self, s: &mut Session, table: usize, row: &Row, items: &[Expr]) -> Done {
        if !items.is_empty() {
            let items = self.project(s, &RowContext::of(table, Some(row)), items)?;
            s.run.scan.rows.push(items);
        }
        Ok(())
    }

    /// A row with new values.
    pub fn updated(
        &mut self,
        s: &mut Session,
        context: &RowContext,
        set: &[(&'static str, Expr)],
    ) -> Done<Row> {
        let mut values = context.values();
        for (column, value) in set {
            let value = self.evaluate(s, context, value)?;
            let place = context
                .table
                .and_then(|table| self.heap.tables[table].place(column));
            values[place.ok_or(Stop::Error(self.profile.no_column))?] = value;
        }
        Ok(values.into())
    }
}

fn candidate(s: &Session) -> Option<TupleId> {
    s.run.scan.candidates.as_ref()?.get(s.run.scan.at).copied()
}
