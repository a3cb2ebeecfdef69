//! When fields of hashes expire by themselves (Redis 7.4).

use std::collections::BTreeMap;

use picklock_clients::redis::Bytes;

/// When the fields of a hash expire that do, in milliseconds since the Unix epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldTimes(BTreeMap<Bytes, i64>);

impl FieldTimes {
    /// When a field expires.
    pub(crate) fn of(&self, field: &[u8]) -> Option<i64> {
        self.0.get(field).copied()
    }

    /// Lets a field expire then.
    pub(crate) fn set(&mut self, field: &[u8], at: i64) {
        self.0.insert(field.into(), at);
    }

    /// Lets a field stay. Whether it would have expired.
    pub(crate) fn clear(&mut self, field: &[u8]) -> bool {
        self.0.remove(field).is_some()
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
        self.0.iter().map(|(field, at)| (field, *at))
    }

    /// The fields whose time is over: at their last millisecond they are still there.
    pub(crate) fn over(&self, wall_millis: i64) -> Vec<Bytes> {
        let over = self.iter().filter(|(_, at)| *at < wall_millis);
        over.map(|(field, _)| Bytes::clone(field)).collect()
    }
}
