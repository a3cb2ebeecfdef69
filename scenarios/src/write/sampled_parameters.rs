//! Writes what a case leaves open, and what it may.

use picklock_sim::plan::{FaultKind, Strategy};

use super::toml::text;
use crate::sampled_parameters::AnyFaults;

/// The faults that a seed may draw.
pub(super) fn faults(any: &AnyFaults) -> String {
    let at_most = any.at_most;
    // All of them are also those that strike nothing in this world, and a file that names one of those is refused.
    if any.kinds == FaultKind::unasked() {
        return format!("faults.any = {{ at-most = {at_most} }}");
    }
    let kinds: Vec<String> = any.kinds.iter().map(|kind| text(kind.name())).collect();
    let kinds = kinds.join(", ");
    format!("faults.any = {{ kinds = [{kinds}], at-most = {at_most} }}")
}

/// All that there is to choose from, or the only value.
pub(super) fn one_of<T: Copy>(choices: &[T], only: T, write: impl Fn(T) -> String) -> String {
    if choices.is_empty() {
        return write(only);
    }
    let choices: Vec<String> = choices.iter().map(|choice| write(*choice)).collect();
    format!("[{}]", choices.join(", "))
}

/// A range of numbers, or the only one.
pub(super) fn number(range: Option<(u32, u32)>, only: u32) -> String {
    match range {
        Some((least, most)) => text(&format!("{least}..{most}")),
        None => only.to_string(),
    }
}

/// A strategy of chance.
pub(super) fn strategy(strategy: Strategy) -> String {
    match strategy {
        Strategy::Even => text("even"),
        Strategy::Extremes => text("extremes"),
        Strategy::Delays(delays) => format!("{{ delays = {delays} }}"),
        Strategy::Priorities(changes) => format!("{{ priorities = {changes} }}"),
        Strategy::Orders => text("orders"),
    }
}
