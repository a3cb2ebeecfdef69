//! Keys, what they hold, and when they expire.

use indexmap::IndexMap;
use picklock_clients::redis::Bytes;
use rustc_hash::FxBuildHasher;

use crate::value::Data;

/// Keys, what they hold, and when they expire. It knows no time: the caller says what has expired.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keyspace {
    entries: IndexMap<Bytes, Entry, FxBuildHasher>,
    /// No key expires before, in milliseconds of the wall clock.
    earliest: Option<i64>,
    /// Whether a field of a hash ever was to expire by itself.
    has_field_times: bool,
}

/// What is known of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) data: Data,
    /// When it expires, in milliseconds since the Unix epoch.
    pub(crate) expires: Option<i64>,
}

impl Entry {
    /// Whether it has expired for readers: at its last millisecond it is still there.
    pub(crate) fn has_expired(&self, wall_millis: i64) -> bool {
        self.expires.is_some_and(|expires| wall_millis > expires)
    }
}

impl Keyspace {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// What a key holds, to be changed. When it expires is for [`expire_at`](Self::expire_at) to change.
    pub(crate) fn data_mut(&mut self, key: &[u8]) -> Option<&mut Data> {
        self.entries.get_mut(key).map(|entry| &mut entry.data)
    }

    /// What a key holds; if there is none, it is made to hold this, and does not expire.
    pub(crate) fn data_or(&mut self, key: &[u8], nothing: impl FnOnce() -> Data) -> &mut Data {
        let index = match self.entries.get_index_of(key) {
            Some(index) => index,
            None => {
                let entry = Entry {
                    data: nothing(),
                    expires: None,
                };
                self.entries.insert_full(key.into(), entry).0
            }
        };
        &mut self.entries[index].data
    }

    /// Puts something there instead of what there was, which is the answer.
    pub(crate) fn put(&mut self, key: &[u8], data: Data, expires: Option<i64>) -> Option<Entry> {
        self.note(expires);
        if let Some(at) = data.fields_expire() {
            self.note_field_time(at);
        }
        let entry = Entry { data, expires };
        match self.entries.get_mut(key) {
            Some(old) => Some(std::mem::replace(old, entry)),
            None => self.entries.insert(key.into(), entry),
        }
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<Entry> {
        self.entries.swap_remove(key)
    }

    /// Sets when a key expires. Whether there is such a key.
    pub(crate) fn expire_at(&mut self, key: &[u8], expires: Option<i64>) -> bool {
        self.note(expires);
        match self.entries.get_mut(key) {
            Some(entry) => {
                entry.expires = expires;
                true
            }
            None => false,
        }
    }

    /// Whether a field of a hash may expire by itself.
    #[inline]
    pub(crate) fn has_field_times(&self) -> bool {
        self.has_field_times
    }

    /// Notes that a field of a hash expires then.
    pub(crate) fn note_field_time(&mut self, at: i64) {
        self.has_field_times = true;
        // A field that expires in this millisecond is still there, and gone in the next.
        self.note(Some(at + 1));
    }

    /// Notes when the fields of a key expire that are left.
    pub(crate) fn note_fields_of(&mut self, key: &[u8]) {
        let left = self.get(key);
        if let Some(at) = left.and_then(|entry| entry.data.fields_expire()) {
            self.note_field_time(at);
        }
        if let Some(expires) = self.get(key).and_then(|entry| entry.expires) {
            self.note(Some(expires));
        }
    }

    fn note(&mut self, expires: Option<i64>) {
        if let Some(expires) = expires {
            let earliest = self.earliest.unwrap_or(expires);
            self.earliest = Some(earliest.min(expires));
        }
    }

    /// The name of the key at a place of the order of [`iter`](Self::iter).
    pub(crate) fn name_at(&self, index: usize) -> Option<Bytes> {
        let (name, _) = self.entries.get_index(index)?;
        Some(Bytes::clone(name))
    }

    /// The names of keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Bytes> {
        self.iter().map(|(name, _)| name)
    }

    /// Keys and what is known of them, in an order that depends on nothing but what was done here.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Bytes, &Entry)> {
        self.entries.iter()
    }

    /// No key expires before this; `None` if none does at all.
    pub(crate) fn earliest(&self) -> Option<i64> {
        self.earliest
    }

    /// Keys whose time has come, or that of a field of theirs, for the expiry cycle: at their last millisecond keys are
    /// among them.
    pub(crate) fn due(&mut self, wall_millis: i64) -> Vec<Bytes> {
        if self.earliest.is_none_or(|earliest| earliest > wall_millis) {
            return Vec::new();
        }
        let mut due = Vec::new();
        let mut earliest = None;
        for (key, entry) in &self.entries {
            let field = entry.data.fields_expire().map(|at| at + 1);
            match entry.expires.into_iter().chain(field).min() {
                Some(expires) if expires <= wall_millis => due.push(Bytes::clone(key)),
                Some(expires) => earliest = Some(earliest.unwrap_or(expires).min(expires)),
                None => {}
            }
        }
        self.earliest = earliest;
        due
    }

    /// Keys that have expired for readers.
    pub(crate) fn expired(&self, wall_millis: i64) -> Vec<Bytes> {
        let expired = self
            .iter()
            .filter(|(_, entry)| entry.has_expired(wall_millis));
        expired.map(|(key, _)| Bytes::clone(key)).collect()
    }
}
