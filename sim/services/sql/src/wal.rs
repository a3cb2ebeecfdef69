//! The log: what a commit writes, when it is on the disk, and what a restart makes of it.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::sql::{Gid, RowStrength, Setting};

use crate::backend::{Session, Wait};
use crate::executor::{Done, Stop};
use crate::heap::{Heap, Redo, TupleId, Xid};
use crate::lock_manager::{Entry, Holder, LockManager, Mode, Scope, Tag};
use crate::prepared::Prepared;
use crate::server::Instance;

/// A record of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// These transactions, which are one, have committed these changes.
    Commit(Vec<Xid>, Vec<Redo>),
    /// A transaction is prepared.
    Prepare(Gid, PrepareRecord),
    /// A prepared transaction is committed, or rolled back.
    EndPrepared(Gid, bool),
}

/// What is kept of a prepared transaction on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrepareRecord {
    pub xids: Vec<Xid>,
    pub changes: Vec<Redo>,
    pub locks: Vec<(Tag, Mode)>,
    pub lockers: Vec<(usize, TupleId, (Xid, RowStrength))>,
}

/// The log.
#[derive(Clone, Debug, Default)]
pub struct Wal {
    pub records: Vec<Rc<Record>>,
    /// How many are on the disk.
    pub flushed: usize,
    /// When how many will be.
    flushes: VecDeque<(VirtualTime, usize)>,
}

impl Wal {
    /// When the next flush is done.
    pub fn next_flush(&self) -> VirtualTime {
        self.flushes
            .front()
            .map_or(VirtualTime::NEVER, |(at, _)| *at)
    }

    fn flush_at(&mut self, at: VirtualTime) {
        // A flush takes all with it that is there, and one that is due later has nothing left to do.
        self.flushes.retain(|(due, _)| *due < at);
        self.flushes.push_back((at, self.records.len()));
    }

    /// Does the flushes that are due. Answers whether there were any.
    pub fn flush(&mut self, now: VirtualTime) -> bool {
        let before = self.flushed;
        while self.next_flush() <= now {
            let (_, up_to) = self.flushes.pop_front().unwrap_or_default();
            self.flushed = self.flushed.max(up_to);
        }
        self.flushed > before
    }

    /// What was not on the disk is gone.
    pub fn crash(&mut self) {
        self.flushes.clear();
        self.records.truncate(self.flushed);
    }
}

impl Instance {
    /// Writes a record. Answers how many there are with it.
    pub fn write_log(&mut self, s: &Session, record: Record) -> usize {
        self.wal.records.push(Rc::new(record));
        let delay = match s.settings.is_on(Setting::SynchronousCommit) {
            true => self.settings.flush,
            false => self.settings.writer_delay,
        };
        self.wal.flush_at(self.now + delay);
        if self.wal.flush(self.now) {
            self.ship();
        }
        self.wal.records.len()
    }

    /// Waits until the record of a statement is on the disk, and at the standby that is waited for.
    pub fn await_log(&mut self, s: &mut Session) -> Done {
        let lsn = s.run.lsn.unwrap_or_default();
        if !s.settings.is_on(Setting::SynchronousCommit) {
            return Ok(());
        }
        let standby = self.settings.synchronous_standby;
        let standby = standby.filter(|_| self.is_primary() && !s.run.standby_given_up);
        let is_acked = standby.is_none_or(|standby| self.acknowledged(standby) >= lsn);
        if self.wal.flushed >= lsn && is_acked {
            return Ok(());
        }
        s.wait = match self.wal.flushed >= lsn {
            true => Wait::Standby(lsn),
            false => Wait::Flush(lsn),
        };
        Err(Stop::Wait)
    }

    /// Statements that wait for the log look again.
    pub fn log_has_moved(&mut self) {
        for (connection, s) in &mut self.sessions {
            if matches!(s.wait, Wait::Flush(_) | Wait::Standby(_)) {
                s.wait = Wait::Nothing;
                self.ready.push(*connection);
            }
        }
    }

    /// Rebuilds what the log says from the beginning.
    pub fn recover(&mut self) {
        self.heap = Heap::new(self.settings.tables.clone().into());
        self.locks = LockManager::default();
        self.prepared.clear();
        for record in self.wal.records.clone() {
            self.replay(&record);
        }
        self.out
            .retain(|output| !matches!(output, crate::io::Output::Committed { .. }));
    }

    /// Repeats a record.
    pub fn replay(&mut self, record: &Record) {
        match record {
            Record::Commit(xids, changes) => {
                self.repeat(Holder::Prepared(u32::MAX), xids, changes);
                self.commit_changes(None, xids, changes);
            }
            Record::Prepare(gid, record) => {
                let number = self.next_prepared();
                let holder = Holder::Prepared(number);
                self.repeat(holder, &record.xids, &record.changes);
                for (table, id, locker) in &record.lockers {
                    self.heap.add_locker(*table, *id, *locker);
                }
                for (tag, mode) in &record.locks {
                    let (mode, scope) = (mode.clone(), Scope::Transaction(0));
                    let entry = Entry {
                        holder,
                        mode,
                        scope,
                    };
                    self.locks.request(tag, entry, false);
                }
                let prepared = Prepared {
                    number,
                    by: None,
                    rows: Vec::new(),
                    xids: record.xids.clone(),
                    changes: record.changes.clone(),
                };
                self.prepared.insert(Rc::clone(gid), prepared);
            }
            Record::EndPrepared(gid, commits) => self.end_prepared(None, gid, *commits),
        }
    }

    fn repeat(&mut self, holder: Holder, xids: &[Xid], changes: &[Redo]) {
        for xid in xids {
            self.heap.set_in_progress(*xid, holder);
        }
        for change in changes {
            self.heap.apply(change);
        }
    }
}
