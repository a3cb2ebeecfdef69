//! The model of memcached, compared with a real server over its text protocol.
//!
//! The clock of memcached ticks once a second, so around each command the real server is asked how late it is (`stats`,
//! uptime): the model handles the command at that tick. If the tick has changed in between, the tick of the command is
//! unknown: the server is started again, and the part of the comparison is set aside.

mod compare;
mod model;
mod random;
mod real;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use crate::harness::comparison;
use crate::harness::error::Result;
pub use real::{HOW, Installed};

/// What came of a comparison.
pub type Compared = comparison::Compared<Counters>;

/// What is counted of these comparisons alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Ticks of the real server's clock.
    pub ticks: u64,
    /// Commands on which a tick made a difference: an item was over that had been there.
    pub expired: u64,
}

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What decides the random commands.
    pub seed: u64,
    /// How many random commands.
    pub operations: u64,
}

/// Starts a real server, and compares it with the model. `progress` hears how many random commands were sent.
///
/// # Errors
///
/// [`VerifyError`](crate::VerifyError), if the comparison could not be made. The server is gone then, too.
pub fn compare(
    installed: &Installed,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared> {
    compare::random(real::Real::start(installed)?, plan, stop, progress)
}
