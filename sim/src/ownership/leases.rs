//! Leases: nodes each of which owns a permit of a semaphore, or waits for one.

use picklock_algorithms::{OwnershipRule, Permits};
use picklock_checker::{ContenderId, NameId, VirtualTime};

use super::{Owner, Ownership};
use crate::recorder::Recorder;

/// How many may own a lock at once by a rule, of which a scenario says that there are so many permits.
pub(super) fn permits(rule: OwnershipRule, of_workload: u32) -> usize {
    match rule {
        OwnershipRule::LowestLeases {
            permits: Permits::One,
            ..
        } => 1,
        OwnershipRule::LowestLeases { .. } => of_workload as usize,
        OwnershipRule::EveryLease => usize::MAX,
        OwnershipRule::LowestChild
        | OwnershipRule::LowestChildOfEach
        | OwnershipRule::LowestChildLeads
        | OwnershipRule::ReadersAndWriters { .. }
        | OwnershipRule::Parties { .. }
        | OwnershipRule::Barrier
        | OwnershipRule::Node
        | OwnershipRule::Data
        | OwnershipRule::Key => 1,
    }
}

/// Whether nodes are leases, which are counted.
pub(super) fn are_counted(rule: OwnershipRule) -> bool {
    matches!(
        rule,
        OwnershipRule::LowestLeases { .. } | OwnershipRule::EveryLease
    )
}

/// Whether a node of this name, of those below the lock, is a place in its queue. A semaphore has other nodes, too.
pub(super) fn is_place(rule: OwnershipRule, name: &str) -> bool {
    match rule {
        OwnershipRule::LowestLeases { parent: "", .. } => true,
        OwnershipRule::LowestLeases { parent, .. } => {
            let below = name.strip_prefix(parent);
            below.is_some_and(|rest| rest.starts_with('/'))
        }
        OwnershipRule::Parties { ready } => name != ready,
        OwnershipRule::LowestChild
        | OwnershipRule::LowestChildOfEach
        | OwnershipRule::LowestChildLeads
        | OwnershipRule::ReadersAndWriters { .. }
        | OwnershipRule::EveryLease
        | OwnershipRule::Barrier
        | OwnershipRule::Node
        | OwnershipRule::Data
        | OwnershipRule::Key => true,
    }
}

impl Ownership {
    /// Which lease must go before a contender has a permit that it knows of, and who made it: where there are more of
    /// them than permits, the first but for its own last one.
    pub fn ahead_of(&self, by: ContenderId) -> Option<(NameId, ContenderId)> {
        if self.queue.len() <= self.permits {
            return self.head();
        }
        let own = self.queue.iter().filter(|place| place.by == by);
        let own = own.map(|place| place.arrival).max();
        let mut others = { self.queue.iter() }.filter(|place| Some(place.arrival) != own);
        others.next().map(|place| (place.name, place.by))
    }

    /// Gives the permits that are left to those whose turn it is. A lower number may be made later, when the numbers
    /// begin anew: whoever has a permit keeps it.
    pub(super) fn grant_permits(&mut self, at: VirtualTime, recorder: &mut Recorder) {
        for index in 0..self.queue.len().min(self.permits) {
            if self.owners.len() >= self.permits {
                return;
            }
            let place = self.queue.at_mut(index);
            if !std::mem::replace(&mut place.owns, true) {
                let owner = Owner {
                    by: place.by,
                    mode: place.mode,
                    token: place.token,
                    name: place.name,
                };
                self.grant(at, owner, recorder);
            }
        }
    }
}
