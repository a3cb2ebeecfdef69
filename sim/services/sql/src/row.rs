//! Row locks and unique keys of PostgreSQL (`heapam.c`, `nbtinsert.c`).

use std::rc::Rc;

use picklock_clients::sql::{
    ErrorCode, Insert, IsolationLevel, OnConflict, RowLocking, RowStrength, TableLockMode, Value,
    WaitPolicy,
};

use crate::executor::locking;
use crate::expression::RowContext;
use crate::heap::{Lockable, OfKey, Redo};
use crate::ids::{Row, TupleId, Xid};
use crate::io::{Locked, Output};
use crate::lock_manager::{Mode, SHARE, Tag};
use crate::session::{Done, Session, Stop};
use crate::state::Instance;

/// The mode in which the first that waits for a row keeps its place.
const fn place_of(strength: RowStrength) -> Mode {
    Mode::Table(match strength {
        RowStrength::KeyShare => TableLockMode::AccessShare,
        RowStrength::Share => TableLockMode::RowShare,
        RowStrength::NoKeyUpdate => TableLockMode::Exclusive,
        RowStrength::Update => TableLockMode::AccessExclusive,
    })
}

impl Instance {
    /// Locks a row that a snapshot has seen. Answers its newest version; none if it is gone, or left out.
    pub fn lock_tuple(
        &mut self,
        s: &mut Session,
        table: usize,
        seen: TupleId,
        locking: RowLocking,
    ) -> Done<Option<TupleId>> {
        let (holder, mut at) = (s.holder(), seen);
        let name = self.heap.tables[table].name;
        loop {
            match self.heap.lockable(table, at, holder, locking.strength) {
                Lockable::Free => {
                    let locker = (self.xid(s), locking.strength);
                    self.heap.add_locker(table, at, locker);
                    self.unlock_tuple(s, table, at);
                    if locking.strength >= RowStrength::NoKeyUpdate
                        && let Some(row) = self.heap.row(table, at)
                    {
                        self.row_locked(s, table, &row);
                    }
                    return Ok(Some(at));
                }
                Lockable::Updated(next) => {
                    self.unlock_tuple(s, table, at);
                    self.check_snapshot(s)?;
                    at = next;
                }
                Lockable::Deleted => {
                    self.unlock_tuple(s, table, at);
                    self.check_snapshot(s)?;
                    return Ok(None);
                }
                Lockable::Blocked(xid) => match locking.wait {
                    WaitPolicy::SkipLocked => return Ok(None),
                    WaitPolicy::NoWait => return Err(ErrorCode::LockNotAvailable.into()),
                    WaitPolicy::Block => {
                        let place = Tag::Tuple(name, at);
                        let is_first = self.locks.holders(&place).next().is_none();
                        let keeps_place = is_first && s.run.yielded.is_none();
                        if at != seen && s.run.yielded != Some(at) && !keeps_place {
                            // Of those that follow a row to its new version any can be the next to wait there.
                            s.run.yielded = Some(at);
                            return Err(Stop::Yield);
                        }
                        let mode = place_of(locking.strength);
                        self.acquire_in_transaction(s, &place, mode, true)?;
                        self.await_transaction(s, xid)?;
                    }
                },
            }
        }
    }

    /// A row has changed since it was seen.
    fn check_snapshot(&self, s: &mut Session) -> Done {
        match self.transaction(s).isolation {
            IsolationLevel::ReadCommitted => Ok(()),
            IsolationLevel::RepeatableRead | IsolationLevel::Serializable => {
                Err(ErrorCode::SerializationFailure.into())
            }
        }
    }

    /// A transaction has locked a row so that others are kept out.
    pub fn row_locked(&mut self, s: &mut Session, table: usize, row: &Row) {
        let name = self.heap.tables[table].name;
        let lock = Locked::Row(name, row.first().cloned().unwrap_or(Value::Null));
        let (connection, shared) = (s.me, false);
        let transaction = self.transaction(s);
        if !transaction.rows.iter().any(|(_, held)| *held == lock) {
            transaction.rows.push((transaction.level(), lock.clone()));
            self.out.push(Output::Acquired {
                connection,
                lock,
                shared,
            });
        }
    }

    /// Releases what a session has in front of all others that wait for a version of a row.
    fn unlock_tuple(&mut self, s: &Session, table: usize, id: TupleId) {
        let tag = Tag::Tuple(self.heap.tables[table].name, id);
        self.locks.release(&tag, s.holder(), |_| true);
    }

    /// Waits until a transaction has ended.
    fn await_transaction(&mut self, s: &mut Session, xid: Xid) -> Done {
        self.acquire_in_transaction(s, &Tag::Transaction(xid), SHARE, true)?;
        Ok(())
    }

    /// Changes a row: from a version, or from nothing, to a new one, or to nothing.
    pub fn write(
        &mut self,
        s: &mut Session,
        table: usize,
        old: Option<TupleId>,
        new: Option<Row>,
    ) -> Done {
        let before = old.and_then(|old| self.heap.row(table, old));
        if let (Some(before), Some(new)) = (&before, &new)
            && self.heap.tables[table].has_key
            && before.first() != new.first()
            && let Some(key) = new.first()
        {
            self.check_unique(s, table, key)?;
        }
        for row in before.iter().chain(&new) {
            self.row_locked(s, table, row);
        }
        let new = new.map(|row| (self.heap.new_tuple_id(), row));
        let xid = self.xid(s);
        let change = Redo {
            xid,
            table,
            old,
            new,
        };
        self.heap.apply(&change);
        self.transaction(s).changes.push(change);
        Ok(())
    }

