//! Lanes: events that are added in the order in which they are due.
//!
//! What is sent over links of one latency mostly arrives in the order in which it was sent. Such events need no place
//! to be found for them: they stand behind each other, and the next one is the first of one of a few lanes.
//!
//! One that is due much later than the others, as a message that a fault holds up, shuts its lane until its time has
//! come: what does not fit behind it goes into the wheel meanwhile.

use std::collections::VecDeque;

use super::Due;

/// The kinds of events that are mostly added in the order in which they are due, each of them for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The first kind.
    One,
    /// The second.
    Two,
    /// The third.
    Three,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::One, Self::Two, Self::Three];
}

const LANES: usize = Lane::ALL.len();

#[derive(Clone, Debug, Default)]
struct Row {
    events: VecDeque<Due>,
    /// When the last one is due, if there is one.
    last: u64,
}

/// All lanes.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// When the first one of each is due, and never if there is none.
    first: [u64; LANES],
    rows: [Row; LANES],
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            rows: Default::default(),
            first: [u64::MAX; LANES],
        }
    }
}

impl Lanes {
    /// Puts an event at the end of its lane. Answers whether it can stand there.
    #[inline]
    pub(super) fn add(&mut self, lane: Lane, due: Due) -> bool {
        let lane = lane as usize;
        let row = &mut self.rows[lane];
        if due.at < row.last {
            return false;
        }
        row.last = due.at;
        self.first[lane] = self.first[lane].min(due.at);
        row.events.push_back(due);
        true
    }

    /// When the first of all is due; never if there is none.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        let [one, two, three] = self.first;
        one.min(two).min(three)
    }

    /// The lane of the first of all.
    #[inline]
    pub(super) fn first(&self) -> usize {
        let mut lane = 0;
        for other in 1..LANES {
            let (mine, theirs) = (self.first[lane], self.first[other]);
            if theirs < mine || theirs == mine && self.order(other) < self.order(lane) {
                lane = other;
            }
        }
        lane
    }

    /// The sequence number of the first event of a lane, in the order of adding.
    pub(super) fn order(&self, lane: usize) -> u64 {
        self.rows[lane]
            .events
            .front()
            .map_or(u64::MAX, |first| first.order)
    }

    /// Takes the first of a lane.
    #[inline]
    pub(super) fn take(&mut self, lane: usize) -> Option<Due> {
        let row = &mut self.rows[lane];
        let taken = row.events.pop_front()?;
        match row.events.front() {
            Some(next) => self.first[lane] = next.at,
            None => {
                self.first[lane] = u64::MAX;
                row.last = 0;
            }
        }
        Some(taken)
    }
}
