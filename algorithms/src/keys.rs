//! The keys of a service, as a rule reads them.

use crate::clients::redis::Value;

/// The keys that a server has committed.
pub trait Keys {
    /// The value of a key that has not expired, as `GET`, `HGETALL`, `LRANGE`, or `ZRANGE 0 -1 WITHSCORES` would answer
    /// it.
    fn read(&self, key: &str) -> Option<Value>;

    /// When a key expires, by the wall clock of the server, in milliseconds; `None` if never, or no such key.
    fn expires_at(&self, key: &str) -> Option<i64>;

    /// The same of a field of a hash.
    fn field_expires_at(&self, _key: &str, _field: &[u8]) -> Option<i64> {
        None
    }
}
