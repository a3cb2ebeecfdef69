//! The holds in the keys of a lock on a server, and their holders.

use picklock_algorithms::Keys;
use picklock_checker::{ContenderId, Mode, VirtualTime};
use picklock_clients::redis::{Bytes, Value};
use picklock_redis::KeysAt;

/// A contender that holds a lock by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub by: ContenderId,
    /// What tells one hold from the next.
    pub identity: Bytes,
    pub mode: Mode,
}

/// A hold that the key of a lock has on one server.
#[derive(Clone, Debug)]
pub(super) struct AttributedHold {
    pub holder: Holder,
    /// How many entries it counts.
    pub entries: u64,
    /// When it ends by itself, in the world's time.
    pub ends: VirtualTime,
    /// From when on another contender may take it away, by the wall clock, in milliseconds.
    pub takeable: Option<i64>,
}

/// The key of a lock on one server.
#[derive(Clone, Debug, Default)]
pub(super) struct LockKey {
    /// The holds that it has.
    pub holds: Vec<AttributedHold>,
    /// When, by the wall clock, it expires, or the first of its fields, in milliseconds.
    pub expires: Option<i64>,
    /// How many permits it says are free, of a semaphore that counts.
    pub free: Option<i64>,
    /// The holders that it had before.
    pub before: Vec<Holder>,
}

impl LockKey {
    /// The holders that it has.
    pub fn holders(&self) -> impl Iterator<Item = &Holder> {
        self.holds.iter().map(|hold| &hold.holder)
    }

    /// Whether it has a hold of this holder.
    pub fn has(&self, holder: &Holder) -> bool {
        self.holders().any(|other| other == holder)
    }

    /// The holders that it has, and did not have when it had these holds.
    pub fn new_holders(&self, before: &[AttributedHold]) -> impl Iterator<Item = &Holder> {
        let had = |holder: &&Holder| before.iter().any(|hold| hold.holder == **holder);
        self.holders().filter(move |holder| !had(holder))
    }

    /// The holders that it had when it had these holds, and has no more.
    pub fn lost_holders<'b>(
        &self,
        before: &'b [AttributedHold],
    ) -> impl Iterator<Item = &'b Holder> {
        let before = before.iter().map(|hold| &hold.holder);
        before.filter(|holder| !self.has(holder))
    }

    /// Whether its lease is over by this wall clock: a key lives through the millisecond in which it expires.
    pub fn is_over(&self, wall: i64) -> bool {
        let is_over = |expires| wall.div_euclid(1_000) > expires;
        self.expires.is_some_and(is_over)
    }

    /// When the first of its holds ends by itself.
    pub fn first_end(&self) -> VirtualTime {
        let ends = self.holds.iter().map(|hold| hold.ends);
        ends.min().unwrap_or(VirtualTime::NEVER)
    }
}

/// The keys of a server, by its wall clock.
pub(super) struct CommittedKeys<'a> {
    pub keys: KeysAt<'a>,
    pub wall: i64,
}

impl Keys for CommittedKeys<'_> {
    fn read(&self, key: &str) -> Option<Value> {
        self.keys.read(self.wall, key.as_bytes())
    }

    fn expires_at(&self, key: &str) -> Option<i64> {
        self.keys.expires_at(key.as_bytes())
    }

    fn field_expires_at(&self, key: &str, field: &[u8]) -> Option<i64> {
        self.keys.field_expires_at(key.as_bytes(), field)
    }
}
