//! The model of an etcd cluster, compared with a real one.
//!
//! The same steps, recorded and random, are done by `picklock-etcd` and by real members on loopback, each part with a
//! fresh store. Every answer must be the same, and every event of a watch. Real members are asked over their JSON
//! gateway (`gateway`), which needs no library for gRPC.

mod compare;
mod gateway;
mod http;
mod random;
mod real;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

pub use real::install::{HOW, Installed};

use compare::Pair;
use real::Real;

use crate::harness::comparison;
use crate::harness::error::Result;

/// What came of a comparison.
pub type Compared = comparison::Compared<()>;

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What decides the random steps.
    pub seed: u64,
    /// How many random steps; a fifth of them with three members.
    pub operations: u64,
}

/// Starts real members, and compares them with the model. `progress` hears how many random steps were done.
///
/// # Errors
///
/// [`VerifyError`](crate::VerifyError), if the comparison could not be made. The members and their folders are gone
/// then, too.
pub fn compare(
    installed: &Installed,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared> {
    let mut pair = Pair::of(Real::new(installed, stop), installed.version);
    pair.records(stop)?;
    let alone = plan.operations - plan.operations / 5;
    pair.random(plan.seed, (1, alone), stop, progress)?;
    let three = (3, plan.operations - alone);
    pair.random(plan.seed, three, stop, &|done| progress(alone + done))?;
    Ok(pair.compared)
}
