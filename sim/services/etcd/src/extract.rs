//! Takes entries out of a map.

use std::collections::BTreeMap;

/// Takes out the entries of which this is so, in their order.
pub fn extract_if<K: Ord + Copy, V>(
    map: &mut BTreeMap<K, V>,
    is_so: impl Fn(&K, &V) -> bool,
) -> Vec<(K, V)> {
    let found = map.iter().filter(|(key, value)| is_so(key, value));
    let keys: Vec<K> = found.map(|(key, _)| *key).collect();
    keys.into_iter()
        .filter_map(|key| map.remove_entry(&key))
        .collect()
}
