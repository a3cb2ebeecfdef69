//! How siblings deviate from Curator's semaphore.

use std::rc::Rc;

use super::LEASE_BASE_NAME;
use crate::clients::zookeeper::Children;
use crate::zookeeper::curator_mutex::after_mark;

/// How a sibling deviates from Curator.
#[derive(Clone, Copy)]
pub(crate) struct Deviation {
    pub(crate) returns_lease: ReturnsLease,
    pub(crate) counts: Counts,
    pub(crate) mutex_for: MutexFor,
    /// Whether a call that fails gives back the leases that it has acquired before.
    pub(crate) returns_earlier: bool,
}

impl Deviation {
    /// Curator as it is.
    pub(crate) const NONE: Self = Self {
        returns_lease: ReturnsLease::UnlessCounted,
        counts: Counts::All,
        mutex_for: MutexFor::OneLease,
        returns_earlier: true,
    };
}

/// What a call keeps the mutex for.
#[derive(Clone, Copy)]
pub(crate) enum MutexFor {
    /// Each lease by itself.
    OneLease,
    /// All leases of the call.
    AllLeases,
}

/// Whether a lease is given back whose acquire has failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReturnsLease {
    /// It is not.
    Never,
    /// If the count has failed.
    UnlessCounted,
    /// If the count has failed, or the release of the mutex after it.
    UnlessAcquired,
}

/// Which leases must be no more than there may be.
#[derive(Clone, Copy)]
pub(crate) enum Counts {
    /// All that there are.
    All,
    /// All but its own.
    Others,
    /// Its own, and those with lower numbers.
    UpToOwn,
}

impl Counts {
    /// How many those are, of all that there are.
    pub(super) fn of(self, children: &Children, node_name: &str) -> usize {
        match self {
            Self::All => children.len(),
            Self::Others => children.len() - 1,
            Self::UpToOwn => {
                let own = after_mark(node_name, LEASE_BASE_NAME);
                let up_to_own = |name: &&Rc<str>| after_mark(name, LEASE_BASE_NAME) <= own;
                children.names().filter(up_to_own).count()
            }
        }
    }
}
