//! Fields of hashes that expire by themselves (Redis 7.4), and the deletion of those whose time is over.

use std::borrow::Cow;
use std::collections::BTreeMap;

use picklock_clients::redis::{Bytes, Command, ErrorReply};

use crate::db::{Core, Expired};
use crate::key_observer::{KeyWriter, RemovalReason};
use crate::keyspace_events::Class;
use crate::value::{Data, Hash};

/// When the fields of a hash expire that do, in milliseconds since the Unix epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldTimes(Option<Box<BTreeMap<Bytes, i64>>>);

impl FieldTimes {
    /// When a field expires.
    pub(crate) fn of(&self, field: &[u8]) -> Option<i64> {
        self.0.as_ref()?.get(field).copied()
    }

    /// Lets a field expire then.
    pub(crate) fn set(&mut self, field: &[u8], at: i64) {
        let times = self.0.get_or_insert_default();
        times.insert(field.into(), at);
    }

    /// Lets a field stay. Whether it would have expired.
    pub(crate) fn clear(&mut self, field: &[u8]) -> bool {
        let Some(times) = &mut self.0 else {
            return false;
        };
        let expired = times.remove(field).is_some();
        if times.is_empty() {
            self.0 = None;
        }
        expired
    }

    /// When the first of them expires.
    pub(crate) fn earliest(&self) -> Option<i64> {
        self.iter().map(|(_, at)| at).min()
    }

    /// When the first of those expires that are there at this time.
    pub(crate) fn next(&self, wall_millis: i64) -> Option<i64> {
        let times = self.iter().map(|(_, at)| at);
        times.filter(|at| *at >= wall_millis).min()
    }

    /// Fields and when they expire.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Bytes, i64)> {
        let times = self.0.iter().flat_map(|times| times.iter());
        times.map(|(field, at)| (field, *at))
    }

    /// The fields whose time is over: at their last millisecond they are still there.
    fn over(&self, wall_millis: i64) -> Vec<Bytes> {
        let over = self.iter().filter(|(_, at)| *at < wall_millis);
        over.map(|(field, _)| Bytes::clone(field)).collect()
    }
}

impl Hash {
    /// The same without the fields whose time is over.
    pub(crate) fn at(&self, wall_millis: i64) -> Cow<'_, Self> {
        let over = self.1.over(wall_millis);
        if over.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut left = self.clone();
        for field in over {
            left.remove(&field);
        }
        Cow::Owned(left)
    }

    /// Deletes a field, and when it was to expire. Whether it was there.
    pub(crate) fn remove(&mut self, field: &[u8]) -> bool {
        self.1.clear(field);
        self.0.shift_remove(field).is_some()
    }
}

impl Core {
    /// What a key holds, if it is a hash, without the fields whose time is over.
    pub(crate) fn read_hash(&mut self, key: &[u8]) -> Result<Option<Cow<'_, Hash>>, ErrorReply> {
        self.expire_fields(key);
        let (now, hides) = (self.wall_millis(), self.expired == Expired::Hidden);
        let Some(hash) = self.read::<Hash>(key)? else {
            return Ok(None);
        };
        let hash = if hides {
            hash.at(now)
        } else {
            Cow::Borrowed(hash)
        };
        Ok((!hash.0.is_empty()).then_some(hash))
    }

    /// Deletes the fields of a hash whose time is over, which replicas are told, and the hash with the last of them.
    #[inline]
    pub(crate) fn expire_fields(&mut self, key: &[u8]) {
        if self.keys.has_field_times() && self.expired == Expired::Deleted {
            self.delete_expired_fields(key);
        }
    }

    fn delete_expired_fields(&mut self, key: &[u8]) {
        let now = self.wall_millis();
        let Some(Data::Hash(hash)) = self.keys.data_mut(key) else {
            return;
        };
        let over = hash.1.over(now);
        if over.is_empty() {
            return;
        }
        for field in &over {
            hash.remove(field);
        }
        let is_empty = hash.0.is_empty();
        if is_empty {
            self.keys.remove(key);
        }
        if is_empty {
            self.note_removed(key, RemovalReason::Expired);
        } else if self.selected == 0 {
            for followed in &mut self.followed {
                followed.note_write(key, KeyWriter::Peer);
            }
        }
        self.touched(key);
        self.notify(Class::Hash, "hexpired", key);
        if is_empty {
            self.notify(Class::Generic, "del", key);
        }
        for field in over {
            let told = || Command::new("HDEL").arg(key).arg(&field);
            self.effects.add_with(told);
        }
    }
}
