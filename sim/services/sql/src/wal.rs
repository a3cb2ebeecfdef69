//! The log: what a commit writes, when it is on the disk, and what a restart makes of it.

use std::rc::Rc;

use picklock_clients::sql::Setting;

use crate::heap::{Heap, Redo};
use crate::ids::{Holder, Xid};
use crate::io::Output;
use crate::lock_manager::{Entry, LockManager, Scope};
use crate::log::Record;
use crate::session::{Done, Session, Stop, Wait};
use crate::state::{Instance, Prepared};

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
            .retain(|output| !matches!(output, Output::Committed { .. }));
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
