//! Rows as InnoDB locks them: records by their keys, and gaps between them (`lock0lock.cc`, `row0ins.cc`).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;

use picklock_clients::sql::{
    ErrorCode, Expr, IsolationLevel, Notice, OnConflict, Operator, RowStrength, Value, WaitPolicy,
};

use crate::executor::{Action, Scan};
use crate::expression::RowContext;
use crate::heap::OfKey;
use crate::ids::{Holder, Row, TupleId};
use crate::lock_manager::{EXCLUSIVE, Mode, SHARE, Tag};
use crate::session::{Done, Session};
use crate::state::Instance;

/// The key that a condition asks for.
fn key_asked(condition: &Expr, key: &str) -> Option<Value> {
    let Expr::Binary(left, Operator::Equal, right) = condition else {
        return None;
    };
    match (&**left, &**right) {
        (Expr::Column(name), Expr::Value(value)) | (Expr::Value(value), Expr::Column(name))
            if *name == key =>
        {
            Some(value.clone())
        }
        _ => None,
    }
}

impl Instance {
    fn locks_gaps(&self, s: &mut Session) -> bool {
        self.transaction(s).isolation > IsolationLevel::ReadCommitted
    }

    /// The records that are there: a deleted one stays while a snapshot can see it.
    fn records(&self, s: &Session, table: usize) -> BTreeMap<Value, TupleId> {
        let sessions = self.sessions.values().chain([s]);
        let transactions = sessions.filter_map(|s| s.transaction.as_ref());
        let oldest = transactions
            .filter_map(|transaction| transaction.snapshot)
            .min();
        self.heap
            .records(table, oldest.unwrap_or(self.heap.commits))
    }

    /// Locks what lies around a key that is not there, or all gaps.
    fn lock_gap(&mut self, s: &mut Session, table: usize, key: Option<&Value>) -> Done {
        if !self.locks_gaps(s) {
            return Ok(());
        }
        let records = self.records(s, table);
        let (low, high) = match key {
            None => (None, None),
            Some(key) => {
                let above = (Bound::Excluded(key.clone()), Bound::Unbounded);
                let low = records.range(..key.clone()).next_back();
                let high = records.range(above).next();
                (
                    low.map(|(key, _)| key.clone()),
                    high.map(|(key, _)| key.clone()),
                )
            }
        };
        let tag = Tag::Gap(self.heap.tables[table].name);
        self.acquire_in_transaction(s, &tag, Mode::Gap(low, high), true)?;
        Ok(())
    }

    /// Locks what lies before a record that is deleted.
    fn lock_gap_before(&mut self, s: &mut Session, table: usize, key: &Value) -> Done {
        if !self.locks_gaps(s) {
            return Ok(());
        }
        let records = self.records(s, table);
        let low = records
            .range(..key.clone())
            .next_back()
            .map(|(key, _)| key.clone());
        let tag = Tag::Gap(self.heap.tables[table].name);
        self.acquire_in_transaction(s, &tag, Mode::Gap(low, Some(key.clone())), true)?;
        Ok(())
    }

    /// The key that a statement is about, if it is about one.
    pub fn key_asked(&self, scan: &Scan) -> Option<Value> {
        let table = &self.heap.tables[scan.table];
        let (key, _) = table.columns.first().filter(|_| table.has_key)?;
        let mut conditions = scan.filter.iter();
        conditions.find_map(|condition| key_asked(condition, key))
    }

    /// The records that a statement locks: one by its key, or all of them.
    pub fn records_to_lock(&mut self, s: &mut Session, scan: &Scan) -> Done<Vec<TupleId>> {
        let asked = self.key_asked(scan);
        let records = self.records(s, scan.table);
        let Some(asked) = asked else {
            self.lock_gap(s, scan.table, None)?;
            return Ok(records.into_values().collect());
        };
        match records.get(&asked) {
            Some(id) => Ok(vec![*id]),
            None => {
                self.lock_gap(s, scan.table, Some(&asked))?;
                Ok(Vec::new())
            }
        }
    }

