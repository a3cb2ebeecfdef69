//! The parties of a barrier: all contenders, at the same barrier in each round.

use std::collections::BTreeSet;

use picklock_algorithms::LockKind;

use super::{ContenderName, LockName, Plan};

impl Plan {
    /// How many must come to each lock, if the locks are barriers.
    pub fn parties(&self) -> Option<u32> {
        let is_barrier = self.recipe.ownership.kind() == LockKind::Barrier;
        is_barrier.then_some(self.workload.contenders)
    }

    /// The lock that a contender takes in a round, counted from zero. To a barrier all come together.
    pub fn lock_of(&self, name: ContenderName, round: u32) -> LockName {
        match self.parties() {
            Some(_) => LockName(round % self.workload.locks.max(1)),
            None => self.workload.lock_of(name, round),
        }
    }

    /// The locks that a contender takes, each once.
    pub fn locks_of(&self, name: ContenderName) -> BTreeSet<LockName> {
        match self.parties() {
            Some(_) => {
                let rounds = self.workload.rounds_of(name).min(self.workload.locks);
                (0..rounds).map(LockName).collect()
            }
            None => self.workload.locks_of(name),
        }
    }
}
