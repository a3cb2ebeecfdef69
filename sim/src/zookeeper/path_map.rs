//! A map by paths that looks at their ends first: paths that are long differ in the numbers or names there.

use std::hash::{Hash, Hasher};

use indexmap::Equivalent;
use picklock_algorithms::clients::zookeeper::Path;

/// A map by paths. A value stays at its place until it is removed; what comes then may get the place.
#[derive(Clone, Debug)]
pub(super) struct PathMap<V> {
    /// Each path is in the slot that its hash says, or as soon after it as there is room. At least half are free.
    slots: Vec<Slot>,
    entries: Vec<Option<(Path, V)>>,
    /// The places of the list where nothing is.
    free: Vec<u32>,
}

/// Where a path with this hash is in the list, plus one; zero in a slot that is free.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u32,
    place: u32,
}

/// So many slots there are at first: with few paths, each is in its own.
const FIRST_SLOTS: usize = 64;

impl<V> Default for PathMap<V> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<V> PathMap<V> {
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in an order that means nothing.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &V)> {
        self.entries
            .iter()
            .flatten()
            .map(|(path, value)| (path, value))
    }

    /// The slot of a path and its place; the free slot where it would be, if it is not there. There are slots.
    #[inline]
    fn find(&self, path: &str, hash: u32) -> Result<(usize, usize), usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let known = self.slots[slot];
            let Some(place) = (known.place as usize).checked_sub(1) else {
                return Err(slot);
            };
            if known.hash == hash
                && let Some((other, _)) = &self.entries[place]
                && is_same(other, path)
            {
                return Ok((slot, place));
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The place of a path.
    #[inline]
    pub(super) fn place(&self, path: &str) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        self.find(path, hash(path)).ok().map(|(_, place)| place)
    }

    /// What is at a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<&(Path, V)> {
        self.entries.get(place)?.as_ref()
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut V> {
        let (_, value) = self.entries.get_mut(place)?.as_mut()?;
        Some(value)
    }

    pub(super) fn get(&self, path: &str) -> Option<&V> {
        self.at(self.place(path)?).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, path: &str) -> Option<&mut V> {
        self.at_mut(self.place(path)?)
    }

    /// Puts a value there, whatever there was. Answers its place.
    #[inline]
    pub(super) fn insert(&mut self, path: Path, value: V) -> usize {
        if 2 * (self.len() + 1) > self.slots.len() {
            self.grow();
        }
        let hash = hash(&path);
        match self.find(&path, hash) {
            Ok((_, place)) => {
                self.entries[place] = Some((path, value));
                place
            }
            Err(slot) => {
                let place = match self.free.pop() {
                    Some(place) => {
                        self.entries[place as usize] = Some((path, value));
                        place
                    }
                    None => {
                        self.entries.push(Some((path, value)));
                        self.entries.len() as u32 - 1
                    }
                };
                self.slots[slot] = Slot {
                    hash,
                    place: place + 1,
                };
                place as usize
            }
        }
    }

    /// Takes a path out. Answers what was last to be learnt from its value.
    pub(super) fn remove<T>(&mut self, path: &str, learn: impl FnOnce(&V) -> T) -> Option<T> {
        if self.slots.is_empty() {
            return None;
        }
        let (slot, place) = self.find(path, hash(path)).ok()?;
        let (_, value) = self.entries[place].as_ref()?;
        let learnt = learn(value);
        self.entries[place] = None;
        self.free.push(place as u32);
        self.vacate(slot);
        Some(learnt)
    }

    /// Frees a slot. What is after it, and as near to its own slot or nearer there, moves up.
    #[inline]
    fn vacate(&mut self, mut slot: usize) {
        let mask = self.slots.len() - 1;
        let mut next = slot;
        loop {
            next = (next + 1) & mask;
            let follower = self.slots[next];
            if follower.place == 0 {
                break;
            }
            let from_its_own = next.wrapping_sub(follower.hash as usize) & mask;
            if from_its_own >= next.wrapping_sub(slot) & mask {
                self.slots[slot] = follower;
                slot = next;
            }
        }
        self.slots[slot] = Slot::default();
    }

    #[cold]
    fn grow(&mut self) {
        let count = (2 * self.slots.len()).max(FIRST_SLOTS);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); count]);
        for known in before.into_iter().filter(|known| known.place != 0) {
            let mut slot = known.hash as usize & (count - 1);
            while self.slots[slot].place != 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = known;
        }
    }
}

/// Maps are equal if they have the same values at the same paths.
impl<V: PartialEq> PartialEq for PathMap<V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .all(|(path, value)| other.get(path) == Some(value))
    }
}

