//! `conditional_set`, except that the data says "busy" and does not name the holder. Must be caught by
//! `zookeeper/lost-set-data-reply`: a client whose answer is lost finds the lock taken, and waits for itself.
//!
//! Seen in the wild: tutorials that change the flag of a znode from free to busy ("option 1"), without a name.

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
