//! `redlock`, except that step 4 waits a random time that is short beside an attempt. Must be caught by
//! `redis/redlock-silent-server`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-short-delay",
    summary: "Redlock whose random delay before a retry is short beside the time that an attempt takes.",
    source: "redis.io, Distributed locks with Redis, 'Retry on failure': a random delay to desynchronize clients",
    flaw: Some(
        "the votes stay split while a server is silent: each asks while another has what it needs",
    ),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::ShortDelay))
    }),
    ..redlock::RECIPE
};
