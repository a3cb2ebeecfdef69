//! `curator_mutex`, except that a lost connection does not end the section, but only a lost session does. Must be
//! caught by `zookeeper/curator-cut-off-holder`.

use super::curator_mutex::{CLAIMS, Deviation, InterProcessMutex};
use crate::clients::curator::ErrorPolicy;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-mutex-session-policy",
    summary: "Curator's InterProcessMutex whose listener waits until the session is lost.",
    source: "Apache Curator 5.4, SessionConnectionStateErrorPolicy; Tech Note 14",
    flaw: Some(
        "the session is given up when the connection has been lost for its whole timeout: long after the server has",
    ),
    claims: CLAIMS,
    build: Build::ZooKeeper(&|zk, env, lock| {
        let deviation = Deviation {
            policy: ErrorPolicy::Session,
            ..Deviation::NONE
        };
        Box::new(InterProcessMutex::new(zk, env, lock, deviation))
    }),
    ..super::curator_mutex::RECIPE
};
