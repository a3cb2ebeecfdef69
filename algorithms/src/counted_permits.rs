//! Semaphores whose service counts their permits.

use crate::keys::Keys;

/// The permits of a semaphore, as the keys of its service count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedPermits {
    /// How many are free.
    pub free: i64,
    /// How many are out, each until its lease is over. `None`: the keys say nothing of those.
    pub leased: Option<u64>,
}

/// Reads the permits of a semaphore; `None` if its keys are not there.
pub type ReadPermits = fn(keys: &dyn Keys, lock: &str) -> Option<CountedPermits>;
