//! The timeline: what is going to happen, in order.
//!
//! As long as few events wait, they stand in a list, the next one last. When they become many, they go into a
//! hierarchical timing wheel, and come back when there are few again.
//!
//! In the wheel, each level has 64 slots, and a slot of one level spans all slots of the level below.
//! An event lies in the slot that the highest bits of its time choose in which it differs from now, and moves down as
//! its time comes near. Adding and taking cost a handful of steps whatever is waiting, and events of one instant
//! come in the order in which they were added: a slot is a queue, and an event moves down before anything of its time
//! can be added below. What moves is only when it is due and where it is: the events themselves stay where they are,
//! because to touch ten thousand of them costs more than everything else here.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;

use super::ahead::ask_for;

const LEVELS: usize = 8;
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// So many wait in the list at most.
const FEW: usize = 48;
/// When so few are left in the wheel, they go back to the list.
const TURN: usize = 12;
/// From so many on, the memory of what they are about is not at hand.
const MANY: usize = 1_024;
/// So many that have come near are told of at once, and as many before those: what all of them are about has to find
/// room in a cache.
const AHEAD: usize = 64;
/// Nothing is put further ahead than this: about 280 years.
const HORIZON: u64 = (1 << (LEVELS as u32 * BITS)) - 1;

/// What is going to happen, in order of time, and of arrival within the same instant.
#[derive(Clone, Debug)]
pub struct Timeline<E> {
    cursor: u64,
    /// Bit n is set if level n holds something.
    levels: u32,
    /// For each level: bit n is set if slot n holds something.
    occupied: [u64; LEVELS],
    /// Level after level; none before anything has been in the wheel.
    slots: Vec<Vec<Due>>,
    /// How many have been taken from the slot of the lowest level that comes first.
    taken: usize,
    nodes: Vec<Node<E>>,
    free: u32,
    /// How many are in the wheel.
    in_wheel: usize,
    /// When they are due and where they are, the next one last. Empty while the wheel is not.
    few: Few,
    /// Where those are that have come near lately and were not told of; kept only while very many wait.
    near: VecDeque<u32>,
    /// When so many more have been taken, the next of them are told of.
    near_in: usize,
}

/// Where an event is that is taken.
pub struct Place(u32);

/// When an event is due, and where it is.
type Due = (u64, u32);

/// What happens soon lies in a line of the cache that was asked for.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Node<E> {
    /// The next place that is free, if this one is.
    next: u32,
    /// What the type has for nothing, when it has been taken.
    event: E,
}

impl<E> Default for Timeline<E> {
    fn default() -> Self {
        Self {
            cursor: 0,
            levels: 0,
            occupied: [0; LEVELS],
            slots: Vec::new(),
            taken: 0,
            nodes: Vec::with_capacity(64),
            free: NONE,
            in_wheel: 0,
            few: Few::default(),
            near: VecDeque::new(),
            near_in: 0,
        }
    }
}

impl<E: Default> Timeline<E> {
    /// How many events wait.
    pub fn len(&self) -> usize {
        self.few.len + self.in_wheel
    }

