//! `redisson`, except that a script is not sent again once it has been: a server that does not know it, as one that
//! was a replica, refuses. Must be caught by `redis/noscript`.

use super::redisson::{self, RedissonLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-scripts-sent-once",
    summary: "Redisson's RLock that sends each script once, and then its SHA1 alone.",
    source: "Redisson before 3.48.0: NOSCRIPT after a failover",
    flaw: Some("a server that was a replica does not know the scripts"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedissonLock::new(redis, env, lease).with_scripts_sent_once())
    }),
    ..redisson::RECIPE
};
