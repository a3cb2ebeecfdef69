//! The model of a Redis server, compared with a real one.
//!
//! The same commands, scripted and random, are sent to `picklock-redis` and to a real server on loopback. Every answer
//! and every message must be the same; where a server tells the time, up to a few milliseconds. The client speaks
//! Redis's protocol itself ([`resp`]): a library would hide the order of messages and refuse bad commands.

mod backend;
mod cases;
mod cluster;
mod compare;
mod driver;
mod failover;
mod model;
mod normalize;
mod random;
mod real;
pub mod resp;
mod step;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

pub use cluster::compare as compare_clusters;
pub use failover::{Failovers, Resumed, compare as compare_failovers, steps as steps_of_failovers};
pub use real::{Found, HOW, Installed};

use compare::{Counters, Pair};
use real::Real;

use crate::harness::comparison;
use crate::harness::error::Result;

/// What came of a comparison.
pub type Compared = comparison::Compared<Counters>;

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
/// [`VerifyError`](crate::VerifyError), if the comparison could not be made. The server and its folder are
/// gone then, too.
pub fn compare(
    installed: &Installed,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared> {
    let real = Real::start(installed, stop)?;
    let found = real.found.clone();
    let mut pair = Pair::of(real, found.model);
    pair.compared.counters.server = Some(found);
    pair.cases(cases::CASES, stop)?;
    pair.random(plan, stop, progress)?;
    pair.cases(&[cases::LAST], stop)?;
    Ok(pair.compared)
}
