//! Row locks and unique keys of PostgreSQL (`heapam.c`, `nbtinsert.c`).

use std::rc::Rc;

use picklock_clients::sql::{
    ErrorCode, Insert, IsolationLevel, OnConflict, RowLocking, RowStrength, TableLockMode, Value,
    WaitPolicy,
};

use crate::backend::Running;
use crate::executor::Stop;
use crate::expression::RowContext;
use crate::heap::{Lockable, OfKey, Redo, Row, TupleId, Xid};
use crate::lock_manager::{Holder, Mode, SHARE, Tag};
use crate::server::Server;

/// The mode in which the first that waits for a row keeps its place.
const fn place_of(strength: RowStrength) -> Mode {
    Mode::Table(match strength {
        RowStrength::KeyShare => TableLockMode::AccessShare,
        RowStrength::Share => TableLockMode::RowShare,
        RowStrength::NoKeyUpdate => TableLockMode::Exclusive,
        RowStrength::Update => TableLockMode::AccessExclusive,
    })
}

impl Server {
    /// Locks a row that a snapshot has seen. Answers its newest version; none if it is gone, or left out.
    pub(crate) fn lock_tuple(
        &mut self,
        run: &mut Running,
        table: usize,
        seen: TupleId,
        locking: RowLocking,
    ) -> Result<Option<TupleId>, Stop> {
        let (holder, mut at) = (Holder::Session(run.me), seen);
        let name = self.heap.tables[table].name;
        let changed = |server: &mut Self, run: &Running| match server.transaction(run.me).isolation
        {
            IsolationLevel::ReadCommitted => Ok(()),
            IsolationLevel::RepeatableRead | IsolationLevel::Serializable => {
                Err(Stop::Error(ErrorCode::SerializationFailure))
            }
        };
        loop {
            match self.heap.lockable(table, at, holder, locking.strength) {
                Lockable::Free => {
                    let locker = (self.xid(run.me), locking.strength);
                    self.heap.add_locker(table, at, locker);
                    self.unlock_tuple(run, table, at);
                    if locking.strength >= RowStrength::NoKeyUpdate
                        && let Some(row) = self.heap.row(table, at)
                    {
                        self.row_locked(run, table, &row);
                    }
                    return Ok(Some(at));
                }
                Lockable::Updated(next) => {
                    self.unlock_tuple(run, table, at);
                    changed(self, run)?;
                    at = next;
                }
                Lockable::Deleted => {
                    self.unlock_tuple(run, table, at);
                    changed(self, run)?;
                    return Ok(None);
                }
                Lockable::Blocked(xid) => match locking.wait {
                    WaitPolicy::SkipLocked => return Ok(None),
                    WaitPolicy::NoWait => return Err(ErrorCode::LockNotAvailable.into()),
                    WaitPolicy::Block => {
                        let place = Tag::Tuple(name, at);
                        let is_first = self.locks.holders(&place).next().is_none();
                        let keeps_place = is_first && run.yielded.is_none();
                        if at != seen && run.yielded != Some(at) && !keeps_place {
                            // Of those that follow a row to its new version any can be the next to wait there.
                            run.yielded = Some(at);
                            return Err(Stop::Yield);
                        }
                        let mode = place_of(locking.strength);
                        self.acquire_in_transaction(run, &place, mode, true)?;
                        self.await_transaction(run, xid)?;
                    }
                },
            }
        }
    }

    /// Waits until a transaction has ended.
    fn await_transaction(&mut self, run: &mut Running, xid: Xid) -> Result<(), Stop> {
        self.acquire_in_transaction(run, &Tag::Transaction(xid), SHARE, true)?;
        Ok(())
    }

    /// Changes a row: from a version, or from nothing, to a new one, or to nothing.
    pub(crate) fn write(
        &mut self,
        run: &mut Running,
        table: usize,
        old: Option<TupleId>,
        new: Option<Row>,
    ) -> Result<(), Stop> {
        let before = old.and_then(|old| self.heap.row(table, old));
        if let (Some(before), Some(new)) = (&before, &new)
            && self.heap.tables[table].has_key
            && before.first() != new.first()
            && let Some(key) = new.first()
        {
            self.check_unique(run, table, key)?;
        }
        for row in before.iter().chain(&new) {
            self.row_locked(run, table, row);
        }
        let new = new.map(|row| (self.heap.new_tuple_id(), row));
        let xid = self.xid(run.me);
        let change = Redo {
            xid,
            table,
            old,
            new,
        };
        self.heap.apply(&change);
        self.transaction(run.me).changes.push(change);
        Ok(())
    }

    /// Waits until it is clear whether a key is there, and fails if it is.
    fn check_unique(&mut self, run: &mut Running, table: usize, key: &Value) -> Result<(), Stop> {
        match self.heap.of_key(table, key, Holder::Session(run.me)) {
            OfKey::Nothing => Ok(()),
            OfKey::Live(_) => Err(self.profile.unique_violation.into()),
            OfKey::Unsettled(xid) => {
                self.await_transaction(run, xid)?;
                self.check_unique(run, table, key)
            }
        }
    }

