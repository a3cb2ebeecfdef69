//! The deletion of fields of hashes whose time is over.

use std::borrow::Cow;

use picklock_clients::redis::{Command, ErrorReply};

use crate::db::{Core, Expired};
use crate::key_observer::{KeyWriter, RemovalReason};
use crate::keyspace_events::Class;
use crate::value::{Data, Hash};

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
