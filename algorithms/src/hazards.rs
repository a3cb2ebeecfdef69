//! Hazards: which promises an algorithm does not keep under which class of faults, and the scenario that shows it.
//!
//! What an algorithm claims under a class of faults are its [`claims`](crate::Recipe::claims) and what is true of every
//! lock, without its hazards there. Two rules keep the rows few:
//!
//! - What breaks without any fault breaks under every class.
//! - What rests on a promise falls with it: where one comes in who does not own the lock, the resource is not
//!   protected, and tokens, order, and answers are wrong with it; what is left behind blocks the others.
//!
//! What *no* lock keeps under some faults is no hazard of one algorithm: excuses say that, plan by plan. A test of
//! `scenarios` looks whether each scenario exists, and expects the violation of one of the algorithms of its row: the
//! others of the row are made alike.

use crate::{Claim, FaultClass, Recipe};

/// The rows of a family: each a scenario, the algorithms that it is about, the promises that it shows broken, and the
/// classes of its faults.
macro_rules! hazards {
    ($($scenario:literal: [$($of:literal),+ $(,)?] breaks [$($claim:ident),+] under [$($class:ident),+];)+) => {
        pub(super) const HAZARDS: &[Hazard] = &[$(Hazard {
            of: &[$($of),+],
            breaks: &[$(crate::Claim::$claim),+],
            under: &[$(crate::FaultClass::$class),+],
            scenario: $scenario,
        }),+];
    };
}

mod lease_server;
mod redis;
mod zookeeper;

/// Promises that some algorithms do not keep under some classes of faults.
#[derive(Clone, Copy, Debug)]
pub struct Hazard {
    /// The algorithms.
    pub of: &'static [&'static str],
    /// The promises.
    pub breaks: &'static [Claim],
    /// The classes of faults. [`FaultClass::None`]: whatever breaks.
    pub under: &'static [FaultClass],
    /// The scenario of the library that shows it, under one of the classes at least.
    pub scenario: &'static str,
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Hazard> {
    let tables = [zookeeper::HAZARDS, redis::HAZARDS, lease_server::HAZARDS];
    tables.into_iter().flatten()
}

/// The rows of an algorithm.
pub fn of(algorithm: &Recipe) -> impl Iterator<Item = &'static Hazard> {
    all().filter(move |hazard| hazard.of.contains(&algorithm.name))
}

/// Why an algorithm does not claim this promise under a class of faults, if it does not.
pub fn find(algorithm: &Recipe, class: FaultClass, invariant: &str) -> Option<&'static Hazard> {
    of(algorithm).find(|hazard| hazard.holds_under(class) && hazard.takes(invariant))
}

impl Hazard {
    /// Whether it is one under faults of this class.
    pub fn holds_under(&self, class: FaultClass) -> bool {
        self.under.contains(&class) || self.under.contains(&FaultClass::None)
    }

    /// Whether it takes this promise, or one that rests on it.
    pub fn takes(&self, invariant: &str) -> bool {
        let mut broken = self.breaks.iter();
        broken.any(|claim| claim.invariant() == invariant || rests_on(*claim).contains(&invariant))
    }
}

/// What does not hold either where a promise does not.
fn rests_on(claim: Claim) -> &'static [&'static str] {
    match claim {
        Claim::MutualExclusion | Claim::ExclusiveOwnership => &[
            "no-stale-effect",
            "no-lost-update",
            "fencing-monotonic",
            "fifo",
            "honest-answer",
            "permits-conserved",
        ],
        Claim::FencingMonotonic => &["no-stale-effect", "no-lost-update"],
        Claim::OwnReleaseOnly => &["mutual-exclusion", "no-stale-effect", "no-lost-update"],
        Claim::NoOrphan => &["progress", "permits-conserved"],
        Claim::NoStaleEffect
        | Claim::NoLostUpdate
        | Claim::Progress
        | Claim::Fifo
        | Claim::HonestAnswer
        | Claim::Reentrancy
        | Claim::TimelyLoss
        | Claim::Barrier
        | Claim::PermitsConserved => &[],
        Claim::AllOrNone => &[
            "mutual-exclusion",
            "no-stale-effect",
            "no-lost-update",
            "fifo",
        ],
    }
}
