//! Writes what a case leaves open, and what it may.

use picklock_sim::plan::{FaultKind, Strategy};
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

/// All that there is to choose from, or the only value.
pub(super) fn one_of<T: Copy, V: Into<Value>>(
    choices: &[T],
    only: T,
    write: impl Fn(T) -> V,
) -> Value {
    match choices {
        [] => write(only).into(),
        choices => choices.iter().map(|choice| write(*choice)).collect(),
    }
}

/// A range of numbers, or the only one.
pub(super) fn number(range: Option<(u32, u32)>, only: u32) -> Value {
    match range {
        Some((least, most)) => format!("{least}..{most}").into(),
        None => count(only),
    }
}

/// A strategy of chance.
pub(super) fn strategy(strategy: Strategy) -> Value {
    match strategy {
        Strategy::Even => "even".into(),
        Strategy::Extremes => "extremes".into(),
        Strategy::Delays(delays) => Value::from_iter([("delays", count(delays))]),
        Strategy::Priorities(changes) => Value::from_iter([("priorities", count(changes))]),
        Strategy::Orders => "orders".into(),
    }
}
