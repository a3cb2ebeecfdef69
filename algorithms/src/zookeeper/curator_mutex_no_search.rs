//! `curator_mutex`, except that the client does not look in the background for what a failed create may have made. Must
//! be caught by `incidents/curator-45` and `incidents/curator-79`.

use super::curator_mutex::{CLAIMS, Deviation, InterProcessMutex};
use crate::clients::curator::Protection;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-no-search",
    summary: "Curator's InterProcessMutex that looks for nothing when its create has failed.",
    source: "CURATOR-45, CURATOR-79: CreateBuilderImpl before Curator 2.3 and 2.7",
    flaw: Some(
        "a create that has failed may have made its node, which stays for as long as the session lives",
    ),
    claims: CLAIMS,
    build: Build::ZooKeeper(&|zk, env, lock| {
        let protection = Protection {
            finds_leftover: false,
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
