//! Slots: which part of the keys a name belongs to, and sets of them.

use std::fmt;
use std::ops::RangeInclusive;

use crc::{CRC_16_XMODEM, Crc};
use picklock_clients::redis::Bytes;

use crate::keyspace::Keyspace;

/// How many slots there are.
pub(crate) const SLOTS: u16 = 16_384;

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key: by what stands between its first braces, if anything does, and by all of it otherwise.
pub fn slot_of(key: &[u8]) -> u16 {
    CRC.checksum(tag(key)) % SLOTS
}

/// Which of so many primaries, from zero, serves a key while none has taken another's place.
pub fn first_owner(key: &[u8], primaries: u8) -> u8 {
    let slot = slot_of(key);
    let owner =
        (0..primaries).find(|index| SlotSet::share((*index).into(), primaries.into()).has(slot));
    owner.unwrap_or(0)
}

fn tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|byte| *byte == b'{') else {
        return key;
    };
    let after = &key[open + 1..];
    match after.iter().position(|byte| *byte == b'}') {
        None | Some(0) => key,
        Some(close) => &after[..close],
    }
}

/// A set of slots.
#[derive(Clone, PartialEq, Eq)]
pub struct SlotSet {
    words: [u64; SLOTS as usize / 64],
    count: u16,
}

impl SlotSet {
    /// None.
    pub(crate) const NONE: Self = Self {
        words: [0; SLOTS as usize / 64],
        count: 0,
    };

    /// The part of this primary, if there are so many: as `redis-cli --cluster create` shares them out.
    pub(crate) fn share(index: usize, of: usize) -> Self {
        let cut = |index: usize| (index * usize::from(SLOTS)).checked_div(of).unwrap_or(0);
        // The first numbers of the parts are rounded, and not cut off.
        let first = |index: usize| match index {
            0 => 0,
            index if index == of => usize::from(SLOTS),
            index => {
                let rest = index * usize::from(SLOTS) - cut(index) * of;
                cut(index) + usize::from(2 * rest >= of)
            }
        };
        let mut set = Self::NONE;
        for slot in first(index)..first(index + 1) {
            set.insert(slot as u16);
        }
        set
    }

    /// How many.
    pub(crate) fn len(&self) -> u16 {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn has(&self, slot: u16) -> bool {
        let word = self.words.get(usize::from(slot) / 64);
        word.is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    pub(crate) fn insert(&mut self, slot: u16) {
        if !self.has(slot) && slot < SLOTS {
            self.words[usize::from(slot) / 64] |= 1 << (slot % 64);
            self.count += 1;
        }
    }

    pub(crate) fn remove(&mut self, slot: u16) {
        if self.has(slot) {
            self.words[usize::from(slot) / 64] &= !(1 << (slot % 64));
            self.count -= 1;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> {
        (0..SLOTS).filter(|slot| self.has(*slot))
    }

    /// The runs of neighbours.
    pub(crate) fn ranges(&self) -> Vec<RangeInclusive<u16>> {
        let mut ranges: Vec<RangeInclusive<u16>> = Vec::new();
        let mut from = 0;
        while let Some(first) = self.next_from(from, true) {
            from = self.next_from(first, false).unwrap_or(SLOTS);
            ranges.push(first..=from - 1);
        }
        ranges
    }

    /// The first slot from there on that is in the set, or that is not: nodes are asked for their runs all the time.
    fn next_from(&self, from: u16, is_in: bool) -> Option<u16> {
        let start = usize::from(from) / 64;
        let mut seen = u64::MAX << (from % 64);
        for (index, word) in self.words.iter().enumerate().skip(start) {
            let wanted = if is_in { *word } else { !*word } & seen;
            if wanted != 0 {
                return Some(index as u16 * 64 + wanted.trailing_zeros() as u16);
            }
            seen = u64::MAX;
        }
        None
    }
}

impl fmt::Debug for SlotSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.ranges()).finish()
    }
}

/// The names of the keys of a slot.
pub(crate) fn names_in(keys: &Keyspace, slot: u16) -> impl Iterator<Item = &Bytes> {
    keys.names().filter(move |name| slot_of(name) == slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_slots_that_a_real_server_gives_them() {
        // As `CLUSTER KEYSLOT` of a real server answers.
        for (key, slot) in [
            ("a", 15_495),
            ("b", 3_300),
            ("c", 7_365),
            ("lock:a", 6_035),
            ("", 0),
        ] {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn the_runs_of_a_set_are_its_neighbours() {
        let set = |slots: &[u16]| {
            let mut set = SlotSet::NONE;
            slots.iter().for_each(|slot| set.insert(*slot));
            set
        };
        assert!(SlotSet::NONE.ranges().is_empty());
        assert_eq!(SlotSet::share(0, 1).ranges(), [0..=SLOTS - 1]);
        let some = set(&[0, 1, 63, 64, 65, 127, 129, 16_320, 16_383]).ranges();
        let runs = [
            0..=1,
            63..=65,
            127..=127,
            129..=129,
            16_320..=16_320,
            16_383..=16_383,
        ];
        assert_eq!(some, runs);
        let mut hole = SlotSet::share(0, 1);
        hole.remove(64);
        assert_eq!(hole.ranges(), [0..=63, 65..=SLOTS - 1]);
    }

    #[test]
    fn each_key_has_an_owner_from_the_start() {
        let owners = ["b", "lock:a", "a"].map(|key| first_owner(key.as_bytes(), 3));
        assert_eq!(owners, [0, 1, 2]);
        assert_eq!(first_owner(b"a", 1), 0);
    }

    #[test]
    fn a_tag_in_braces_decides_unless_it_is_empty_or_open() {
        assert_eq!(slot_of(b"x{a}y{b}"), slot_of(b"a"));
        assert_eq!(tag(b"x{}a"), b"x{}a");
        assert_eq!(tag(b"x{a"), b"x{a");
        assert_eq!(tag(b"{{a}}"), b"{a");
    }

    #[test]
    fn shares_are_those_of_redis_cli_and_cover_every_slot_once() {
        let ranges = |index| SlotSet::share(index, 3).ranges();
        assert_eq!(ranges(0), [0..=5_460]);
        assert_eq!(ranges(1), [5_461..=10_922]);
        assert_eq!(ranges(2), [10_923..=16_383]);
        for of in 1..=7 {
            let lengths = (0..of).map(|index| SlotSet::share(index, of).len());
            assert_eq!(lengths.sum::<u16>(), SLOTS);
        }
    }
}
