//! A map by paths that looks at their ends only.

use std::hash::{BuildHasherDefault, Hasher};

use indexmap::IndexMap;
use picklock_algorithms::clients::zookeeper::Path;

/// A map by paths. Its order depends on nothing but what was done to it.
pub(super) type PathMap<V> = IndexMap<Path, V, BuildHasherDefault<PathHasher>>;

/// Hashes the last sixteen bytes of a path, and its length: paths that are long differ in the numbers or names at their
/// ends. Those that do not are told apart all the same, only more slowly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathHasher(u64);

impl PathHasher {
    fn mix(&mut self, one: u64, other: u64) {
        const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xff51_afd7_ed55_8ccd];
        let product = u128::from(one ^ ODD[0]) * u128::from(other ^ self.0 ^ ODD[1]);
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}

impl Hasher for PathHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.len() as u64;
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        match bytes.last_chunk::<16>().map(|end| end.as_chunks::<8>().0) {
            Some([one, other]) => self.mix(word(one), word(other)),
            Some(_) | None => {
                for byte in bytes {
                    self.mix(u64::from(*byte), 0);
                }
            }
        }
    }

    /// What says that a string ends here.
    #[inline]
    fn write_u8(&mut self, _end: u8) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::BuildHasher;

    use super::*;

    fn hashes(paths: impl Iterator<Item = String>) -> usize {
        let hasher = BuildHasherDefault::<PathHasher>::default();
        let hashes: BTreeSet<u64> = paths.map(|path| hasher.hash_one(path.as_str())).collect();
        hashes.len()
    }

    #[test]
    fn long_and_short_paths_have_hashes_of_their_own() {
        let of_a_queue = (0..10_000).map(|number| format!("/locks/a/lock-{number:010}"));
        assert_eq!(hashes(of_a_queue), 10_000);
        assert_eq!(hashes((0..1_000).map(|number| format!("/{number}"))), 1_000);
    }

    #[test]
    fn paths_with_the_same_end_are_told_apart() {
        let mut map: PathMap<u32> = PathMap::default();
        for number in 0..100_u32 {
            map.insert(
                Path::from(format!("/{number:03}/the-same-long-name")),
                number,
            );
        }
        for number in 0..100_u32 {
            let path = format!("/{number:03}/the-same-long-name");
            assert_eq!(map.get(path.as_str()), Some(&number));
        }
    }
}
