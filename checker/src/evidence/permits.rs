//! How many permits there are, how many one call takes, and which of them a belief rests on.

use super::collect::Collector;
use super::{Belief, Evidence, Ownership};
use crate::{ContenderId, LockId};

impl Evidence<'_> {
    /// How many may hold a lock at once.
    pub fn permits(&self) -> usize {
        self.run.facts.permits as usize
    }

    /// How many permits a contender takes by one call.
    pub fn permits_per_acquire(&self, by: ContenderId) -> u32 {
        let of_each = &self.run.facts.permits_per_acquire;
        of_each.get(by.0 as usize).copied().unwrap_or(1)
    }

    /// How many permits these take together.
    pub(crate) fn permits_of(&self, all: impl IntoIterator<Item = ContenderId>) -> usize {
        let permits = all.into_iter().map(|by| self.permits_per_acquire(by));
        permits.sum::<u32>() as usize
    }

    /// Whether a belief rests on this ownership.
    pub(crate) fn rests_on(&self, belief: &Belief, grant: usize) -> bool {
        belief.grant == Some(grant)
            || self.permits_per_acquire(belief.by) > 1
                && (self.ownerships[grant].serves)
                    .is_some_and(|served| self.beliefs[served].acquired == belief.acquired)
    }

    /// The ownerships that a belief rests on: one, or as many as it has permits, as far as the service has given them.
    pub fn grants_of(&self, belief: &Belief) -> impl Iterator<Item = &Ownership> {
        let all = match self.permits_per_acquire(belief.by) {
            1 => 0..0,
            _ => 0..self.ownerships.len(),
        };
        let others =
            all.filter(|&grant| belief.grant != Some(grant) && self.rests_on(belief, grant));
        let all = belief.grant.into_iter().chain(others);
        all.map(|grant| &self.ownerships[grant])
    }
}

impl Collector<'_> {
    /// The ownership that a belief of one permit rests on which begins now.
    pub(super) fn latest_grant(
        &mut self,
        (by, lock): (ContenderId, LockId),
        lost: Option<usize>,
        asked: Option<usize>,
    ) -> Option<usize> {
        let granted = self.cells.cell(by, lock).granted;
        granted.filter(|&grant| {
            let ownership = &self.found.ownerships[grant];
            // A candidate that has lost its term owns the next before it asks for that, and may lose it before, too.
            let stood = lost.filter(|lost| *lost < ownership.owned);
            ownership.disowned.is_none_or(|disowned| {
                ownership.serves.is_none() && stood.or(asked).is_none_or(|at| at < disowned)
            })
        })
    }

    /// The ownerships that a call of several permits has come to, which has returned now: its latest, those that have
    /// not ended before any other. They serve the belief at this place; answers the latest.
    pub(super) fn latest_grants(
        &mut self,
        (by, lock): (ContenderId, LockId),
        asked: Option<usize>,
        permits: u32,
        belief: usize,
    ) -> Option<usize> {
        let mut left = permits;
        let mut latest = None;
        for is_open in [true, false] {
            let ownerships = self.found.ownerships.iter_mut().enumerate().rev();
            let of_call = ownerships.filter(|(_, ownership)| {
                (ownership.by, ownership.lock) == (by, lock)
                    && ownership.serves.is_none()
                    && ownership.disowned.is_none() == is_open
                    && asked.is_none_or(|asked| asked < ownership.owned)
            });
            for (grant, ownership) in of_call.take(left as usize) {
                ownership.serves = Some(belief);
                latest = latest.max(Some(grant));
                left -= 1;
            }
        }
        latest
    }
}
