//! What stands behind `service`, in a file and in a case.

use super::key::{Holds, Variant};
use super::lease_server::LEASE_SERVER;
use super::redis::REDIS;
use super::zookeeper::ZOOKEEPER;

/// The service, by its name, and its settings.
pub(super) const SERVICE: Holds = Holds::Variants(&[
    Variant::or_word(
        "zookeeper",
        Holds::Table(&ZOOKEEPER),
        "An ensemble of ZooKeeper.",
    ),
    Variant::or_word("redis", Holds::Table(&REDIS), "Redis."),
    Variant::or_word(
        "lease-server",
        Holds::Table(&LEASE_SERVER),
        "One server that grants the lock for a while.",
    ),
]);
