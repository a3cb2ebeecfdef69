//! What builds a lock that needs a newer server than Redis 7.0.

use crate::clients::redis::Redis;
use crate::clients::{Env, ServiceKind};
use crate::{BuildOver, Lease, Lock};

/// What builds a lock over a handle of Redis of some versions.
pub struct OverVersion {
    /// The versions that have what the lock asks for, as scenario files name them.
    pub versions: &'static [&'static str],
    /// Builds it, with so many permits if it is a semaphore.
    pub build: &'static (dyn Fn(Redis, Env, Lease, u32) -> Box<dyn Lock> + Sync),
}

impl BuildOver for OverVersion {
    fn service(&self) -> ServiceKind {
        ServiceKind::Redis
    }

    fn variants(&self) -> Option<&'static [&'static str]> {
        Some(self.versions)
    }
}

/// `DELEX`, and `SET` with `IFEQ`.
pub(super) const REDIS_8_4: &[&str] = &["redis-8.4"];
/// `DELIFEQ`, and `SET` with `IFEQ`.
pub(super) const VALKEY_9_0: &[&str] = &["valkey-9.0"];
/// `WAITAOF`.
pub(super) const WITH_WAITAOF: &[&str] = &[
    "redis-7.2",
    "redis-7.4",
    "redis-8.4",
    "valkey-8.1",
    "valkey-9.0",
];
/// Fields of hashes that expire by themselves.
pub(super) const WITH_FIELD_EXPIRY: &[&str] = &["redis-7.4", "redis-8.4", "valkey-9.0"];