/// Of the last sixteen bytes of a path, and its length. Paths that do not differ there are told apart all the same,
/// only more slowly.
#[inline]
fn hash(path: &str) -> u32 {
    let bytes = path.as_bytes();
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let (one, other) = match bytes.last_chunk::<16>().map(|end| end.as_chunks::<8>().0) {
        Some([one, other]) => (word(one), word(other)),
        // What stands in both counts twice.
        Some(_) | None => match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(one), Some(other)) => (word(one), word(other)),
            _ => (
                bytes
                    .iter()
                    .fold(0, |all, byte| all << 8 | u64::from(*byte)),
                0,
            ),
        },
    };
    mix(one, other ^ bytes.len() as u64)
}

#[inline]
fn mix(one: u64, other: u64) -> u32 {
    const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xff51_afd7_ed55_8ccd];
    let product = u128::from(one ^ ODD[0]) * u128::from(other ^ ODD[1]);
    ((product as u64) ^ (product >> 64) as u64) as u32
}

/// Whether a path is the one that is known. Mostly it is the very same, or has another end.
#[inline]
pub(super) fn is_same(known: &str, path: &str) -> bool {
    if known.len() != path.len() {
        return false;
    }
    if std::ptr::eq(known, path) {
        return true;
    }
    let end = |path: &str| {
        path.as_bytes()
            .last_chunk()
            .map(|end| u64::from_le_bytes(*end))
    };
    end(known) == end(path) && *known == *path
}

/// A path to look for where other paths are.
pub(super) struct Sought<'a>(pub(super) &'a str);

impl Equivalent<Path> for Sought<'_> {
    #[inline]
    fn equivalent(&self, known: &Path) -> bool {
        is_same(known, self.0)
    }
}

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn hashes(paths: impl Iterator<Item = String>) -> usize {
        let hashes: BTreeSet<u32> = paths.map(|path| hash(&path)).collect();
        hashes.len()
    }

    #[test]
    fn long_and_short_paths_have_hashes_of_their_own() {
        let of_a_queue = (0..10_000).map(|number| format!("/locks/a/lock-{number:010}"));
        assert_eq!(hashes(of_a_queue), 10_000);
        assert_eq!(hashes((0..1_000).map(|number| format!("/{number}"))), 1_000);
        let of_middling_length = (0..1_000).map(|number| format!("/a-lock/{number}"));
        assert_eq!(hashes(of_middling_length), 1_000);
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

    #[test]
    fn paths_are_the_same_if_they_have_the_same_letters() {
        let mut paths = vec![String::new()];
        for length in [1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 30] {
            for place in 0..length {
                let mut path = "/".repeat(length);
                path.replace_range(place..=place, "x");
                paths.push(path);
            }
        }
        for one in &paths {
            for other in &paths {
                let copy = other.to_owned();
                assert_eq!(is_same(one, &copy), one == other);
                assert_eq!(is_same(one, other), one == other);
            }
        }
    }

    /// Some have the same hash, and all are in few slots.
    fn path(number: u8) -> Path {
        Path::from(format!("/{}/the-same-long-name-{}", number % 3, number / 3))
    }

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0..3_u8, 0..60_u8), 1..300)) {
            let mut map: PathMap<usize> = PathMap::default();
            let mut model: BTreeMap<Path, usize> = BTreeMap::new();
            for (number, (kind, key)) in steps.into_iter().enumerate() {
                let path = path(key);
                match kind {
                    0 => {
                        let place = map.insert(Path::clone(&path), number);
                        model.insert(Path::clone(&path), number);
                        prop_assert_eq!(map.place(&path), Some(place));
                        prop_assert_eq!(map.at(place), Some(&(path, number)));
                    }
                    1 => {
                        let kept: Vec<(Path, Option<usize>)> =
                            model.keys().map(|path| (Path::clone(path), map.place(path))).collect();
                        prop_assert_eq!(map.remove(&path, |value| *value), model.remove(&path));
                        for (path, place) in kept.iter().filter(|(kept, _)| *kept != path) {
                            prop_assert_eq!(map.place(path), *place);
                        }
                    }
                    _ => {
                        if let Some(value) = map.get_mut(&path) {
                            *value += 1;
                        }
                        if let Some(value) = model.get_mut(&path) {
                            *value += 1;
                        }
                        prop_assert_eq!(map.get(&path), model.get(&path));
                    }
                }
                prop_assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
                let known: BTreeMap<Path, usize> =
                    map.iter().map(|(path, value)| (Path::clone(path), *value)).collect();
                prop_assert_eq!(&known, &model);
                for (path, value) in &model {
                    prop_assert_eq!(map.get(path), Some(value));
                }
            }
        }
    }
}
