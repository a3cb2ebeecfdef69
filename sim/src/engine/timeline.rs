//! The timeline: what is going to happen, in order.
//!
//! As long as few events wait, they stand in a list, the next one last. When they become many, each goes to the end of
//! its lane, if it has one and is not due before another there, and otherwise into a timing wheel; and they come back
//! when there are few again.

mod fifo_lanes;
mod sorted_array;
mod wheel;

use picklock_checker::VirtualTime;

pub use fifo_lanes::Lane;
use fifo_lanes::Lanes;
use sorted_array::SortedArray;
use wheel::{HORIZON, Wheel};

/// The end of a list.
const NONE: u32 = u32::MAX;
/// When so few are left of many, they go back to the list.
const TURN: usize = 12;

/// When an event is due, its number in the order of insertion, and its slot.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: u64,
    order: u64,
    index: u32,
}

/// What is going to happen, in order of time, and of arrival within the same instant.
#[derive(Clone, Debug)]
pub struct Timeline<E> {
    now: u64,
    /// How many wait in the lanes and the wheel. The list is empty while there are any.
    many: usize,
    few: SortedArray,
    nodes: Vec<Node<E>>,
    free: u32,
    lanes: Lanes,
    wheel: Wheel,
    /// How many were added to the lanes and the wheel.
    added: u64,
}

/// Where an event is that is taken.
pub struct Place(u32);

/// An event is one line of the cache.
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
            now: 0,
            many: 0,
            few: SortedArray::default(),
            nodes: Vec::with_capacity(64),
            free: NONE,
            lanes: Lanes::default(),
            wheel: Wheel::default(),
            added: 0,
        }
    }
}

impl<E: Default> Timeline<E> {
    /// How many events wait.
    pub fn len(&self) -> usize {
        self.few.len() + self.many
    }

    /// Whether nothing is going to happen any more.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event. What is late happens now.
    #[inline]
    pub fn add(&mut self, at: VirtualTime, event: E) {
        let at = at.micros().max(self.now).min(HORIZON);
        let index = self.settle(event);
        if self.many != 0 || !self.few.insert((at, index)) {
            self.add_to_wheel(at, index);
        }
    }

    /// Adds an event whose like is mostly added in the order in which it is due. What is late happens now.
    #[inline]
    pub fn add_behind(&mut self, lane: Lane, at: VirtualTime, event: E) {
        let at = at.micros().max(self.now).min(HORIZON);
        let index = self.settle(event);
        if self.many != 0 || !self.few.insert((at, index)) {
            self.add_to_lane(lane, at, index);
        }
    }

    #[inline(never)]
    fn add_to_lane(&mut self, lane: Lane, at: u64, index: u32) {
        if self.many == 0 {
            self.turn_to_many();
        }
        self.many += 1;
        self.added += 1;
        let order = self.added;
        let due = Due { at, order, index };
        if !self.lanes.add(lane, due) {
            self.wheel.put(due);
        }
    }

