//! The transaction log of a server, and its disk.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::Zxid;

use super::txn::{SharedTxn, Txn};

/// How many applied transactions are kept for servers that come back after a while. A server that was away longer gets
/// a snapshot.
pub(super) const WINDOW: usize = 500;
/// How many are kept by a lone server, to which no other comes back: what was logged lately can be looked at.
pub(super) const WINDOW_ALONE: usize = 16;

/// The transactions that a server has logged, in the order of their zxids.
#[derive(Clone, Debug)]
pub(super) struct TxnLog {
    entries: VecDeque<Entry>,
    /// How many of the entries, from the oldest, are applied to the tree.
    applied: usize,
    /// How many applied transactions are kept.
    window: usize,
    /// The newest transaction that is no entry any more.
    base: Zxid,
    /// How long a flush takes, in microseconds.
    flush: u64,
    /// When the flush that was started last ends. What comes before that waits for the next flush.
    flushing_until: u64,
    /// When the flush after that one ends; not after it if none is queued.
    queued_until: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    txn: SharedTxn,
    /// When it is safe on disk.
    durable: VirtualTime,
}

impl TxnLog {
    pub(super) fn new(base: Zxid, flush: u64, window: usize) -> Self {
        Self {
            entries: VecDeque::with_capacity(128),
            applied: 0,
            window,
            base,
            flush,
            flushing_until: 0,
            queued_until: 0,
        }
    }

    pub(super) fn set_flush(&mut self, flush: u64) {
        self.flush = flush;
    }

    /// The newest transaction in the log.
    pub(super) fn last_zxid(&self) -> Zxid {
        self.entries
            .back()
            .map_or(self.base, |entry| entry.txn.zxid)
    }

    /// The newest transaction that is safe on disk.
    pub(super) fn durable_zxid(&self, now: VirtualTime) -> Zxid {
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.durable <= now)
            .map_or(self.base, |entry| entry.txn.zxid)
    }

    /// When all that is in the log is safe on disk.
    pub(super) fn all_durable(&self) -> VirtualTime {
        self.entries
            .back()
            .map_or(VirtualTime::ZERO, |entry| entry.durable)
    }

    /// Logs a transaction; answers when it is safe on disk. One that comes while a flush runs joins the next.
    pub(super) fn append(&mut self, now: VirtualTime, txn: SharedTxn) -> VirtualTime {
        let now = now.micros();
        if now >= self.flushing_until && self.queued_until > self.flushing_until {
            self.flushing_until = self.queued_until;
        }
        let durable = if now >= self.flushing_until {
            self.flushing_until = now + self.flush;
            self.flushing_until
        } else {
            if self.queued_until <= self.flushing_until {
                self.queued_until = self.flushing_until + self.flush;
            }
            self.queued_until
        };
        let durable = VirtualTime::from_micros(durable);
        self.entries.push_back(Entry { txn, durable });
        durable
    }

    /// The oldest transaction that is logged but not applied, if it is not after `limit`; it then counts as applied.
    pub(super) fn next_to_apply(&mut self, limit: Zxid) -> Option<SharedTxn> {
        let entry = self.entries.get(self.applied)?;
        if entry.txn.zxid > limit {
            return None;
        }
        if self.applied < self.window {
            self.applied += 1;
            return Some(Rc::clone(&entry.txn));
        }
        let oldest = self.entries.pop_front()?.txn;
        self.base = oldest.zxid;
        match self.applied.checked_sub(1) {
            Some(index) => Some(Rc::clone(&self.entries[index].txn)),
            None => Some(oldest),
        }
    }

    /// The newest transaction up to `zxid` in the log, or the one that it starts after; `None` if it starts later.
    pub(super) fn newest_up_to(&self, zxid: Zxid) -> Option<Zxid> {
        if zxid < self.base {
            return None;
        }
        let after = self.index_after(zxid);
        Some(match after.checked_sub(1) {
            Some(index) => self.entries[index].txn.zxid,
            None => self.base,
        })
    }

    /// The transactions after `zxid`.
    pub(super) fn after(&self, zxid: Zxid) -> impl Iterator<Item = &SharedTxn> {
        self.entries
            .range(self.index_after(zxid)..)
            .map(|entry| &entry.txn)
    }

    /// Forgets the transactions after `zxid`. Those that were applied are never among them.
    pub(super) fn truncate_after(&mut self, zxid: Zxid) {
        self.entries
            .truncate(self.index_after(zxid).max(self.applied));
    }

    /// Forgets all: a snapshot up to `base` takes its place.
    pub(super) fn restart_after(&mut self, base: Zxid) {
        self.entries.clear();
        self.applied = 0;
        self.base = base;
    }

    /// Everything that is logged is safe on disk now.
    pub(super) fn flush_now(&mut self, now: VirtualTime) {
        for entry in self.entries.iter_mut().rev() {
            if entry.durable <= now {
                break;
            }
            entry.durable = now;
        }
        self.flushing_until = 0;
        self.queued_until = 0;
    }

    /// Forgets what was not safe on disk. What was applied was safe on a quorum's, so it may count as safe here.
    pub(super) fn crash(&mut self, now: VirtualTime) {
        let safe = self.entries.partition_point(|entry| entry.durable <= now);
        self.entries.truncate(safe.max(self.applied));
        self.flushing_until = 0;
        self.queued_until = 0;
    }

    fn index_after(&self, zxid: Zxid) -> usize {
        self.entries.partition_point(|entry| entry.txn.zxid <= zxid)
    }

    /// Every transaction that the log still has.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Txn> {
        self.entries.iter().map(|entry| &*entry.txn)
    }
}

