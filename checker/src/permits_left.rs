//! What a service counts when a run ends, of a semaphore whose permits it counts.

/// The permits of a lock, as a service that counts them has them when the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitsLeft {
    /// How many it says are free.
    pub free: i64,
    /// How many it says are out, each until its lease is over. None: it says nothing of those, and knows of no lease.
    pub leased: Option<u64>,
}
