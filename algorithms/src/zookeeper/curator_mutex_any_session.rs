//! `curator_mutex`, except that a create that is repeated takes every node with its guid for its own, whatever session
//! has made it. Must be caught by `incidents/curator-498`.

use super::curator_mutex::{CLAIMS, Deviation, InterProcessMutex};
use crate::clients::curator::Protection;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-any-session",
    summary: "Curator's InterProcessMutex whose create adopts a node of an older session.",
    source: "CURATOR-498: CreateBuilderImpl before Curator 4.2",
    flaw: Some("a node with our guid may be of a session that is about to end"),
    claims: CLAIMS,
    build: Build::ZooKeeper(&|zk, env, lock| {
        let protection = Protection {
            minds_session: false,
            ..Protection::FULL
        };
        let deviation = Deviation {
            protection: Some(protection),
            ..Deviation::NONE
        };
        Box::new(InterProcessMutex::new(zk, env, lock, deviation))
    }),
    ..super::curator_mutex::RECIPE
};