#[cfg(test)]
mod tests {
    use super::super::txn::TxnChange;
    use super::*;

    fn at(micros: u64) -> VirtualTime {
        VirtualTime::from_micros(micros)
    }

    fn txn(counter: u32) -> SharedTxn {
        Rc::new(Txn {
            zxid: Zxid::new(1, counter),
            time: 0,
            session: None,
            xid: None,
            change: TxnChange::Check,
        })
    }

    #[test]
    fn a_write_that_comes_while_a_flush_runs_joins_the_next() {
        let mut log = TxnLog::new(Zxid(0), 500, WINDOW);
        assert_eq!(log.append(at(0), txn(1)), at(500));
        assert_eq!(log.append(at(1), txn(2)), at(1000));
        assert_eq!(log.append(at(499), txn(3)), at(1000));
        assert_eq!(log.append(at(500), txn(4)), at(1500));
        assert_eq!(log.append(at(2000), txn(5)), at(2500));
        assert_eq!(log.append(at(2100), txn(6)), at(3000));
        assert_eq!(log.durable_zxid(at(1000)), Zxid::new(1, 3));
    }

    #[test]
    fn a_crash_loses_what_was_not_flushed() {
        let mut log = TxnLog::new(Zxid(0), 500, WINDOW);
        log.append(at(0), txn(1));
        log.append(at(1), txn(2));
        log.crash(at(500));
        assert_eq!(log.last_zxid(), Zxid::new(1, 1));
    }

    #[test]
    fn a_long_log_forgets_its_oldest_applied_transactions() {
        let mut log = TxnLog::new(Zxid(0), 0, WINDOW);
        for counter in 1..=WINDOW as u32 + 10 {
            log.append(at(0), txn(counter));
            log.next_to_apply(Zxid(u64::MAX));
        }
        assert_eq!(log.newest_up_to(Zxid::new(1, 9)), None);
        assert_eq!(log.newest_up_to(Zxid::new(1, 10)), Some(Zxid::new(1, 10)));
        assert_eq!(log.after(Zxid::new(1, 500)).count(), 10);
    }

    #[test]
    fn a_log_that_keeps_nothing_gives_each_transaction_once() {
        let mut log = TxnLog::new(Zxid(0), 0, 0);
        for counter in 1..=3 {
            log.append(at(0), txn(counter));
        }
        assert_eq!(log.next_to_apply(Zxid::new(1, 2)), Some(txn(1)));
        assert_eq!(log.next_to_apply(Zxid::new(1, 2)), Some(txn(2)));
        assert_eq!(log.next_to_apply(Zxid::new(1, 2)), None);
        assert_eq!(log.newest_up_to(Zxid::new(1, 2)), Some(Zxid::new(1, 2)));
        assert_eq!(log.last_zxid(), Zxid::new(1, 3));
    }
}