    /// `INSERT`
    pub(crate) fn insert(&mut self, run: &mut Running, insert: &Insert) -> Result<(), Stop> {
        let table = self.table(insert.table)?;
        self.lock_relation(
            run,
            self.heap.tables[table].name,
            TableLockMode::RowExclusive,
        )?;
        if run.scan.snapshot.is_none() {
            run.scan.snapshot = Some(self.take_snapshot(run.me));
        }
        while let Some(values) = insert.rows.get(run.scan.at) {
            run.memo_at = 0;
            let mut row: Vec<Value> = self.heap.tables[table].defaults();
            for (column, value) in insert.columns.iter().zip(values) {
                let place = self.heap.tables[table].place(column);
                let place = place.ok_or(Stop::Error(self.profile.no_column))?;
                row[place] = self.evaluate(run, &RowContext::none(), value)?;
            }
            let row: Row = row.into();
            let inserted = match self.profile.locks_records {
                true => self.insert_record(run, table, &row, &insert.on_conflict)?,
                false => self.insert_tuple(run, table, &row, &insert.on_conflict)?,
            };
            if let Some(row) = inserted.filter(|_| !insert.returning.is_empty()) {
                let context = RowContext::of(table, Some(&row));
                let items = self.project(run, &context, &insert.returning)?;
                run.scan.rows.push(items);
            }
            run.scan.at += 1;
            run.memo.clear();
        }
        Ok(())
    }

    /// Inserts a row, or does what is to be done if its key is there. Answers the row that is there then, if it is this
    /// statement's.
    fn insert_tuple(
        &mut self,
        run: &mut Running,
        table: usize,
        row: &Row,
        on_conflict: &OnConflict,
    ) -> Result<Option<Row>, Stop> {
        let (holder, has_key) = (Holder::Session(run.me), self.heap.tables[table].has_key);
        loop {
            let found = match row.first().filter(|_| has_key) {
                Some(key) => self.heap.of_key(table, key, holder),
                None => OfKey::Nothing,
            };
            let id = match found {
                OfKey::Unsettled(xid) => {
                    self.await_transaction(run, xid)?;
                    continue;
                }
                OfKey::Nothing => {
                    self.lock_parent(run, table, row)?;
                    self.write(run, table, None, Some(Rc::clone(row)))?;
                    run.scan.count += 1;
                    return Ok(Some(Rc::clone(row)));
                }
                OfKey::Live(id) => id,
            };
            if *on_conflict == OnConflict::Raise {
                return Err(ErrorCode::UniqueViolation.into());
            }
            let snapshot = run.scan.snapshot.unwrap_or_default();
            let isolation = self.transaction(run.me).isolation;
            if isolation > IsolationLevel::ReadCommitted
                && !self.heap.is_visible(table, id, holder, snapshot)
            {
                return Err(ErrorCode::SerializationFailure.into());
            }
            let OnConflict::DoUpdate { set, filter } = on_conflict else {
                return Ok(None);
            };
            let locking = RowLocking {
                strength: RowStrength::NoKeyUpdate,
                wait: WaitPolicy::Block,
            };
            if self.lock_tuple(run, table, id, locking)? != Some(id) {
                continue;
            }
            let there = self.heap.row(table, id);
            let context = RowContext::of(table, there.as_ref()).instead_of(row);
            if !self.all_true(run, &context, filter)? {
                return Ok(None);
            }
            let new = self.updated(run, &context, set)?;
            self.write(run, table, Some(id), Some(Rc::clone(&new)))?;
            run.scan.count += 1;
            return Ok(Some(new));
        }
    }

    /// Locks the row that a new row refers to, so that it stays.
    pub(crate) fn lock_parent(
        &mut self,
        run: &mut Running,
        table: usize,
        row: &Row,
    ) -> Result<(), Stop> {
        let Some((column, parent)) = self.heap.tables[table].references else {
            return Ok(());
        };
        let parent = self.table(parent)?;
        let place = self.heap.tables[table].place(column).unwrap_or_default();
        let key = row.get(place).cloned().unwrap_or(Value::Null);
        if key == Value::Null {
            return Ok(());
        }
        let holder = Holder::Session(run.me);
        if self.profile.locks_records {
            let tag = Tag::Record(self.heap.tables[parent].name, key.clone());
            self.acquire_in_transaction(run, &tag, SHARE, true)?;
            return match self.heap.of_key(parent, &key, holder) {
                OfKey::Live(_) => Ok(()),
                OfKey::Nothing | OfKey::Unsettled(_) => Err(self.profile.no_parent.into()),
            };
        }
        let there = self.heap.visible(parent, holder, self.heap.commits);
        let is_it = |id: &TupleId| {
            let row = self.heap.row(parent, *id);
            row.is_some_and(|row| row.first() == Some(&key))
        };
        let locking = RowLocking {
            strength: RowStrength::KeyShare,
            wait: WaitPolicy::Block,
        };
        let locked = match there.into_iter().find(is_it) {
            Some(id) => self.lock_tuple(run, parent, id, locking)?,
            None => None,
        };
        match locked {
            Some(_) => Ok(()),
            None => Err(self.profile.no_parent.into()),
        }
    }
}
