//! `curator_mutex`, except that its create is not protected: if it was not answered, it is done again. Must be caught
//! by `zookeeper/curator-lost-create-reply`.

use super::curator_mutex::{CLAIMS, Deviation, InterProcessMutex};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-unprotected",
    summary: "Curator's InterProcessMutex over a create without protection.",
    source: "Apache Curator 5.4, CreateBuilder.withProtection",
    flaw: Some("a create whose answer was lost leaves a node that its own maker waits behind"),
    claims: CLAIMS,
    build: Build::ZooKeeper(&|zk, env, lock| {
        let deviation = Deviation {
            protection: None,
            ..Deviation::NONE
        };
        Box::new(InterProcessMutex::new(zk, env, lock, deviation))
    }),
    ..super::curator_mutex::RECIPE
};
