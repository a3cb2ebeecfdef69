//! A map with a fixed hasher.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A map with a fixed hasher; never iterated where the order could be seen.
pub(super) type FastMap<K, V> = IndexMap<K, V, FxBuildHasher>;
