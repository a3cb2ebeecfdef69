//! Who watches which keys, and whose transactions must not happen any more.

use std::collections::BTreeSet;

use picklock_clients::redis::Bytes;

use crate::ConnectionId;
use crate::keyspace::Keyspace;

/// Who watches which keys, and whose transactions must not happen any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    watched: Vec<Watched>,
    touched: BTreeSet<ConnectionId>,
}

#[derive(Clone, Debug)]
struct Watched {
    connection: ConnectionId,
    key: Bytes,
    /// Its time had come already when it was watched: that it goes is no change.
    had_expired: bool,
}

impl Watches {
    pub(crate) fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Begins to watch a key.
    pub(crate) fn watch(&mut self, connection: ConnectionId, key: &[u8], had_expired: bool) {
        let same = |watched: &Watched| watched.connection == connection && *watched.key == *key;
        if !self.watched.iter().any(same) {
            self.watched.push(Watched {
                connection,
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
    pub(crate) fn touch(&mut self, key: &[u8], there: bool) {
        let touched = &mut self.touched;
        for watched in self.watched.iter_mut().filter(|other| *other.key == *key) {
            if watched.had_expired && !there {
                // It is gone, as it had to be. From now on it counts as missing.
                watched.had_expired = false;
            } else if !watched.had_expired {
                touched.insert(watched.connection);
            }
        }
    }

    /// Notes that all keys are gone, which were these, and that these have come instead.
    pub(crate) fn touch_all(&mut self, before: &Keyspace, after: &Keyspace, wall_millis: i64) {
        for watched in &mut self.watched {
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
    pub(crate) fn stop(
        &self,
        connection: ConnectionId,
        keys: &Keyspace,
        sees_expiry: bool,
        wall_millis: i64,
    ) -> bool {
        let has_expired = |watched: &Watched| {
            let entry = keys.get(&watched.key);
            watched.connection == connection
                && !watched.had_expired
                && entry.is_some_and(|entry| entry.has_expired(wall_millis))
        };
        self.touched.contains(&connection) || (sees_expiry && self.watched.iter().any(has_expired))
    }
}
