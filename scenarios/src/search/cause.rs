//! What tells one way to break a promise from another.

use std::collections::BTreeSet;

use crate::shrink::{Extent, Mechanism, Struck, TurningPoint};

/// What tells one way to break a promise from another: which faults struck which targets, how ownership was lost, and
/// how large the overlap is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// The faults that it needs, and their targets.
    pub faults: BTreeSet<Struck>,
    /// How owners lost the lock.
    pub losses: BTreeSet<TurningPoint>,
    /// How large the overlap is, if it is one.
    pub overlap: Option<Extent>,
    /// Whether the overlap is of one contender that holds the lock twice.
    pub with_itself: bool,
}

impl Cause {
    /// What tells this mechanism from others.
    pub fn of(mechanism: &Mechanism) -> Self {
        let turns = mechanism.turns.iter();
        Self {
            faults: mechanism.faults.clone(),
            losses: turns
                .filter(|turn| turn.loss().is_some())
                .copied()
                .collect(),
            overlap: mechanism.overlap,
            with_itself: mechanism.with_itself,
        }
    }

    /// Whether a run with these faults, needed or not, has broken the promise like this.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let Self {
            faults,
            losses,
            overlap,
            with_itself,
        } = self;
        faults.is_subset(&other.faults)
            && *losses == other.losses
            && (overlap, with_itself) == (&other.overlap, &other.with_itself)
    }

    /// Whether nothing but the size of the overlap tells the two apart.
    pub(super) fn is_same_but_for_overlap(&self, other: &Self) -> bool {
        let overlap = self.overlap;
        *self
            == Self {
                overlap,
                ..other.clone()
            }
    }

    /// What the file of such a run is called after its promise: `pause-holder-expired`.
    pub fn slug(&self) -> String {
        let faults = self.faults.iter();
        let faults = faults.map(|struck| format!("{}-{}", struck.kind.name(), struck.role.name()));
        let losses = self.losses.iter().filter_map(|turn| turn.loss());
        let mut words: Vec<String> = faults.chain(losses.map(str::to_owned)).collect();
        words.dedup();
        if self.faults.is_empty() {
            words.insert(0, "no-fault".to_owned());
        }
        words.join("-").replace(' ', "-")
    }
}
