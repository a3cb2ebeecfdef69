//! Containers that the simulation needs and no crate has, each behind what a plain one would offer.

mod path_map;
mod small_map;
mod small_queue;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

pub use path_map::{PathKey, PathMap, is_same};
pub use small_map::SmallMap;
pub use small_queue::SmallQueue;

/// A map with a fixed hasher; never iterated where the order could be seen.
pub type FxIndexMap<K, V> = IndexMap<K, V, FxBuildHasher>;
