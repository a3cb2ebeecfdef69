//! Hazards: which promises an algorithm does not keep under which class of faults, and the scenario that shows it.
//!
//! What an algorithm claims under a class of faults are its [`claims`](crate::Recipe::claims) and what is true of every
//! lock, without its hazards there. Two rules keep the rows few:
//!
//! - What breaks without any fault breaks under every class.
//! - What rests on a promise falls with it: where a contender comes in that does not own the lock, the resource is not
//!   protected, and tokens, order, and answers are wrong with it; what is left behind blocks the others.
//!
//! What *no* lock keeps under some faults is no hazard of one algorithm: excuses say that, plan by plan. A test of
//! `scenarios` looks whether each scenario exists, and expects the violation of one of the algorithms of its row: the
//! others of the row are made alike.

mod redis;
mod zookeeper;

pub use crate::hazard::Hazard;
use crate::registry::FAMILIES;
use crate::{FaultClass, Recipe};

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Hazard> {
    let of_others = FAMILIES.into_iter().map(|family| family.hazards);
    let tables = [zookeeper::HAZARDS, redis::HAZARDS].into_iter();
    tables.chain(of_others).flatten()
}

/// The rows of an algorithm.
pub fn of(algorithm: &Recipe) -> impl Iterator<Item = &'static Hazard> {
    all().filter(move |hazard| hazard.of.contains(&algorithm.name))
}

/// Why an algorithm does not claim this promise under a class of faults, if it does not.
pub fn find(algorithm: &Recipe, class: FaultClass, invariant: &str) -> Option<&'static Hazard> {
    of(algorithm).find(|hazard| hazard.holds_under(class) && hazard.takes(invariant))
}
