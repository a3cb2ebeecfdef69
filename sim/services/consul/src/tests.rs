//! Servers on a network of their own. No Consul runs here: each test names the sentence or the source that it goes by.

mod cluster;
mod kv;
mod leaders;
mod queries;
mod sessions;

use std::time::Duration;

use picklock_clients::consul::{KvPair, PutIf, Request, SessionBehavior, SessionEntry, SessionId};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A session of so many seconds, with a lock-delay of so many.
fn entry(ttl: u64, lock_delay: u64) -> SessionEntry {
    SessionEntry {
        ttl: secs(ttl),
        lock_delay: secs(lock_delay),
        behavior: SessionBehavior::Release,
    }
}

/// A put of a key.
fn put(condition: PutIf, key: &str, value: &str, session: Option<SessionId>) -> Request {
    let pair = KvPair {
        key: key.into(),
        value: value.into(),
        session,
        ..KvPair::default()
    };
    Request::Put(condition, pair)
}
