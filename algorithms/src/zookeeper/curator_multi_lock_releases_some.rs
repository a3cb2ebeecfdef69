//! `curator_multi_lock` whose release stops at the first lock that throws. Must be caught by
//! `curator/test-some-releases-fail`: the locks behind that one are never released.
//!
//! Seen in the wild: `RedissonMultiLock.unlock`, a `forEach` over the locks.

use super::curator_multi_lock::{self, Deviation, InterProcessMultiLock, build};
use crate::Recipe;

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-multi-lock-releases-some",
    summary: "curator-multi-lock whose release stops at the first lock that throws.",
    source: "Apache Curator 5.4, InterProcessMultiLock, with the loop of RedissonMultiLock.unlock",
    flaw: Some("when the release of one lock fails, the others stay acquired"),
    build: build(&InterProcessMultiLock {
        deviation: Deviation {
            releases_every_lock: false,
            ..Deviation::NONE
        },
    }),
    ..curator_multi_lock::RECIPE
};
