//! Writes what a case leaves open, and what it may.

use picklock_sim::plan::FaultKind;
use toml_edit::{InlineTable, Value};

use super::toml::count;
use crate::sampled_parameters::AnyFaults;

/// The faults that a seed may draw.
pub(super) fn faults(any: &AnyFaults) -> Value {
    let mut faults = InlineTable::new();
    // All of them are also those that strike nothing in this world, and a file that names one of those is refused.
    let names = |kinds: &[FaultKind]| kinds.iter().map(|kind| kind.name()).collect();
    if !any.except.is_empty() {
        faults.insert("except", names(&any.except));
    } else if any.kinds != FaultKind::unasked() {
        faults.insert("kinds", names(&any.kinds));
    }
    faults.insert("at-most", count(any.at_most));
    faults.into()
}
