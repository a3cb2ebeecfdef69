//! Observes one key from outside: which client writes it, and why it is removed.
//!
//! Answers do not show it. A key that is gone after a command may have been deleted by it, or may have expired when the
//! command looked for it, or right after it; and a command may be one that has waited since another day. The server is
//! where it happens, so it says why.

use std::borrow::Cow;
use std::rc::Rc;

use picklock_clients::redis::{Bytes, Value};

use crate::ConnectionId;
use crate::keyspace::Keyspace;
use crate::value::Data;

/// What has become of the key that a server follows ([`follow_key`](crate::Server::follow_key)) since this was asked
/// last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyChanges {
    /// Why what it held is gone: if more than once, the first time. `None` if it is there, changed or not; and if its
    /// time is over and the server has not noticed.
    pub gone: Option<KeyRemoval>,
    /// The last writer, if the write was not undone.
    pub written: Option<KeyWriter>,
}

/// Why what a key held is gone, and by which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRemoval {
    /// The reason.
    pub why: RemovalReason,
    /// The client whose command was being run then, also if the command had nothing to do with it.
    pub serving: Option<Caller>,
}

/// Why what a key held is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalReason {
    /// Its time was over: a command came upon it, or the server looked for such keys, or it starts and reads its disk.
    Expired,
    /// A command has deleted it, or the last of what was in it.
    Deleted,
    /// A command has put something else in its place.
    Overwritten,
    /// All keys were deleted: `FLUSHALL`.
    Flushed,
    /// It has gone to another node: `MIGRATE`.
    Migrated,
    /// The server has become a replica, and has thrown away what it had for what its primary has.
    Synchronised,
    /// The server was started again, and it was not on its disk.
    Forgotten,
}

/// The client whose command is run. A connection may have sent several that are run one after the other, as when a
/// script that took its time has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The connection.
    pub connection: ConnectionId,
    /// How many outputs of the server come before the answer to the command: those to the same connection answer
    /// commands before it.
    pub outputs_before: usize,
}

/// The writer of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyWriter {
    /// A client.
    Client(Caller),
    /// Another server: its primary, or a node that sends keys.
    Peer,
}

/// What one of several commands that a server has executed in one step has made of a key.
#[derive(Clone, Debug)]
pub struct KeyStep {
    /// What has become of it.
    pub changes: KeyChanges,
    keys: Rc<Keyspace>,
}

impl KeyStep {
    /// The keys of the server after the command.
    pub fn keys(&self) -> KeysAt<'_> {
        KeysAt(&self.keys)
    }
}

/// The keys of a server at some time.
#[derive(Clone, Copy, Debug)]
pub struct KeysAt<'a>(pub(crate) &'a Keyspace);

impl KeysAt<'_> {
    /// The value of a key that has not expired by this wall clock, as `GET`, `HGETALL`, `LRANGE`, or
    /// `ZRANGE 0 -1 WITHSCORES` would answer it.
    pub fn read(self, wall_micros: i64, key: &[u8]) -> Option<Value> {
        let now = wall_micros.div_euclid(1_000);
        let entry = self.0.get(key)?;
        if entry.has_expired(now) {
            return None;
        }
        match &entry.data {
            Data::Hash(hash) => match hash.at(now) {
                Cow::Borrowed(_) => Some(entry.data.value()),
                Cow::Owned(left) => (!left.0.is_empty()).then(|| Data::Hash(left).value()),
            },
            Data::Text(_) | Data::List(_) | Data::Sorted(_) | Data::Set(_) => {
                Some(entry.data.value())
            }
        }
    }

    /// When, by the wall clock of the server, a key expires, in milliseconds since the Unix epoch; `None` if never, or
    /// no such key.
    pub fn expires_at(self, key: &[u8]) -> Option<i64> {
        self.0.get(key)?.expires
    }

    /// The same of a field of a hash.
    pub fn field_expires_at(self, key: &[u8], field: &[u8]) -> Option<i64> {
        match &self.0.get(key)?.data {
            Data::Hash(hash) => hash.1.of(field),
            Data::Text(_) | Data::List(_) | Data::Sorted(_) | Data::Set(_) => None,
        }
    }

    /// When, by the wall clock of the server, a key or a field of it expires next, in milliseconds since the Unix
    /// epoch.
    pub fn next_expiry(self, wall_micros: i64, key: &[u8]) -> Option<i64> {
        let entry = self.0.get(key)?;
        let field = match &entry.data {
            Data::Hash(hash) => hash.1.next(wall_micros.div_euclid(1_000)),
            Data::Text(_) | Data::List(_) | Data::Sorted(_) | Data::Set(_) => None,
        };
        entry.expires.into_iter().chain(field).min()
    }
}

/// The key that is followed.
#[derive(Clone, Debug)]
pub(crate) struct KeyObserver {
    key: Bytes,
    fate: KeyChanges,
    steps: Vec<KeyStep>,
}

impl KeyObserver {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self {
            key: key.into(),
            fate: KeyChanges::default(),
            steps: Vec::new(),
        }
    }

    /// Whether something has become of it since this was asked last.
    pub(crate) fn has_changed(&self) -> bool {
        self.fate != KeyChanges::default()
    }

    /// Keeps what has become of it by now, when these are the keys, apart from what comes next.
    pub(crate) fn end_step(&mut self, keys: &Rc<Keyspace>) {
        let (changes, keys) = (std::mem::take(&mut self.fate), Rc::clone(keys));
        if changes != KeyChanges::default() {
            self.steps.push(KeyStep { changes, keys });
        }
    }

    /// The steps before the last one, since this was asked last.
    pub(crate) fn take_steps(&mut self) -> Vec<KeyStep> {
        std::mem::take(&mut self.steps)
    }

    pub(crate) fn key(&self) -> Bytes {
        Bytes::clone(&self.key)
    }

    /// What has become of the key since this was asked last.
    pub(crate) fn take_changes(&mut self) -> KeyChanges {
        let changes = std::mem::take(&mut self.fate);
        match changes == KeyChanges::default() {
            // No command after the last step that was kept apart has touched it.
            true => { self.steps.pop() }.map_or(changes, |step| step.changes),
            false => changes,
        }
    }

    /// Notes why a key goes, or what it held.
    #[inline]
    pub(crate) fn note_removed(&mut self, key: &[u8], why: RemovalReason, serving: Option<Caller>) {
        if *self.key == *key {
            self.fate.gone.get_or_insert(KeyRemoval { why, serving });
            self.fate.written = None;
        }
    }

    /// Notes that a key was written, and its writer.
    #[inline]
    pub(crate) fn note_write(&mut self, key: &[u8], writer: KeyWriter) {
        if *self.key == *key {
            self.fate.written = Some(writer);
        }
    }
}