    /// Whether nothing is going to happen any more.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event. What is late happens now.
    #[inline]
    pub fn add(&mut self, at: VirtualTime, event: E) {
        let at = at.micros().max(self.cursor).min(HORIZON);
        let index = self.free;
        let index = match self.nodes.get_mut(index as usize) {
            Some(node) => {
                self.free = node.next;
                // There is nothing there to be dropped.
                std::mem::forget(std::mem::replace(&mut node.event, event));
                index
            }
            None => {
                self.nodes.push(Node { next: NONE, event });
                self.nodes.len() as u32 - 1
            }
        };
        if self.levels != 0 || !self.few.insert((at, index)) {
            self.add_to_wheel((at, index));
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn take(&mut self) -> Option<(VirtualTime, E)> {
        let (at, place) = self.take_place()?;
        Some((at, self.take_from(place)))
    }

    /// When the next event is due, and where it is: whoever asks takes it from there at once.
    #[inline]
    pub fn take_place(&mut self) -> Option<(VirtualTime, Place)> {
        let index = match self.few.pop() {
            Some((at, index)) => {
                self.cursor = at;
                index
            }
            None => self.take_from_wheel()?,
        };
        self.nodes[index as usize].next = self.free;
        self.free = index;
        Some((VirtualTime::from_micros(self.cursor), Place(index)))
    }

    /// Takes the event from a place.
    #[inline]
    pub fn take_from(&mut self, place: Place) -> E {
        std::mem::take(&mut self.nodes[place.0 as usize].event)
    }

    /// Whether events have come near.
    #[inline]
    pub fn has_near(&self) -> bool {
        !self.near.is_empty() && self.near_in <= AHEAD
    }

    /// Tells of the next events that have come near. Some may have happened already: of those, nothing is left, or
    /// what came in their place.
    pub fn tell_near(&mut self, mut tell: impl FnMut(&E)) {
        let told = self.near.len().min(AHEAD);
        self.near_in += told;
        for index in self.near.drain(..told) {
            tell(&self.nodes[index as usize].event);
        }
    }

    #[inline(never)]
    fn add_to_wheel(&mut self, due: Due) {
        if self.few.len > 0 {
            self.turn_to_wheel();
        }
        self.in_wheel += 1;
        self.put(due);
    }

    /// There are many now.
    #[cold]
    fn turn_to_wheel(&mut self) {
        self.slots.resize_with(LEVELS * SLOTS, Vec::new);
        while let Some(due) = self.few.pop() {
            self.in_wheel += 1;
            self.put(due);
        }
    }

    /// There are few now.
    #[cold]
    fn turn_to_few(&mut self) {
        let now = self.cursor;
        while let Some(index) = self.next_of_wheel() {
            self.few.insert((self.cursor, index));
        }
        self.cursor = now;
        self.in_wheel = 0;
        self.near.clear();
        self.near_in = 0;
    }

    #[inline(never)]
    fn take_from_wheel(&mut self) -> Option<u32> {
        let index = self.next_of_wheel()?;
        self.in_wheel -= 1;
        self.near_in = self.near_in.saturating_sub(1);
        if self.in_wheel < TURN {
            self.turn_to_few();
        }
        Some(index)
    }

    #[inline]
    fn next_of_wheel(&mut self) -> Option<u32> {
        loop {
            if self.levels == 0 {
                return None;
            }
            let level = self.levels.trailing_zeros() as usize;
            let slot = self.occupied[level].trailing_zeros() as usize;
            if level == 0 {
                self.cursor = (self.cursor & !(SLOTS as u64 - 1)) | slot as u64;
                return Some(self.take_first(slot));
            }
            self.spread(level, slot);
        }
    }

    /// Takes the first of those that are due now.
    fn take_first(&mut self, slot: usize) -> u32 {
        let queue = &mut self.slots[slot];
        let (_, index) = queue[self.taken];
        self.taken += 1;
        if let Some((_, next)) = queue.get(self.taken) {
            ask_for(&self.nodes[*next as usize]);
        } else {
            queue.clear();
            self.taken = 0;
            self.emptied(0, slot);
        }
        index
    }

    fn emptied(&mut self, level: usize, slot: usize) {
        self.occupied[level] &= !(1 << slot);
        if self.occupied[level] == 0 {
            self.levels &= !(1 << level);
        }
    }

    /// Moves the cursor to the start of a slot, and what is in it to the levels below.
    fn spread(&mut self, level: usize, slot: usize) {
        self.emptied(level, slot);
        let place = level * SLOTS + slot;
        if let [alone] = self.slots[place][..]
            && self.levels.trailing_zeros() as usize >= level
        {
            // Nothing else comes before it: the cursor can go all the way.
            self.cursor = alone.0;
            self.slots[place].clear();
            self.put(alone);
            return;
        }
        let shift = level as u32 * BITS;
        let above = !((1_u64 << (shift + BITS)) - 1);
        self.cursor = (self.cursor & above) | ((slot as u64) << shift);
        let near = level == 1 && self.in_wheel >= MANY;
        let mut queue = std::mem::take(&mut self.slots[place]);
        for due in queue.drain(..) {
            self.put(due);
            if near {
                ask_for(&self.nodes[due.1 as usize]);
                self.near.push_back(due.1);
            }
        }
        // It goes on with the memory that it has.
        self.slots[place] = queue;
    }

    fn put(&mut self, due: Due) {
        let differing = due.0 ^ self.cursor;
        let level = ((u64::BITS - 1 - (differing | 1).leading_zeros()) / BITS) as usize;
        let slot = (due.0 >> (level as u32 * BITS)) as usize & (SLOTS - 1);
        self.slots[level * SLOTS + slot].push(due);
        self.occupied[level] |= 1 << slot;
        self.levels |= 1 << level;
    }
}

/// When events are due and where they are, the next one last.
#[derive(Clone, Debug)]
struct Few {
    len: usize,
    events: [Due; FEW],
}

impl Default for Few {
    fn default() -> Self {
        Self {
            len: 0,
            events: [(0, 0); FEW],
        }
    }
}

impl Few {
    /// Puts an event behind all that are due at the same time or earlier: those stand nearer to the end. Answers
    /// whether there was room for it.
    #[inline]
    fn insert(&mut self, event: Due) -> bool {
        let mut place = self.len;
        if place >= FEW {
            return false;
        }
        while place > 0 && self.events[place - 1].0 <= event.0 {
            self.events[place] = self.events[place - 1];
            place -= 1;
        }
        self.events[place] = event;
        self.len += 1;
        true
    }

    #[inline]
    fn pop(&mut self) -> Option<Due> {
        self.len = self.len.checked_sub(1)?;
        self.events.get(self.len).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_of_arrival(
            steps in prop::collection::vec(
                prop_oneof![
                    3 => prop_oneof![0..3_u64, 0..5_000_u64, 0..40_000_000_000_u64].prop_map(Some),
                    2 => Just(None),
                ],
                1..500,
            )
        ) {
            let mut timeline = Timeline::default();
            let mut model = BTreeMap::new();
            let mut now = 0;
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Some(delay) => {
                        timeline.add(VirtualTime::from_micros(now + delay), number);
                        model.insert((now + delay, number), number);
                    }
                    None => {
                        let expected = model.pop_first().map(|((at, _), number)| {
                            now = at;
                            (VirtualTime::from_micros(at), number)
                        });
                        prop_assert_eq!(timeline.take(), expected);
                    }
                }
                prop_assert_eq!(timeline.len(), model.len());
            }
        }
    }

    #[test]
    fn of_many_events_the_next_are_told_of_before_they_happen_and_not_all_at_once() {
        const EVENTS: usize = 5_000;
        let mut timeline = Timeline::default();
        for number in 0..EVENTS {
            timeline.add(VirtualTime::from_micros(1_000), Some(number));
        }
        let (mut told, mut happened) = (Vec::new(), 0);
        while timeline.take().is_some() {
            while timeline.has_near() {
                timeline.tell_near(|number| told.extend(*number));
            }
            happened += 1;
            let next = told.last().map_or(0, |last| last + 1);
            assert!(next > happened || next == EVENTS, "{next} of {happened}");
            assert!(next <= happened + 2 * AHEAD, "{next} of {happened}");
        }
        // The first has happened when it would be told of.
        assert_eq!(told, (1..EVENTS).collect::<Vec<_>>());
    }
}
