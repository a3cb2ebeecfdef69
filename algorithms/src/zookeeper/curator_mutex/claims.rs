//! What Curator's mutexes promise.

use crate::Claim;

/// What Curator's lock promises.
pub(in crate::zookeeper) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Fifo,
    Claim::HonestAnswer,
];

/// The same of a lock that counts for each thread how often it has entered.
pub(in crate::zookeeper) const REENTRANT_CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::Fifo,
    Claim::Reentrancy,
    Claim::HonestAnswer,
];
