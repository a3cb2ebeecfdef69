//! Barriers: all contenders come to the same one in each round.

use std::collections::BTreeSet;

use picklock_algorithms::LockKind;
use picklock_checker::{Mode, Rendezvous};

use super::{ContenderName, LockName, Plan};

impl Plan {
    /// What contenders come to, if it is a barrier of whatever kind.
    pub fn rendezvous(&self) -> Option<Rendezvous> {
        match self.recipe.ownership.kind {
            LockKind::Barrier => Some(Rendezvous::Barrier),
            LockKind::DoubleBarrier => Some(Rendezvous::DoubleBarrier {
                parties: self.workload.contenders,
            }),
            LockKind::CountDownLatch => Some(Rendezvous::CountDownLatch {
                count: self.workload.count.unwrap_or(1),
            }),
            LockKind::Mutex
            | LockKind::MultiLock
            | LockKind::ReadWrite
            | LockKind::Semaphore
            | LockKind::Election => None,
        }
    }

    /// How many must come to each lock before any goes on, if they are double barriers.
    pub fn parties(&self) -> Option<u32> {
        self.rendezvous()?.parties()
    }

    /// How many count down, if it is a latch.
    pub fn count(&self) -> Option<u32> {
        match self.rendezvous()? {
            Rendezvous::CountDownLatch { count } => Some(count),
            Rendezvous::Barrier | Rendezvous::DoubleBarrier { .. } => None,
        }
    }

    /// In which mode a contender comes to a barrier: the first sets and removes it, and all others pass. To a latch the
    /// first come to count down, and all others to pass.
    pub(crate) fn mode_at_barrier(&self, name: ContenderName) -> Option<Mode> {
        match self.rendezvous()? {
            Rendezvous::Barrier if name.0 > 0 => Some(Mode::Shared),
            Rendezvous::CountDownLatch { count } if name.0 >= count => Some(Mode::Shared),
            Rendezvous::Barrier
            | Rendezvous::DoubleBarrier { .. }
            | Rendezvous::CountDownLatch { .. } => Some(Mode::Exclusive),
        }
    }

    /// The lock that a contender takes in a round, counted from zero. To a barrier all come together.
    pub fn lock_of(&self, name: ContenderName, round: u32) -> LockName {
        match self.rendezvous() {
            Some(_) => LockName(round % self.workload.locks.max(1)),
            None => self.workload.lock_of(name, round),
        }
    }

    /// The locks that a contender takes, each once.
    pub fn locks_of(&self, name: ContenderName) -> BTreeSet<LockName> {
        match self.rendezvous() {
            Some(_) => {
                let rounds = self.workload.rounds_of(name).min(self.workload.locks);
                (0..rounds).map(LockName).collect()
            }
            None => self.workload.locks_of(name),
        }
    }
}
