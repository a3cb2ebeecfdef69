//! The models of PostgreSQL and MariaDB, compared with real servers.
//!
//! Sessions execute the same random statements on `picklock-sql` and on a real server on loopback. Every answer
//! must be the same, and what waits must wait on both. Where a real server chooses (which of those that it wakes
//! goes first), the model is asked for a choice that comes to the same.

mod compare;
mod model;
mod mysql;
mod postgres;
mod random;
mod real;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::atomic::AtomicBool;

pub use picklock_clients::sql::Dialect;

use crate::harness::comparison;
use crate::harness::error::Result;
pub use real::Installed;

/// What came of a comparison.
pub type Compared = comparison::Compared<Counters>;

/// What is counted of these comparisons alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Statements that have waited for a lock.
    pub waited: u64,
    /// Steps of which the order was the real server's choice.
    pub chosen: u64,
}

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Which server.
    pub dialect: Dialect,
    /// What decides the random statements.
    pub seed: u64,
    /// How many random statements.
    pub operations: u64,
}

/// Starts a real server, and compares it with the model. `progress` hears how many random statements were sent.
///
/// # Errors
///
/// [`VerifyError`](crate::VerifyError), if the comparison could not be made. The server and its folder are gone then,
/// too.
pub fn compare(
    installed: &Installed,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared> {
    let real = real::Real::start(installed, plan.dialect)?;
    compare::random(real, plan, stop, progress)
}
