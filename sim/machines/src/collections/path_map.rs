//! A map by paths, whose places can be remembered.

use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::Equivalent;
use rustc_hash::FxBuildHasher;
use slab::Slab;

/// A path, shared between all that mention it.
type Path = Rc<str>;

/// A map by paths. A value stays at its place until it is removed; what comes then may get the place.
#[derive(Clone, Debug)]
pub struct PathMap<V> {
    index: HashTable<u32>,
    entries: Slab<(Path, V)>,
}

impl<V> Default for PathMap<V> {
    fn default() -> Self {
        Self {
            index: HashTable::new(),
            entries: Slab::new(),
        }
    }
}

impl<V> PathMap<V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All of them, in an order that means nothing.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &V)> {
        self.entries.iter().map(|(_, (path, value))| (path, value))
    }

    /// The place of a path.
    #[inline]
    pub fn index_of(&self, path: &str) -> Option<usize> {
        let is_it = |position: &u32| is_same(&self.entries[*position as usize].0, path);
        let position = self.index.find(hash(path), is_it)?;
        Some(*position as usize)
    }

    /// What is at a place.
    #[inline]
    pub fn at(&self, index: usize) -> Option<&(Path, V)> {
        self.entries.get(index)
    }

    /// The same, to be changed.
    #[inline]
    pub fn at_mut(&mut self, index: usize) -> Option<&mut V> {
        let (_, value) = self.entries.get_mut(index)?;
        Some(value)
    }

    /// What belongs to a path.
    pub fn get(&self, path: &str) -> Option<&V> {
        self.at(self.index_of(path)?).map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, path: &str) -> Option<&mut V> {
        self.at_mut(self.index_of(path)?)
    }

    /// Puts a value there, whatever there was. Answers its place.
    #[inline]
    pub fn insert(&mut self, path: Path, value: V) -> usize {
        let entries = &mut self.entries;
        let is_it = |position: &u32| is_same(&entries[*position as usize].0, &path);
        let hash_at = |position: &u32| hash(&entries[*position as usize].0);
        match self.index.entry(hash(&path), is_it, hash_at) {
            Entry::Occupied(known) => {
                let position = *known.get() as usize;
                entries[position] = (path, value);
                position
            }
            Entry::Vacant(free) => {
                let position = entries.insert((path, value));
                free.insert(position as u32);
                position
            }
        }
    }

    /// Takes a path out, and answers its value.
    pub fn remove(&mut self, path: &str) -> Option<V> {
        let is_it = |position: &u32| is_same(&self.entries[*position as usize].0, path);
        let (position, _) = self.index.find_entry(hash(path), is_it).ok()?.remove();
        let (_, value) = self.entries.remove(position as usize);
        Some(value)
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

#[inline]
fn hash(path: &str) -> u64 {
    FxBuildHasher.hash_one(path)
}

/// Whether a path is the one that is known. Mostly it is the very same, or has another end.
#[inline]
pub fn is_same(known: &str, path: &str) -> bool {
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
pub struct PathKey<'a>(pub &'a str);

impl Equivalent<Path> for PathKey<'_> {
    #[inline]
    fn equivalent(&self, known: &Path) -> bool {
        is_same(known, self.0)
    }
}

impl Hash for PathKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

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
            for index in 0..length {
                let mut path = "/".repeat(length);
                path.replace_range(index..=index, "x");
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
                        let index = map.insert(Path::clone(&path), number);
                        model.insert(Path::clone(&path), number);
                        prop_assert_eq!(map.index_of(&path), Some(index));
                        prop_assert_eq!(map.at(index), Some(&(path, number)));
                    }
                    1 => {
                        let kept: Vec<(Path, Option<usize>)> =
                            model.keys().map(|path| (Path::clone(path), map.index_of(path))).collect();
                        prop_assert_eq!(map.remove(&path), model.remove(&path));
                        for (path, index) in kept.iter().filter(|(kept, _)| *kept != path) {
                            prop_assert_eq!(map.index_of(path), *index);
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
