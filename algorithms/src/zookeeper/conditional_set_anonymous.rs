//! `conditional_set`, except that the data says "busy" and not who is. Must be caught by
//! `zookeeper/lost-set-data-reply`: whoever has lost the answer finds the lock taken, and waits for itself.
//!
//! Seen in the wild: tutorials that change the flag of a znode from free to busy ("option 1"), and keep nobody's name
//! there.

use super::conditional_set::{ConditionalSet, Names};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-conditional-set-anonymous",
    summary: "A node whose data says busy or free, written only if it is of the version that was read.",
    source: "Tutorials that keep a flag in a znode",
    flaw: Some("a write whose answer was lost looks like that of another"),
    build: Build::ZooKeeper(&|zk, _env, lock| {
        Box::new(ConditionalSet::new(zk, &lock, Names::Same("busy")))
    }),
    ..super::conditional_set::RECIPE
};
