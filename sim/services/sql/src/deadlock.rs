//! The search for circles of those that wait for each other (PostgreSQL's `deadlock.c`).

use crate::ids::Holder;
use crate::lock_manager::{Lock, LockManager, Tag};

/// One waits for another: for what it holds, or only because it stands in front.
#[derive(Clone, Copy, Debug)]
struct Edge {
    waiter: Holder,
    blocker: Holder,
    is_soft: bool,
}

/// What a search has found.
pub enum Found {
    /// The one that looks is in no circle.
    Nothing,
    /// It was in one that only the order of a queue had made, and which is another now.
    Reordered,
    /// These wait for each other, the one that looks first.
    Circle(Vec<Holder>),
}

impl Lock {
    /// What keeps the one at this place of the queue waiting.
    fn blockers(&self, place: usize) -> impl Iterator<Item = Edge> {
        let waiter = &self.queue[place];
        let ahead = self.queue[..place].iter().map(|earlier| (earlier, true));
        let held = self.granted.iter().map(|held| (held, false));
        let others = held.chain(ahead);
        let conflicting = others.filter(move |(other, _)| {
            other.holder != waiter.holder && waiter.mode.conflicts(&other.mode)
        });
        conflicting.map(move |(other, is_soft)| Edge {
            waiter: waiter.holder,
            blocker: other.holder,
            is_soft,
        })
    }
}

impl LockManager {
    fn blockers_of(&self, waiter: Holder) -> Vec<Edge> {
        let lock = self
            .waiting
            .get(&waiter)
            .and_then(|tag| self.locks.get(tag));
        let place = lock.and_then(|lock| {
            let mut queue = lock.queue.iter();
            queue.position(|entry| entry.holder == waiter)
        });
        match (lock, place) {
            (Some(lock), Some(place)) => lock.blockers(place).collect(),
            _ => Vec::new(),
        }
    }

    /// A way from one that waits back to it.
    fn circle_of(&self, start: Holder, counts: &dyn Fn(&Tag) -> bool) -> Option<Vec<Edge>> {
        let (mut seen, mut way) = (vec![start], Vec::new());
        self.search(start, start, counts, &mut seen, &mut way)
            .then_some(way)
    }

    fn search(
        &self,
        start: Holder,
        at: Holder,
        counts: &dyn Fn(&Tag) -> bool,
        seen: &mut Vec<Holder>,
        way: &mut Vec<Edge>,
    ) -> bool {
        if !self.waiting.get(&at).is_some_and(counts) {
            return false;
        }
        for edge in self.blockers_of(at) {
            way.push(edge);
            if edge.blocker == start {
                return true;
            }
            if !seen.contains(&edge.blocker) {
                seen.push(edge.blocker);
                if self.search(start, edge.blocker, counts, seen, way) {
                    return true;
                }
            }
            way.pop();
        }
        false
    }

    /// Looks whether a waiter is in a circle of waits for such locks. A circle that the order of a queue has made is
    /// undone by another order, if that is allowed and possible.
    pub fn look_for_deadlock(
        &mut self,
        start: Holder,
        reorders: bool,
        counts: &dyn Fn(&Tag) -> bool,
    ) -> Found {
        let Some(circle) = self.circle_of(start, counts) else {
            return Found::Nothing;
        };
        for edge in circle.iter().filter(|edge| reorders && edge.is_soft) {
            let mut reordered = self.clone();
            let tag = reordered.move_before(edge.waiter, edge.blocker);
            let is_free = |holder| reordered.circle_of(holder, counts).is_none();
            if is_free(start) && is_free(edge.blocker) {
                *self = reordered;
                if let Some(tag) = tag {
                    self.wake(&tag);
                }
                return Found::Reordered;
            }
        }
        Found::Circle(circle.into_iter().map(|edge| edge.waiter).collect())
    }

    fn move_before(&mut self, waiter: Holder, blocker: Holder) -> Option<Tag> {
        let tag = self.waiting.get(&waiter)?.clone();
        let queue = &mut self.locks.get_mut(&tag)?.queue;
        let place = queue.iter().position(|entry| entry.holder == waiter)?;
        let entry = queue.remove(place);
        let before = queue.iter().position(|entry| entry.holder == blocker);
        queue.insert(before.unwrap_or(place), entry);
        Some(tag)
    }
}
