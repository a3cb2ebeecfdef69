//! A hazard: which promises some algorithms do not keep under some classes of faults.

use crate::{Claim, FaultClass};

/// The rows of a family: each a scenario, the algorithms that it is about, the promises that it shows broken, and the
/// classes of its faults.
macro_rules! hazards {
    ($($scenario:literal: [$($of:literal),+ $(,)?] breaks [$($claim:ident),+] under [$($class:ident),+];)+) => {
        pub(super) const HAZARDS: &[$crate::hazard::Hazard] = &[$($crate::hazard::Hazard {
            of: &[$($of),+],
            breaks: &[$(crate::Claim::$claim),+],
            under: &[$(crate::FaultClass::$class),+],
            scenario: $scenario,
        }),+];
    };
}

pub(crate) use hazards;

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
