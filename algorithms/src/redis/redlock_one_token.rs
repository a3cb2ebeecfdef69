//! `redlock`, except that step 1 makes the token of the client, for all attempts. Must be caught by
//! `redis/redlock-late-delete`.

use super::redlock::{self, Misreading, Redlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-one-token",
    summary: "Redlock with one token for all attempts of a client.",
    source: "redis.io, Distributed locks with Redis: 'unique across all clients and all lock requests', misread",
    flaw: Some("a delete of an earlier attempt that is late deletes the keys of a later one"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Redlock::new(redis, env, lease).misread(Misreading::OneToken))
    }),
    ..redlock::RECIPE
};
