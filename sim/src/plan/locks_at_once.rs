//! Sections that hold several locks at once: which locks they are.

use super::{ContenderName, LockName, Workload};

impl Workload {
    /// The locks that a section holds at once in a round, counted from zero, in the order in which their turn comes.
    pub fn locks_of_round(&self, name: ContenderName, round: u32) -> Vec<LockName> {
        let places = 0..self.locks_at_once;
        places
            .map(|more| self.lock_of(name, round.saturating_add(more)))
            .collect()
    }

    /// In how many rounds, counted on from one round, a contender comes to as many locks as in these.
    pub fn rounds_with_locks(&self, rounds: u32) -> u32 {
        rounds.saturating_add(self.locks_at_once.saturating_sub(1))
    }

    /// How many locks the contenders take at most.
    pub fn locks_at_most(&self) -> u32 {
        self.rounds_with_locks(self.sections())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_holds_the_next_locks_in_turn() {
        let workload = Workload {
            locks: 3,
            locks_at_once: 2,
            ..Workload::default()
        };
        let of = |contender, round| -> Vec<u32> {
            let locks = workload.locks_of_round(ContenderName(contender), round);
            locks.into_iter().map(|lock| lock.0).collect()
        };
        assert_eq!(of(0, 0), [0, 1]);
        assert_eq!(of(1, 0), [1, 2]);
        assert_eq!(of(2, 0), [2, 0]);
        assert_eq!(of(0, 2), [2, 0]);
        let taken = workload.locks_of(ContenderName(2));
        assert_eq!(Vec::from_iter(taken), [LockName(0), LockName(2)]);
    }
}
