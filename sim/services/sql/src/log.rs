//! The log, and how it goes from server to server.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::sql::{Gid, RowStrength};
use picklock_machines::ServerId;

use crate::heap::Redo;
use crate::ids::{TupleId, Xid};
use crate::lock_manager::{Mode, Tag};

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

    pub fn flush_at(&mut self, at: VirtualTime) {
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

/// A message between servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// A standby has so many records of the log on its disk, and asks for what comes after them.
    Flushed(usize),
    /// Records of the log, from this place on.
    Wal(usize, Rc<[Rc<Record>]>),
}

impl fmt::Display for PeerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flushed(records) => write!(out, "flushed up to {records}"),
            Self::Wal(from, records) => write!(out, "log from {from} to {}", from + records.len()),
        }
    }
}

/// How far a standby is, as its primary knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standby {
    pub flushed: usize,
    pub sent: usize,
    pub sent_at: VirtualTime,
}

/// What a server is to others.
#[derive(Clone, Debug, Default)]
pub struct Replication {
    /// The primary whose log it repeats; none if it is a primary.
    pub primary: Option<ServerId>,
    pub standbys: BTreeMap<ServerId, Standby>,
    pub next_status: VirtualTime,
}

impl Replication {
    pub fn of(primary: Option<ServerId>) -> Self {
        Self {
            primary,
            ..Self::default()
        }
    }

    /// When a standby says next how far it is.
    pub fn next_status(&self) -> VirtualTime {
        match self.primary {
            Some(_) => self.next_status,
            None => VirtualTime::NEVER,
        }
    }
}
