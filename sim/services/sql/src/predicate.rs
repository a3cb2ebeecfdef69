//! Serializable transactions (PostgreSQL's `predicate.c`): one is refused that stands between two others, of which
//! one has read what it wrote, and it has read what the other wrote.

use picklock_clients::sql::{ErrorCode, IsolationLevel, Value};

use crate::heap::Redo;
use crate::session::{Read, Session, Transaction};
use crate::state::{Finished, Instance};

impl Instance {
    /// Whether what was read is not what it was after these changes. The keys of a small table lie on one page, so
    /// a new key is one of those that were looked for.
    fn is_outdated(&self, reads: &[Read], writes: &[Redo]) -> bool {
        let touches = |write: &Redo, (table, key): &Read| {
            let old = write.old.and_then(|old| self.heap.row(*table, old));
            let of_key = |key: &Value| old.as_ref().is_none_or(|row| row.first() == Some(key));
            write.table == *table && key.as_ref().is_none_or(of_key)
        };
        let mut writes = writes.iter();
        writes.any(|write| reads.iter().any(|read| touches(write, read)))
    }

    /// Of the transactions that were committed while this one went on: whether it has read what they have
    /// overwritten, and whether they, or such as go on, have read what it overwrites.
    fn conflicts(&self, transaction: &Transaction) -> (bool, bool, bool) {
        let snapshot = transaction.snapshot.unwrap_or(self.heap.commits);
        let finished = self.serializable.iter();
        let during = finished.filter(|finished| finished.committed > snapshot);
        let (mut out, mut far_out, mut into) = (false, false, false);
        for finished in during {
            if self.is_outdated(&transaction.reads, &finished.writes) {
                (out, far_out) = (true, far_out || finished.has_read_old);
            }
            into |= self.is_outdated(&finished.reads, &transaction.changes);
        }
        let others = self
            .sessions
            .values()
            .filter_map(|other| other.transaction.as_ref());
        for other in others {
            into |= self.is_outdated(&other.reads, &transaction.changes);
        }
        (out, far_out, into)
    }

    fn is_serializable(&self, transaction: &Transaction) -> bool {
        transaction.isolation == IsolationLevel::Serializable && !self.profile.locks_records
    }

    /// A transaction is about to be committed.
    pub fn check_serializable(&self, s: &Session) -> Result<(), ErrorCode> {
        let Some(transaction) = s.transaction.as_ref().filter(|of| self.is_serializable(of)) else {
            return Ok(());
        };
        let (out, far_out, into) = self.conflicts(transaction);
        match far_out || out && into {
            true => Err(ErrorCode::ReadWriteDependencies),
            false => Ok(()),
        }
    }

    /// A transaction is committed: those that go on may have read what it has overwritten.
    pub fn note_serializable(&mut self, transaction: &Transaction) {
        let oldest = self.oldest_snapshot();
        self.serializable
            .retain(|finished| finished.committed > oldest);
        if self.is_serializable(transaction) {
            let (has_read_old, ..) = self.conflicts(transaction);
            self.serializable.push(Finished {
                committed: self.heap.commits + 1,
                reads: transaction.reads.clone(),
                writes: transaction.changes.clone(),
                has_read_old,
            });
        }
    }
}
