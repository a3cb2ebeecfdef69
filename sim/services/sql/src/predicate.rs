//! Serializable transactions (PostgreSQL's `predicate.c`): one is refused that stands between two others, of which one has
//! read what it wrote, and it has read what the other wrote.

use picklock_clients::sql::{ErrorCode, IsolationLevel, Value};
use picklock_machines::ConnectionId;

use crate::heap::{Redo, Snapshot};
use crate::server::Server;
use crate::transaction::Transaction;

/// Rows of a table that were looked for: those of a key, or all.
pub(crate) type Read = (usize, Option<Value>);

/// A serializable transaction that is committed.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    committed: Snapshot,
    reads: Vec<Read>,
    writes: Vec<Redo>,
    /// It has read what one has written that was committed before it.
    has_read_old: bool,
}

impl Server {
    /// Whether what was read is not what it was after these changes. The keys of a small table lie on one page, so a new key
    /// is one of those that were looked for.
    fn is_outdated(&self, reads: &[Read], writes: &[Redo]) -> bool {
        let touches = |write: &Redo, (table, key): &Read| {
            let old = write.old.and_then(|old| self.heap.row(*table, old));
            let of_key = |key: &Value| old.as_ref().is_none_or(|row| row.first() == Some(key));
            write.table == *table && key.as_ref().is_none_or(of_key)
        };
        let mut writes = writes.iter();
        writes.any(|write| reads.iter().any(|read| touches(write, read)))
    }

    fn serializable(&self, me: ConnectionId) -> Option<&Transaction> {
        let transaction = self.backends.get(&me)?.transaction.as_ref();
        transaction.filter(|transaction| transaction.isolation == IsolationLevel::Serializable)
    }

    /// Of the transactions that were committed while this one went on: whether it has read what they have overwritten, and
    /// whether they, or such as go on, have read what it overwrites.
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
        for other in self
            .backends
            .keys()
            .filter_map(|other| self.serializable(*other))
        {
            let is_other = other.xids != transaction.xids || other.began != transaction.began;
            into |= is_other && self.is_outdated(&other.reads, &transaction.changes);
        }
        (out, far_out, into)
    }

    /// A transaction is about to be committed.
    pub(crate) fn check_serializable(&self, me: ConnectionId) -> Result<(), ErrorCode> {
        let Some(transaction) = self
            .serializable(me)
            .filter(|_| !self.profile.locks_records)
        else {
            return Ok(());
        };
        let (out, far_out, into) = self.conflicts(transaction);
        match far_out || out && into {
            true => Err(ErrorCode::ReadWriteDependencies),
            false => Ok(()),
        }
    }

    /// A transaction is committed: those that go on may have read what it has overwritten.
    pub(crate) fn note_serializable(&mut self, transaction: &Transaction) {
        let of_all = self
            .backends
            .values()
            .filter_map(|backend| backend.snapshot());
        let oldest = of_all.min().unwrap_or(Snapshot::MAX);
        self.serializable
            .retain(|finished| finished.committed > oldest);
        if transaction.isolation == IsolationLevel::Serializable && !self.profile.locks_records {
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