    /// Finds an event a place.
    #[inline]
    fn settle(&mut self, event: E) -> u32 {
        let index = self.free;
        match self.nodes.get_mut(index as usize) {
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
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn take(&mut self) -> Option<(VirtualTime, E)> {
        let (at, place) = self.take_place()?;
        Some((at, self.take_from(place)))
    }

    /// When the next event is due, and its slot, from which the caller takes it at once.
    #[inline]
    pub fn take_place(&mut self) -> Option<(VirtualTime, Place)> {
        let index = match self.few.pop() {
            Some((at, index)) => {
                self.now = at;
                index
            }
            None => self.take_of_many()?,
        };
        self.nodes[index as usize].next = self.free;
        self.free = index;
        Some((VirtualTime::from_micros(self.now), Place(index)))
    }

    /// Takes the event from a place.
    #[inline]
    pub fn take_from(&mut self, place: Place) -> E {
        std::mem::take(&mut self.nodes[place.0 as usize].event)
    }

    #[inline(never)]
    fn add_to_wheel(&mut self, at: u64, index: u32) {
        if self.many == 0 {
            self.turn_to_many();
        }
        self.put(at, index);
    }

    fn put(&mut self, at: u64, index: u32) {
        self.many += 1;
        self.added += 1;
        self.wheel.put(Due {
            at,
            order: self.added,
            index,
        });
    }

    /// There are many now.
    #[cold]
    fn turn_to_many(&mut self) {
        self.wheel.begin(self.now);
        while let Some((at, index)) = self.few.pop() {
            self.put(at, index);
        }
    }

    /// There are few now.
    #[cold]
    fn turn_to_few(&mut self) {
        let now = self.now;
        while let Some(index) = self.next_of_many() {
            self.few.insert((self.now, index));
        }
        self.now = now;
        self.many = 0;
    }

    #[inline(never)]
    fn take_of_many(&mut self) -> Option<u32> {
        if self.many == TURN {
            self.turn_to_few();
            let (at, index) = self.few.pop()?;
            self.now = at;
            return Some(index);
        }
        self.many = self.many.checked_sub(1)?;
        self.next_of_many()
    }

    /// The next of the lanes and the wheel.
    #[inline]
    fn next_of_many(&mut self) -> Option<u32> {
        let until = self.lanes.next();
        if self.wheel.floor <= until
            && let Some(index) = self.next_of_wheel(until)
        {
            return Some(index);
        }
        self.now = until;
        let first = self.lanes.first();
        Some(self.lanes.take(first)?.index)
    }

    /// The next of the wheel, if it comes before all in the lanes, the first of which is due then.
    #[inline(never)]
    fn next_of_wheel(&mut self, until: u64) -> Option<u32> {
        let due = self.wheel.next_until(until)?;
        if due.at == until && self.lanes.order(self.lanes.first()) < due.order {
            return None;
        }
        self.wheel.take();
        self.now = due.at;
        Some(due.index)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// An event that is added: after how long it is due, and in which lane it stands.
    type Addition = (u64, Option<Lane>);

    fn addition() -> impl Strategy<Value = Addition> {
        let delay = prop_oneof![0..3_u64, 0..5_000_u64, 0..40_000_000_000_u64];
        let nearly_one = prop_oneof![Just(500), Just(700), 480..520_u64];
        prop_oneof![
            delay.prop_map(|delay| (delay, None)),
            (nearly_one, prop::sample::select(&Lane::ALL))
                .prop_map(|(delay, lane)| (delay, Some(lane))),
        ]
    }

    /// The timeline, and the plainest thing that does the same.
    #[derive(Default)]
    struct Both {
        timeline: Timeline<usize>,
        model: BTreeMap<(u64, usize), usize>,
        now: u64,
        added: usize,
    }

    impl Both {
        fn add(&mut self, (delay, lane): Addition) {
            let (at, number) = (self.now + delay, self.added);
            self.added += 1;
            self.model.insert((at, number), number);
            let at = VirtualTime::from_micros(at);
            match lane {
                Some(lane) => self.timeline.add_behind(lane, at, number),
                None => self.timeline.add(at, number),
            }
        }

        /// Takes the next of both; answers whether they are the same.
        fn agree(&mut self) -> bool {
            let expected = self.model.pop_first().map(|((at, _), number)| {
                self.now = at;
                (VirtualTime::from_micros(at), number)
            });
            self.timeline.take() == expected && self.timeline.len() == self.model.len()
        }
    }

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_of_arrival(
            bursts in prop::collection::vec((prop::collection::vec(addition(), 0..90), 0..90_usize), 1..20)
        ) {
            let mut both = Both::default();
            for (additions, taken) in bursts {
                for addition in additions {
                    both.add(addition);
                }
                for _ in 0..taken {
                    prop_assert!(both.agree());
                }
            }
            while !both.model.is_empty() {
                prop_assert!(both.agree());
            }
        }
    }

    #[test]
    fn events_of_one_instant_come_as_they_were_added_in_whatever_lane_they_stand_and_in_none() {
        let places = [None, Some(Lane::One), Some(Lane::Two), Some(Lane::Three)];
        // Alone in the wheel, or not; near, or far.
        for (others, delay) in [(0, 100), (0, 5_000_000), (3, 100), (3, 5_000_000)] {
            for order in 0..places.len().pow(4) {
                let mut both = Both::default();
                // Many, before the few that are looked at.
                (0..60).for_each(|_| both.add((1, Some(Lane::One))));
                (0..others).for_each(|later| both.add((delay + later, None)));
                for place in 0..4 {
                    let place = order / places.len().pow(place) % places.len();
                    both.add((delay, places[place]));
                }
                while !both.model.is_empty() {
                    assert!(both.agree(), "{order} of {others} {delay}");
                }
            }
        }
    }

    #[test]
    fn the_wheel_goes_no_further_than_the_next_event_of_a_lane() {
        let mut both = Both::default();
        // All that is added before there are many is in the wheel.
        (0..50).for_each(|_| both.add((500, None)));
        both.add((7_000, None));
        (0..20).for_each(|_| both.add((100_000, None)));
        (0..30).for_each(|_| both.add((4_200, Some(Lane::One))));
        (0..52).for_each(|_| assert!(both.agree()));
        // The next one in the wheel is not due for long, and this one is due before.
        both.add((800, None));
        while !both.model.is_empty() {
            assert!(both.agree());
        }
    }
}
