//! `curator_multi_lock` that does not give back what it had got when another lock cannot be had. Must be caught by
//! `curator/test-some-locks-fail-to-lock`: its call has failed, and the node of the first lock is still there.
//!
//! Seen in the wild: wrappers that acquire several locks in a loop, and return from the middle of it.

use super::curator_multi_lock::{self, Deviation, InterProcessMultiLock, build};
use crate::Recipe;

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "curator-multi-lock-keeps-first",
    summary: "curator-multi-lock without the release of what was acquired before another lock could not be.",
    source: "Apache Curator 5.4, InterProcessMultiLock, without the second loop of acquire",
    flaw: Some("a caller that gets an error still holds the locks that came before it"),
    build: build(&InterProcessMultiLock {
        deviation: Deviation {
            releases_what_it_had: false,
            ..Deviation::NONE
        },
    }),
    ..curator_multi_lock::RECIPE
};
