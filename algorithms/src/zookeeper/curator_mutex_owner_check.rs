//! `curator_mutex`, except that whoever is first asks whose node it is before it enters. Must hold in
//! `zookeeper/curator-outlived-session` and `zookeeper/curator-unheard-session`, where the other is caught.

use super::curator_mutex::{Deviation, InterProcessMutex, REENTRANT_CLAIMS};
use crate::{Build, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-owner-check",
    summary: "Curator's InterProcessMutex that does not enter on the node of a session that it has given up.",
    source: "CURATOR-604; Apache Curator 5.4, LeaderLatch.checkLeadership (CURATOR-653)",
    flaw: None,
    claims: REENTRANT_CLAIMS,
    ownership: OwnershipRule::LOWEST_CHILD,
    requests: super::curator_mutex::REQUESTS,
    inputs: super::curator_mutex::INPUTS,
    cancellable: true,
    shareable: true,
    build: Build::ZooKeeper(&|zk, env, lock| {
        let deviation = Deviation {
            checks_owner: true,
            ..Deviation::NONE
        };
        Box::new(InterProcessMutex::new(zk, env, lock, deviation))
    }),
};
