//! The class that a kind of fault belongs to, by its row: the classes of a plan, drawn or written, follow from its
//! faults.

use std::collections::BTreeSet;

use picklock_algorithms::FaultClass;

use super::{FaultKind, PlannedFault};

impl FaultKind {
    /// The class that it belongs to.
    pub fn class(self) -> FaultClass {
        self.spec().class
    }

    /// The kinds of a class, in the order in which kinds are listed. Those of [`FaultClass::None`] break
    /// nothing.
    pub fn of_class(class: FaultClass) -> Vec<Self> {
        let mut kinds = Self::ALL.to_vec();
        kinds.retain(|kind| kind.class() == class);
        kinds
    }
}

/// The classes of some faults: [`FaultClass::None`] alone if there are no faults.
pub fn classes_of(faults: &[PlannedFault]) -> BTreeSet<FaultClass> {
    if faults.is_empty() {
        return BTreeSet::from([FaultClass::None]);
    }
    let kinds = faults.iter().map(|fault| FaultKind::of(&fault.inject));
    kinds.map(FaultKind::class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_kind_and_what_breaks_nothing_is_of_none() {
        for class in FaultClass::ALL {
            let is_empty = FaultKind::of_class(class).is_empty();
            assert!(!is_empty, "{}", class.name());
        }
        let nothing = FaultKind::of_class(FaultClass::None);
        assert_eq!(nothing, [FaultKind::Stop]);
        assert_eq!(classes_of(&[]), BTreeSet::from([FaultClass::None]));
    }
}
