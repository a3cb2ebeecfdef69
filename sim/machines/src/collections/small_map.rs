//! A map that is a list while it is small, and hashed when it is large.

use std::hash::Hash;

use indexmap::Equivalent;

use super::FxIndexMap;

/// So many are kept in a list at most: to compare them all costs less than to look one up.
const FEW: usize = 8;

/// A map that is a list while there are few, and a hash map from when there are many until there are none. Its order
/// depends on nothing but what was done to it.
#[derive(Clone, Debug)]
pub struct SmallMap<K, V> {
    few: Vec<(K, V)>,
    many: FxIndexMap<K, V>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            many: FxIndexMap::default(),
        }
    }
}

impl<K: Hash + Eq, V> SmallMap<K, V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    #[inline]
    fn find<Q: Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<usize> {
        self.few.iter().position(|(known, _)| key.equivalent(known))
    }

    /// A key as it is kept, and its value.
    pub fn get_key_value<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<(&K, &V)> {
        if self.many.is_empty() {
            let (key, value) = &self.few[self.find(key)?];
            Some((key, value))
        } else {
            self.many.get_key_value(key)
        }
    }

    /// What belongs to a key.
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Whether something belongs to a key.
    pub fn contains_key<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> bool {
        self.get_key_value(key).is_some()
    }

    /// A key as it is kept, and its value, to be changed.
    pub fn get_key_value_mut<Q: Hash + Equivalent<K> + ?Sized>(
        &mut self,
        key: &Q,
    ) -> Option<(&K, &mut V)> {
        if self.many.is_empty() {
            let index = self.find(key)?;
            let (key, value) = &mut self.few[index];
            Some((key, value))
        } else {
            self.many
                .get_full_mut(key)
                .map(|(_, key, value)| (key, value))
        }
    }

    /// What belongs to a key, to be changed.
    pub fn get_mut<Q: Hash + Equivalent<K> + ?Sized>(&mut self, key: &Q) -> Option<&mut V> {
        self.get_key_value_mut(key).map(|(_, value)| value)
    }

    /// Inserts a value, and answers the one that it replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.many.is_empty() {
            if let Some(index) = self.find(&key) {
                return Some(std::mem::replace(&mut self.few[index].1, value));
            }
            if self.few.len() < FEW {
                self.few.push((key, value));
                return None;
            }
            self.many.extend(self.few.drain(..));
        }
        self.many.insert(key, value)
    }

    /// Puts a value there, where nothing is.
    pub fn add(&mut self, key: K, value: V) {
        if self.many.is_empty() {
            if self.few.len() < FEW {
                self.few.push((key, value));
                return;
            }
            self.many.extend(self.few.drain(..));
        }
        self.many.insert(key, value);
    }

    /// The place of a key.
    #[inline]
    pub fn index_of<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<usize> {
        if self.many.is_empty() {
            self.find(key)
        } else {
            self.many.get_index_of(key)
        }
    }

    /// Takes the key at a place out, and its value; the last takes its place.
    pub fn swap_remove_at(&mut self, index: usize) -> Option<(K, V)> {
        if self.many.is_empty() {
            (index < self.few.len()).then(|| self.few.swap_remove(index))
        } else {
            self.many.swap_remove_index(index)
        }
    }

    /// Takes a key out, and answers its value; the last takes its place.
    pub fn swap_remove<Q: Hash + Equivalent<K> + ?Sized>(&mut self, key: &Q) -> Option<V> {
        let (_, value) = self.swap_remove_at(self.index_of(key)?)?;
        Some(value)
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.few
            .iter()
            .map(|(key, value)| (key, value))
            .chain(&self.many)
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn few_and_many_are_kept_as_an_index_map_keeps_them(
            steps in prop::collection::vec((0..5_u8, 0..20_u8), 1..200)
        ) {
            let mut map: SmallMap<u8, usize> = SmallMap::default();
            let mut model: IndexMap<u8, usize> = IndexMap::new();
            for (number, (kind, key)) in steps.into_iter().enumerate() {
                match kind {
                    0 | 1 => prop_assert_eq!(map.insert(key, number), model.insert(key, number)),
                    2 => prop_assert_eq!(map.swap_remove(&key), model.swap_remove(&key)),
                    3 => {
                        if !model.contains_key(&key) {
                            map.add(key, number);
                            model.insert(key, number);
                        }
                    }
                    _ => {
                        if let Some(value) = map.get_mut(&key) {
                            *value += 1;
                        }
                        if let Some(value) = model.get_mut(&key) {
                            *value += 1;
                        }
                        if key == 0 {
                            for key in std::mem::take(&mut model).into_keys() {
                                map.swap_remove(&key);
                            }
                        }
                    }
                }
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert_eq!(map.contains_key(&key), model.contains_key(&key));
                prop_assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
                prop_assert!(map.iter().eq(model.iter()));
            }
        }
    }
}
