//! `WATCH`: which client watches which keys, and whose transaction must fail.

use std::collections::BTreeSet;

use picklock_clients::redis::Bytes;

use crate::ConnectionId;
use crate::keyspace::{Entry, Keyspace};

/// Which clients watch which keys, and which of them have a transaction that must not happen any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedKeys {
    watched: Vec<Watched>,
    touched: BTreeSet<ConnectionId>,
}

#[derive(Clone, Debug)]
struct Watched {
    connection: ConnectionId,
    db: u8,
    key: Bytes,
    /// Its time had come already when it was watched: that it goes is no change.
    had_expired: bool,
}

impl WatchedKeys {
    pub(crate) fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Begins to watch a key of a database.
    pub(crate) fn watch(
        &mut self,
        connection: ConnectionId,
        (db, key): (u8, &[u8]),
        had_expired: bool,
    ) {
        let same = |watched: &Watched| {
            watched.connection == connection && watched.db == db && *watched.key == *key
        };
        if !self.watched.iter().any(same) {
            self.watched.push(Watched {
                connection,
                db,
                key: key.into(),
                had_expired,
            });
        }
    }

    /// Forgets what a connection watches, and that any of it was touched.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.touched.remove(&connection);
        self.watched
            .retain(|watched| watched.connection != connection);
    }

    /// Notes that a key was changed; `there` says whether it is there now.
    pub(crate) fn touch(&mut self, db: u8, key: &[u8], there: bool) {
        let touched = &mut self.touched;
        let is_it = |other: &&mut Watched| other.db == db && *other.key == *key;
        for watched in self.watched.iter_mut().filter(is_it) {
            if watched.had_expired && !there {
                // It is gone, as it had to be. From now on it counts as missing.
                watched.had_expired = false;
            } else if !watched.had_expired {
                touched.insert(watched.connection);
            }
        }
    }

    /// Notes that all keys of a database are gone, which were these, and that these have come instead.
    pub(crate) fn touch_all(
        &mut self,
        db: u8,
        before: &Keyspace,
        after: &Keyspace,
        wall_millis: i64,
    ) {
        for watched in self.watched.iter_mut().filter(|watched| watched.db == db) {
            let now = after.get(&watched.key);
            if before.get(&watched.key).is_none() && now.is_none() {
                continue;
            }
            if watched.had_expired {
                match now {
                    None => {
                        watched.had_expired = false;
                        continue;
                    }
                    Some(entry) if entry.has_expired(wall_millis) => continue,
                    Some(_) => {}
                }
            }
            self.touched.insert(watched.connection);
        }
    }

    /// Whether the transaction of this connection must not happen: a key that it watches was touched, or has expired
    /// since (which servers before 6.0.9 did not see).
    pub(crate) fn stop<'a>(
        &self,
        connection: ConnectionId,
        entry_in: impl Fn(u8, &[u8]) -> Option<&'a Entry>,
        sees_expiry: bool,
        wall_millis: i64,
    ) -> bool {
        let has_expired = |watched: &Watched| {
            let entry = entry_in(watched.db, &watched.key);
            watched.connection == connection
                && !watched.had_expired
                && entry.is_some_and(|entry| entry.has_expired(wall_millis))
        };
        self.touched.contains(&connection) || (sees_expiry && self.watched.iter().any(has_expired))
    }
}
