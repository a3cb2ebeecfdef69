//! The items of a server: when they are over, and which of them make room (`items.c`, `slabs.c`).

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_checker::VirtualTime;

/// An item.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub value: Rc<str>,
    /// Its cas number, or its version.
    pub cas: u64,
    /// When it expires.
    pub ends: VirtualTime,
    /// What the counter of the server showed when it was stored.
    pub stored: u64,
    /// Whether it is a plain string of Tair, and no value of TairString.
    pub is_plain: bool,
    /// When it was stored or read last, in the order of that.
    pub used: u64,
}

impl Item {
    pub fn new(value: &Rc<str>, cas: u64) -> Self {
        Self {
            value: Rc::clone(value),
            cas,
            ends: VirtualTime::NEVER,
            stored: 0,
            is_plain: false,
            used: 0,
        }
    }
}

/// The items of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    items: BTreeMap<Rc<str>, Item>,
    uses: u64,
}

impl Store {
    /// An item by its key, over or not.
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.items.get(key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        self.items.get_mut(key)
    }

    pub fn remove(&mut self, key: &str) -> Option<Item> {
        self.items.remove(key)
    }

    pub fn keys(&self) -> Vec<Rc<str>> {
        self.items.keys().map(Rc::clone).collect()
    }

    /// An item is read: it is the last of its class to make room. Commands that only ask whether it is there do not
    /// come here.
    pub fn read(&mut self, key: &str) {
        self.uses += 1;
        if let Some(item) = self.items.get_mut(key) {
            item.used = self.uses;
        }
    }

    /// Stores an item. If its class has more than so many by that, the one that was used longest ago makes room,
    /// however long it was to live: answers its key.
    pub fn insert(&mut self, key: &Rc<str>, item: Item, most: Option<usize>) -> Option<Rc<str>> {
        let class = slab_class(key, &item.value);
        self.items.insert(Rc::clone(key), item);
        self.read(key);
        let of_class =
            || { self.items.iter() }.filter(|(key, item)| slab_class(key, &item.value) == class);
        if most.is_none_or(|most| of_class().count() <= most) {
            return None;
        }
        let oldest = of_class().min_by_key(|(_, item)| item.used);
        let oldest = oldest.map(|(key, _)| Rc::clone(key))?;
        self.items.remove(&oldest);
        Some(oldest)
    }
}

/// The number of the class of an item by its size: chunks grow by a quarter from 96 bytes on, of which 48 are the
/// header and 8 the cas number.
fn slab_class(key: &str, value: &str) -> u32 {
    let size = 48 + 8 + key.len() + 1 + value.len() + 2;
    let (mut class, mut chunk) = (1, 96);
    while chunk < size {
        chunk = (chunk + chunk / 4).next_multiple_of(8);
        class += 1;
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(store: &mut Store, keys: std::ops::Range<u32>, value: &str) -> Vec<String> {
        let evicted = keys.filter_map(|number| {
            let (key, value): (Rc<str>, Rc<str>) = (format!("k{number}").into(), value.into());
            store.insert(&key, Item::new(&value, 1), Some(3))
        });
        evicted.map(|key| key.to_string()).collect()
    }

    #[test]
    fn the_item_that_is_unread_for_longest_makes_room() {
        let mut store = Store::default();
        assert!(filled(&mut store, 0..3, "v").is_empty());
        store.read("k0");
        assert_eq!(filled(&mut store, 3..5, "v"), ["k1", "k2"]);
    }

    #[test]
    fn items_of_another_size_make_no_room() {
        let mut store = Store::default();
        filled(&mut store, 0..3, "v");
        let big = "v".repeat(1_000);
        assert_eq!(filled(&mut store, 3..7, &big), ["k3"]);
        assert!(store.get("k0").is_some());
    }
}
