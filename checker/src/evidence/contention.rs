//! Whether a contender ever waited for a lock.

use super::cell::OpenCounts;
use super::collect::Collector;
use crate::{ContenderId, LockId, Mode};

impl Collector<'_> {
    pub(super) fn tally(&mut self, lock: LockId) -> &mut OpenCounts {
        let index = lock.0 as usize;
        if index >= self.tallies.len() {
            self.tallies.resize(index + 1, OpenCounts::default());
        }
        &mut self.tallies[index]
    }

    /// A contender waits as soon as its call without an answer meets another contender's hold, if the two exclude each
    /// other; or, where there are several permits, holds of others that have them all.
    pub(super) fn note_waiting(&mut self, by: ContenderId, lock: LockId, mode: Mode) {
        self.cells.cell(by, lock).mode = mode;
        if self.found.waited || !mode.is_exclusive() && !self.others_exclude(by, lock) {
            return;
        }
        // What is left is too little for the call; or, if it comes from others, for a call of the fewest permits.
        let facts = &self.found.run.facts;
        let fewest = facts
            .permits_per_acquire
            .iter()
            .min()
            .map_or(1, |least| *least);
        let is_too_little = |taken, wanted: u32| taken + wanted > facts.permits;
        let wanted = self.found.permits_per_acquire(by);
        let tally = *self.tally(lock);
        let cell = self.cells.cell(by, lock);
        let others_hold = is_too_little(tally.believes - cell.believes, wanted)
            || is_too_little(tally.owns - cell.owns, wanted);
        let others_ask = tally.asking > cell.asking;
        let all_hold = is_too_little(tally.believes, fewest) || is_too_little(tally.owns, fewest);
        let holds = cell.believes + cell.owns > 0 && all_hold;
        self.found.waited = cell.asking > 0 && others_hold || holds && others_ask;
    }

    /// Whether others ask for the lock, or hold it, in exclusive mode.
    fn others_exclude(&self, by: ContenderId, lock: LockId) -> bool {
        let mut cells = self.cells.iter();
        cells.any(|(other, of, cell)| {
            let open = cell.asking + cell.believes + cell.owns > 0;
            other != by && of == lock && open && cell.mode.is_exclusive()
        })
    }
}
