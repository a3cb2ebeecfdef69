//! A hierarchical timing wheel: when events are due and where they are, in order of time.
//!
//! Each level has 64 slots, and a slot of one level spans all slots of the level below. An event lies in the slot that
//! the highest bits of its time choose in which it differs from the cursor, and moves down as its time comes near.
//! Adding and taking cost a handful of steps whatever is waiting, and events of one instant come in the order in which
//! they were added: a slot is a queue, and an event moves down before anything of its time can be added below. What
//! moves is only when it is due and where it is: the events themselves stay where they are, because to touch ten
//! thousand of them costs more than everything else here.

use super::Due;

const LEVELS: usize = 8;
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
/// Nothing is put further ahead than this: about nine years.
pub(super) const HORIZON: u64 = (1 << (LEVELS as u32 * BITS)) - 1;

/// What is due later, in order of time, and of arrival within the same instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Wheel {
    /// Never after the next event, nor after the time until which it was asked for.
    cursor: u64,
    /// Nothing is due before.
    pub(super) floor: u64,
    /// Bit n is set if level n holds something.
    levels: u32,
    /// For each level: bit n is set if slot n holds something.
    occupied: [u64; LEVELS],
    /// Level after level; none before anything has been in the wheel.
    slots: Vec<Vec<Due>>,
    /// How many have been taken from the slot of the lowest level that comes first.
    taken: usize,
}

impl Wheel {
    /// Begins at this time; there is nothing in it.
    pub(super) fn begin(&mut self, now: u64) {
        self.slots.resize_with(LEVELS * SLOTS, Vec::new);
        self.cursor = now;
        self.floor = HORIZON;
    }

    /// Puts something in, which is not due before any that was taken.
    pub(super) fn put(&mut self, due: Due) {
        self.floor = self.floor.min(due.at);
        self.place(due);
    }

    fn place(&mut self, due: Due) {
        let differing = due.at ^ self.cursor;
        let level = ((u64::BITS - 1 - (differing | 1).leading_zeros()) / BITS) as usize;
        let slot = (due.at >> (level as u32 * BITS)) as usize & (SLOTS - 1);
        self.slots[level * SLOTS + slot].push(due);
        self.occupied[level] |= 1 << slot;
        self.levels |= 1 << level;
    }

    /// The next that is due, if it is due until then.
    pub(super) fn next_until(&mut self, until: u64) -> Option<Due> {
        loop {
            if self.levels == 0 {
                self.floor = HORIZON;
                return None;
            }
            let level = self.levels.trailing_zeros() as usize;
            let slot = self.occupied[level].trailing_zeros() as usize;
            self.floor = self.start_of(level, slot);
            if self.floor > until {
                return None;
            }
            if level == 0 {
                self.cursor = self.floor;
                return self.slots[slot].get(self.taken).copied();
            }
            if !self.spread(level, slot, until) {
                return None;
            }
        }
    }

    /// When a slot begins that is ahead of the cursor.
    fn start_of(&self, level: usize, slot: usize) -> u64 {
        let shift = level as u32 * BITS;
        let above = !((1_u64 << (shift + BITS)) - 1);
        (self.cursor & above) | ((slot as u64) << shift)
    }

    /// Takes the next that is due, which has been looked at.
    pub(super) fn take(&mut self) {
        let slot = self.cursor as usize & (SLOTS - 1);
        self.taken += 1;
        if self.taken == self.slots[slot].len() {
            self.slots[slot].clear();
            self.taken = 0;
            self.emptied(0, slot);
        }
    }

    fn emptied(&mut self, level: usize, slot: usize) {
        self.occupied[level] &= !(1 << slot);
        if self.occupied[level] == 0 {
            self.levels &= !(1 << level);
        }
    }

    /// Moves the cursor to the start of a slot, and what is in it to the levels below. Answers whether there may be
    /// something that is due until then.
    fn spread(&mut self, level: usize, slot: usize, until: u64) -> bool {
        let place = level * SLOTS + slot;
        if let [alone] = self.slots[place][..] {
            // Nothing else comes before it: the cursor can go all the way.
            self.floor = alone.at;
            if alone.at > until {
                return false;
            }
            self.emptied(level, slot);
            self.cursor = alone.at;
            self.slots[place].clear();
            self.place(alone);
            return true;
        }
        self.emptied(level, slot);
        self.cursor = self.floor;
        let mut queue = std::mem::take(&mut self.slots[place]);
        for due in queue.drain(..) {
            self.place(due);
        }
        // It goes on with the memory that it has.
        self.slots[place] = queue;
        true
    }
}
