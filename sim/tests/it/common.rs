//! Histories of two contenders, one after the other, each for five seconds, and what breaks meanwhile.

pub mod disowned;
pub mod failovers;
pub mod first;
pub mod moments;
pub mod plans;
pub mod violated;

use picklock_checker::{ContenderId, History};
use picklock_sim::plan::{PlannedFault, Service};
use picklock_sim::simulate;

pub use plans::*;

pub const A: ContenderId = ContenderId(0);

/// What happens on a service.
pub fn history_on(service: Service, algorithm: &str, faults: Vec<PlannedFault>) -> History {
    simulate(&plan_on(service, algorithm, faults), 1)
        .run
        .history
}
