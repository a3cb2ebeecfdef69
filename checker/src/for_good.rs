//! What faults that never heal have taken away, as the simulator reports it: no progress is owed there.

use crate::{ContenderId, VirtualTime};

/// What is gone for good in a run, and the contenders that it leaves without a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForGood {
    /// What is left of the service cannot serve a contender: there is no quorum, no primary, no majority.
    pub service: Option<Unavailable>,
    /// Contenders that cannot get the lock any more, whatever the service does. They owe no progress.
    pub contenders: Vec<Stranded>,
}

impl ForGood {
    /// Why a contender cannot get the lock any more, if so.
    pub fn stranded(&self, by: ContenderId) -> Option<&Stranded> {
        self.contenders.iter().find(|stranded| stranded.by == by)
    }
}

/// A contender that cannot get the lock any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranded {
    /// The contender.
    pub by: ContenderId,
    /// In words: `contender-2 is cut off for good`.
    pub why: String,
    /// The service still hears of it: what it has there need not end with its session.
    pub is_heard: bool,
}

/// Why something cannot be expected any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Since when.
    pub since: VirtualTime,
    /// In words: `server-1 and server-2 are dead for good: what is left has no quorum`.
    pub why: String,
}
