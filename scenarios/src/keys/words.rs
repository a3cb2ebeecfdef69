//! Names of which one can stand behind a key, from where they are defined.

use picklock_algorithms::clients::RequestKind;
use picklock_checker::SOMETIMES;
use picklock_sim::plan::{Direction, FaultKind, LockCall, Words};

use crate::program;
use crate::scenario::Catalogue;

fn names<T>(named: &[(&'static str, T)]) -> Vec<&'static str> {
    named.iter().map(|(name, _)| *name).collect()
}

/// The algorithms of this program.
pub(super) const ALGORITHMS: Words = Words {
    what: "algorithm",
    names: || {
        let algorithms = program::catalogue().algorithms.iter();
        algorithms.map(|recipe| recipe.name).collect()
    },
};

pub(super) const INVARIANTS: Words = Words {
    what: "invariant",
    names: || Catalogue::EVERYTHING.invariants.to_vec(),
};

pub(super) const METRICS: Words = Words {
    what: "metric",
    names: || Catalogue::EVERYTHING.metrics.to_vec(),
};

pub(super) const MOMENTS: Words = Words {
    what: "moment",
    names: || SOMETIMES.map(|moment| moment.name).to_vec(),
};

pub(super) const RESOURCES: Words = Words {
    what: "resource",
    names: || vec!["fenced", "unfenced"],
};

pub(super) const FAULTS: Words = Words {
    what: "fault",
    names: || names(&FaultKind::named()),
};

pub(super) const REQUESTS: Words = Words {
    what: "request",
    names: || RequestKind::ALL.map(RequestKind::name).to_vec(),
};

pub(super) const DIRECTIONS: Words = Words {
    what: "direction",
    names: || names(&Direction::NAMED),
};

pub(super) const CALLS: Words = Words {
    what: "call",
    names: || names(&LockCall::NAMED),
};
