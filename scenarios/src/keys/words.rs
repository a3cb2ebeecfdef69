//! Names of which one can stand behind a key, from where they are defined.

use picklock_algorithms::clients::RequestKind;
use picklock_checker::SOMETIMES;
use picklock_sim::plan::{
    Conversion, Direction, FaultKind, Library, LockCall, LockNode, LockOrder, REDIS_LIBRARIES,
    ReadFrom, Share, SwitchMaster, Version,
};

use crate::format::{NO_LIBRARY, PERSISTENCE};
use crate::program;
use crate::scenario::Catalogue;

fn names<T>(named: &[(&'static str, T)]) -> Vec<&'static str> {
    named.iter().map(|(name, _)| *name).collect()
}

/// The algorithms of this program.
pub(super) fn algorithms() -> Vec<&'static str> {
    let algorithms = program::catalogue().algorithms.iter();
    algorithms.map(|recipe| recipe.name).collect()
}

pub(super) fn invariants() -> Vec<&'static str> {
    Catalogue::EVERYTHING.invariants.to_vec()
}

pub(super) fn metrics() -> Vec<&'static str> {
    Catalogue::EVERYTHING.metrics.to_vec()
}

pub(super) fn moments() -> Vec<&'static str> {
    SOMETIMES.map(|moment| moment.name).to_vec()
}

pub(super) fn resources() -> Vec<&'static str> {
    vec!["fenced", "unfenced"]
}

pub(super) fn conversions() -> Vec<&'static str> {
    names(&Conversion::NAMED)
}

pub(super) fn zookeeper_versions() -> Vec<&'static str> {
    names(&Version::ALL)
}

pub(super) fn zookeeper_clients() -> Vec<&'static str> {
    names(&Library::ALL)
}

pub(super) fn lock_nodes() -> Vec<&'static str> {
    names(&LockNode::ALL)
}

pub(super) fn nodes_to_read_from() -> Vec<&'static str> {
    names(&ReadFrom::ALL)
}

pub(super) fn sentinels_to_subscribe_to() -> Vec<&'static str> {
    names(&SwitchMaster::ALL)
}

pub(super) fn persistence() -> Vec<&'static str> {
    names(&PERSISTENCE)
}

pub(super) fn redis_clients() -> Vec<&'static str> {
    let libraries = REDIS_LIBRARIES.iter().map(|library| library.name);
    libraries.chain([NO_LIBRARY]).collect()
}

pub(super) fn shares() -> Vec<&'static str> {
    let nothing = ["nothing"];
    names(&Share::NAMED).into_iter().chain(nothing).collect()
}

pub(super) fn lock_orders() -> Vec<&'static str> {
    names(&LockOrder::NAMED)
}

pub(super) fn faults() -> Vec<&'static str> {
    names(&FaultKind::named())
}

pub(super) fn requests() -> Vec<&'static str> {
    RequestKind::ALL.map(RequestKind::name).to_vec()
}

pub(super) fn directions() -> Vec<&'static str> {
    names(&Direction::NAMED)
}

pub(super) fn calls() -> Vec<&'static str> {
    names(&LockCall::NAMED)
}