    /// Locks a record, and looks at the row that is there then.
    pub fn scan_record(&mut self, s: &mut Session, scan: &Scan, id: TupleId) -> Done {
        let row = self.heap.row(scan.table, id);
        let (Some(key), Some(locking)) = (row.and_then(|row| row.first().cloned()), scan.locking)
        else {
            return Ok(());
        };
        let tag = Tag::Record(self.heap.tables[scan.table].name, key.clone());
        let mode = match locking.strength {
            RowStrength::KeyShare | RowStrength::Share => SHARE,
            RowStrength::NoKeyUpdate | RowStrength::Update => EXCLUSIVE,
        };
        let is_exclusive = mode == EXCLUSIVE;
        let held_before = self.holds_exclusively(s.me, &tag);
        if !held_before && self.is_passed_over(s, scan, &key)? {
            return Ok(());
        }
        let waits = locking.wait == WaitPolicy::Block;
        if !self.acquire_in_transaction(s, &tag, mode, waits)? {
            return match locking.wait {
                WaitPolicy::SkipLocked => Ok(()),
                WaitPolicy::NoWait | WaitPolicy::Block => Err(self.profile.not_available.into()),
            };
        }
        let holder = s.holder();
        let OfKey::Live(id) = self.heap.of_key(scan.table, &key, holder) else {
            return self.lock_gap_before(s, scan.table, &key);
        };
        let Some(row) = self.heap.row(scan.table, id) else {
            return Ok(());
        };
        let context = RowContext::of(scan.table, Some(&row));
        if self.all_true(s, &context, scan.filter)? {
            if is_exclusive {
                self.row_locked(s, scan.table, &row);
            }
            return self.act(s, scan, id, &row);
        }
        if !held_before && !self.locks_gaps(s) {
            self.locks.release(&tag, holder, |_| true);
        }
        Ok(())
    }

    /// At `READ COMMITTED`, a record that another transaction has locked is passed over if what is committed of it
    /// does not meet the conditions of an `UPDATE` (a semi-consistent read).
    fn is_passed_over(&mut self, s: &mut Session, scan: &Scan, key: &Value) -> Done<bool> {
        if self.locks_gaps(s) || !matches!(scan.action, Action::Update(..)) {
            return Ok(false);
        }
        let outsider = Holder::Prepared(u32::MAX);
        let committed = self.heap.visible(scan.table, outsider, self.heap.commits);
        let rows = committed
            .into_iter()
            .filter_map(|id| self.heap.row(scan.table, id));
        let Some(row) = { rows }.find(|row| row.first() == Some(key)) else {
            return Ok(false);
        };
        let context = RowContext::of(scan.table, Some(&row));
        let is_met = self.all_true(s, &context, scan.filter)?;
        s.run.memo.clear();
        s.run.memo_at = 0;
        let tag = Tag::Record(self.heap.tables[scan.table].name, key.clone());
        let others = self.locks.holders(&tag).any(|held| held != s.holder());
        Ok(!is_met && others)
    }

    /// Inserts a row, or does what is to be done if its key is there. Answers the row that is there then, if it is
    /// this statement's.
    pub fn insert_record(
        &mut self,
        s: &mut Session,
        table: usize,
        row: &Row,
        on_conflict: &OnConflict,
    ) -> Done<Option<Row>> {
        let holder = s.holder();
        let key = row.first().cloned().unwrap_or(Value::Null);
        let name = self.heap.tables[table].name;
        let tag = Tag::Record(name, key.clone());
        let has_key = self.heap.tables[table].has_key;
        if has_key && self.records(s, table).contains_key(&key) {
            let mode = match on_conflict {
                OnConflict::Raise | OnConflict::DoNothing => SHARE,
                OnConflict::DoUpdate { .. } => EXCLUSIVE,
            };
            self.acquire_in_transaction(s, &tag, mode, true)?;
            if let OfKey::Live(id) = self.heap.of_key(table, &key, holder) {
                return self.duplicate(s, (table, id), row, on_conflict);
            }
        }
        self.lock_parent(s, table, row)?;
        if has_key {
            let intention = Mode::InsertIntention(key);
            self.acquire_in_transaction(s, &Tag::Gap(name), intention, true)?;
            self.acquire_in_transaction(s, &tag, EXCLUSIVE, true)?;
        }
        self.write(s, table, None, Some(Rc::clone(row)))?;
        s.run.scan.count += 1;
        Ok(Some(Rc::clone(row)))
    }

    /// The key is there.
    fn duplicate(
        &mut self,
        s: &mut Session,
        (table, id): (usize, TupleId),
        row: &Row,
        on_conflict: &OnConflict,
    ) -> Done<Option<Row>> {
        let set = match on_conflict {
            OnConflict::Raise => return Err(self.profile.unique_violation.into()),
            OnConflict::DoNothing => {
                s.run.notices.push(Notice::DuplicateEntry);
                return Ok(None);
            }
            OnConflict::DoUpdate { filter, .. } if !filter.is_empty() => {
                return Err(ErrorCode::SyntaxError.into());
            }
            OnConflict::DoUpdate { set, .. } => set,
        };
        let there = self.heap.row(table, id);
        let context = RowContext::of(table, there.as_ref()).instead_of(row);
        let new = self.updated(s, &context, set)?;
        if there.as_ref() == Some(&new) {
            s.run.scan.count += u64::from(self.settings.found_rows);
            return Ok(None);
        }
        self.write(s, table, Some(id), Some(Rc::clone(&new)))?;
        s.run.scan.count += 2;
        Ok(Some(new))
    }
}
