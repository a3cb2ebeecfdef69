//! Which clients wait for which keys, and which of these have something now.

mod serve;

use std::collections::BTreeMap;

use picklock_clients::redis::{Bytes, Command};

use crate::ConnectionId;
use crate::value::ListEnd;

/// Clients that wait, by database and key, in the order in which they came, and the keys that were made meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockingKeys {
    blocked: BTreeMap<(u8, Bytes), Vec<ConnectionId>>,
    ready: Vec<(u8, Bytes)>,
}

impl BlockingKeys {
    pub(crate) fn is_empty(&self) -> bool {
        self.blocked.is_empty()
    }

    fn block(&mut self, db: u8, key: &Bytes, connection: ConnectionId) {
        let waiting = self.blocked.entry((db, Bytes::clone(key))).or_default();
        if !waiting.contains(&connection) {
            waiting.push(connection);
        }
    }

    /// A connection does not wait any more.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.blocked.retain(|_, waiting| {
            waiting.retain(|other| *other != connection);
            !waiting.is_empty()
        });
    }

    /// A key was made: its waiters are served when what is being run is over.
    pub(crate) fn signal(&mut self, db: u8, key: &[u8]) {
        let index = (db, Bytes::from(key));
        if self.blocked.contains_key(&index) && !self.ready.contains(&index) {
            self.ready.push(index);
        }
    }

    /// All keys of a database may have come from elsewhere.
    pub(crate) fn signal_all(&mut self, db: u8) {
        let of_db = self.blocked.keys().filter(|(other, _)| *other == db);
        let names: Vec<Bytes> = of_db.map(|(_, key)| Bytes::clone(key)).collect();
        for key in names {
            self.signal(db, &key);
        }
    }
}

/// What a connection waits to take from one of several lists.
#[derive(Clone, Debug)]
pub(crate) struct KeysWanted {
    pub(crate) db: u8,
    pub(crate) keys: Vec<Bytes>,
    pub(crate) pop: BlockingPop,
    /// The command, as it was sent.
    pub(crate) command: Command,
}

/// What is to be done with the list that has something.
#[derive(Clone, Debug)]
pub(crate) enum BlockingPop {
    /// Take one element.
    One { from: ListEnd },
    /// Take several.
    Several { from: ListEnd, count: usize },
    /// Move one to another list.
    Move {
        from: ListEnd,
        to: ListEnd,
        target: Bytes,
        /// Replicas get the command by the name that it had before it could choose ends.
        old_name: bool,
    },
}
