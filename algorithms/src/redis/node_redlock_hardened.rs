//! `node_redlock`, except that a tied attempt has failed, what a failed attempt has set is deleted before the next, a
//! lock that has expired when it is acquired is given back, and the routine is told when the lock expires.

use super::node_redlock::{self, NodeRedlock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "node-redlock-hardened",
    summary: "node-redlock's using whose signal is aborted when the lock expires, and whose ties are lost.",
    source: "node-redlock 5.0.0-beta.2, src/index.ts, hardened (its issues 296 and 369)",
    flaw: None,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(NodeRedlock::new(redis, env, lease).hardened())
    }),
    ..node_redlock::RECIPE
};
