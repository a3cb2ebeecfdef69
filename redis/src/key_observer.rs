//! A key that somebody outside follows: why it goes, and for whom.
//!
//! From outside nobody can tell. A key that is gone after a command may have been deleted by it, or may have expired
//! when the command looked for it, or right after it; and a command may be one that has waited since another day. The
//! server is where it happens, so it says why.

use picklock_algorithms::clients::redis::Bytes;

use crate::db::{Core, Expired};
use crate::keyspace::{Entry, Keyspace};
use crate::{ConnectionId, Server};

/// What has become of the key that a server follows ([`Server::follow_key`]) since it was asked last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Why what it held is gone: if more than once, the first time. `None` if it is there, changed or not; and if its
    /// time is over and the server has not noticed.
    pub gone: Option<Gone>,
    /// Who has written it last, if that was not undone.
    pub written: Option<Writer>,
}

/// Why what a key held is gone, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Why.
    pub why: Why,
    /// Whose command was being run then, also if the command had nothing to do with it.
    pub serving: Option<ConnectionId>,
}

/// Why what a key held is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its time was over: somebody came upon it, or the server looked for such keys, or it starts and reads its disk.
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

/// Who has written something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A client.
    Client(ConnectionId),
    /// Another server: its primary, or a node that sends keys.
    Peer,
}

/// The key that is followed.
#[derive(Clone, Debug)]
pub(crate) struct KeyObserver {
    key: Bytes,
    fate: Fate,
}

impl Server {
    /// Follows a key from now on, and no other: [`fate`](Self::fate) tells what becomes of it.
    pub fn follow_key(&mut self, key: &[u8]) {
        let (key, fate) = (Bytes::from(key), Fate::default());
        self.core.followed = Some(KeyObserver { key, fate });
    }

    /// What has become of the key that it follows since it was asked last.
    #[inline]
    pub fn fate(&mut self) -> Fate {
        let followed = self.core.followed.as_mut();
        followed.map_or_else(Fate::default, |it| std::mem::take(&mut it.fate))
    }
}

impl Core {
    /// Notes why a key goes, or what it held.
    #[inline]
    pub(crate) fn goes(&mut self, key: &[u8], why: Why) {
        let serving = self.serving;
        if let Some(followed) = &mut self.followed
            && *followed.key == *key
        {
            followed.fate.gone.get_or_insert(Gone { why, serving });
            followed.fate.written = None;
        }
    }

    /// Notes that a key was written, or that it is not there any more.
    #[inline]
    pub(crate) fn written(&mut self, key: &[u8], there: bool) {
        if !there {
            self.goes(key, Why::Deleted);
            return;
        }
        let writer = self.serving.map_or(Writer::Peer, Writer::Client);
        if let Some(followed) = &mut self.followed
            && *followed.key == *key
        {
            followed.fate.written = Some(writer);
        }
    }

    /// Notes that this has made way for something else of the same key. Had its time been over, a real server would
    /// have thrown it away before.
    #[inline]
    pub(crate) fn made_way(&mut self, key: &[u8], entry: &Entry) {
        let over = self.expired != Expired::Kept && entry.has_expired(self.wall_millis());
        self.goes(key, if over { Why::Expired } else { Why::Overwritten });
    }

    /// Notes what has become of the key that is followed, where all keys were replaced by others.
    pub(crate) fn were(&mut self, before: &Keyspace, why: Why) {
        let Some(followed) = &self.followed else {
            return;
        };
        let key = Bytes::clone(&followed.key);
        let (before, now) = (before.get(&key), self.keys.get(&key));
        let there = now.is_some();
        if let Some(before) = before
            && now.is_none_or(|now| now.data != before.data)
        {
            let over = before.has_expired(self.wall_millis());
            self.goes(&key, if over { Why::Expired } else { why });
        }
        if there {
            self.written(&key, true);
        }
    }
}
