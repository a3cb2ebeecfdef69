//! `redlock_net`, except that a renewal tells the lease in whole seconds. Must be caught by
//! `redis/renewal-in-whole-seconds`.

use super::redlock_net::{self, RedLockNet, Unit};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-net-whole-seconds",
    summary: "RedLock.net whose lease is set in milliseconds and renewed in whole seconds.",
    source: "RedLock.net before 1.6.2",
    flaw: Some(
        "the renewal of a lease of less than a second deletes the key, and says that it is renewed",
    ),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedLockNet::new(redis, env, lease, Unit::Seconds))
    }),
    ..redlock_net::RECIPE
};