    /// Waits until it is clear whether a key is there, and fails if it is.
    fn check_unique(&mut self, s: &mut Session, table: usize, key: &Value) -> Done {
        match self.heap.of_key(table, key, s.holder()) {
            OfKey::Nothing => Ok(()),
            OfKey::Live(_) => Err(self.profile.unique_violation.into()),
            OfKey::Unsettled(xid) => {
                self.await_transaction(s, xid)?;
                self.check_unique(s, table, key)
            }
        }
    }

    /// `INSERT`
    pub fn insert(&mut self, s: &mut Session, insert: &Insert) -> Done {
        let table = self.table(insert.table)?;
        self.lock_relation(s, table, TableLockMode::RowExclusive)?;
        if s.run.scan.snapshot.is_none() {
            s.run.scan.snapshot = Some(self.take_snapshot(s, true));
        }
        while let Some(values) = insert.rows.get(s.run.scan.at) {
            s.run.memo_at = 0;
            let mut row: Vec<Value> = self.heap.tables[table].defaults();
            for (column, value) in insert.columns.iter().zip(values) {
                let place = self.heap.tables[table].place(column);
                let place = place.ok_or(Stop::Error(self.profile.no_column))?;
                row[place] = self.evaluate(s, &RowContext::none(), value)?;
            }
            let row: Row = row.into();
            let inserted = match self.profile.locks_records {
                true => self.insert_record(s, table, &row, &insert.on_conflict)?,
                false => self.insert_tuple(s, table, &row, &insert.on_conflict)?,
            };
            if let Some(row) = inserted {
                self.answer_row(s, table, &row, &insert.returning)?;
            }
            s.next_row();
        }
        Ok(())
    }

    /// Inserts a row, or does what is to be done if its key is there. Answers the row that is there then, if it is
    /// this statement's.
    fn insert_tuple(
        &mut self,
        s: &mut Session,
        table: usize,
        row: &Row,
        on_conflict: &OnConflict,
    ) -> Done<Option<Row>> {
        let (holder, has_key) = (s.holder(), self.heap.tables[table].has_key);
        loop {
            let found = match row.first().filter(|_| has_key) {
                Some(key) => self.heap.of_key(table, key, holder),
                None => OfKey::Nothing,
            };
            let id = match found {
                OfKey::Unsettled(xid) => {
                    self.await_transaction(s, xid)?;
                    continue;
                }
                OfKey::Nothing => {
                    self.lock_parent(s, table, row)?;
                    self.write(s, table, None, Some(Rc::clone(row)))?;
                    s.run.scan.count += 1;
                    return Ok(Some(Rc::clone(row)));
                }
                OfKey::Live(id) => id,
            };
            if *on_conflict == OnConflict::Raise {
                return Err(ErrorCode::UniqueViolation.into());
            }
            let snapshot = s.run.scan.snapshot.unwrap_or_default();
            let isolation = self.transaction(s).isolation;
            if isolation > IsolationLevel::ReadCommitted
                && !self.heap.is_visible(table, id, holder, snapshot)
            {
                return Err(ErrorCode::SerializationFailure.into());
            }
            let OnConflict::DoUpdate { set, filter } = on_conflict else {
                return Ok(None);
            };
            if self.lock_tuple(s, table, id, locking(RowStrength::NoKeyUpdate))? != Some(id) {
                continue;
            }
            let there = self.heap.row(table, id);
            let context = RowContext::of(table, there.as_ref()).instead_of(row);
            if !self.all_true(s, &context, filter)? {
                return Ok(None);
            }
            let new = self.updated(s, &context, set)?;
            self.write(s, table, Some(id), Some(Rc::clone(&new)))?;
            s.run.scan.count += 1;
            return Ok(Some(new));
        }
    }

    /// Locks the row that a new row refers to, so that it stays.
    pub fn lock_parent(&mut self, s: &mut Session, table: usize, row: &Row) -> Done {
        let Some((column, parent)) = self.heap.tables[table].references else {
            return Ok(());
        };
        let parent = self.table(parent)?;
        let place = self.heap.tables[table].place(column).unwrap_or_default();
        let key = row.get(place).cloned().unwrap_or(Value::Null);
        if key == Value::Null {
            return Ok(());
        }
        let holder = s.holder();
        if self.profile.locks_records {
            let tag = Tag::Record(self.heap.tables[parent].name, key.clone());
            self.acquire_in_transaction(s, &tag, SHARE, true)?;
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
        let locked = match there.into_iter().find(is_it) {
            Some(id) => self.lock_tuple(s, parent, id, locking(RowStrength::KeyShare))?,
            None => None,
        };
        match locked {
            Some(_) => Ok(()),
            None => Err(self.profile.no_parent.into()),
        }
    }
}
