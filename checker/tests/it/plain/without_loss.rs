//! Overlaps of contenders that had not lost the lock, by every pair of beliefs.

use super::*;

impl Plain<'_> {
    /// Whether two believed at once, and each of them still owned the lock, or never did, when the first of them left.
    pub fn overlap_without_loss(&self) -> bool {
        self.all_beliefs().any(|later| {
            let mut earlier = self.all_beliefs().filter(|&other| other < later);
            earlier.any(|earlier| {
                let until = self.left(earlier).min(self.left(later));
                self.lock_of(earlier) == self.lock_of(later)
                    && self.has_owners_of(self.lock_of(later))
                    && self.exclude(earlier, later)
                    && self.at(later) < self.left(earlier)
                    && !self.has_lost_before(earlier, until)
                    && !self.has_lost_before(later, until)
            })
        })
    }

    /// Whether more contenders believed at once than there are permits, and none ever believed on after a loss.
    pub fn too_many_without_loss(&self, permits: usize) -> bool {
        let mut beliefs = self.all_beliefs();
        let lost = beliefs.any(|belief| self.has_lost_before(belief, self.left(belief)));
        let first = self.all_beliefs().find(|&later| {
            let earlier = self.all_beliefs().filter(|&other| other < later);
            let inside = earlier.filter(|&earlier| {
                self.lock_of(earlier) == self.lock_of(later) && self.at(later) < self.left(earlier)
            });
            inside.count() >= permits
        });
        !lost && first.is_some_and(|later| self.has_owners_of(self.lock_of(later)))
    }

    fn all_beliefs(&self) -> impl Iterator<Item = usize> {
        self.indices().filter(|&index| self.belief(index).is_some())
    }

    fn lock_of(&self, belief: usize) -> Option<LockId> {
        self.belief(belief).map(|(_, lock)| lock)
    }

    fn left(&self, belief: usize) -> VirtualTime {
        let left = self.belief_ends(belief);
        left.map_or(VirtualTime::NEVER, |left| self.at(left))
    }

    fn has_owners_of(&self, of: Option<LockId>) -> bool {
        let mut events = self.indices();
        events.any(
            |event| matches!(self.what(event), EventKind::Owned { lock, .. } if Some(lock) == of),
        )
    }

    fn has_lost_before(&self, belief: usize, until: VirtualTime) -> bool {
        let grant = self.grant(belief);
        let ended = grant.and_then(|grant| self.ownership_ends(grant));
        ended.is_some_and(|ended| self.at(ended) < until)
    }
}
