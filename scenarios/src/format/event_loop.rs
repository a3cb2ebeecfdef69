//! Refuses a blocked event loop to clients that have none.

use picklock_sim::plan::{Fault, FaultKind, Plan, PlannedFault, RedisLibrary};

use super::reader::{Item, Mistake, Mistakes};
use crate::sampled_parameters::SampledParameters;

/// Refuses a callback that does not return to a case whose client library reads without an event loop: each thread that
/// waits for an answer reads it by itself, and no callback is in its way.
pub(super) fn refuse_blocked_loop(
    item: &Item,
    plan: &Plan,
    library: Option<&RedisLibrary>,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    let Some(library) = library.filter(|library| !library.has_event_loop()) else {
        return;
    };
    let blocks = |fault: &PlannedFault| matches!(fault.inject, Fault::BlockEvents { .. });
    let label = match plan.faults.iter().position(blocks) {
        Some(index) => format!("but fault {} blocks one", index + 1),
        None => match &open.faults {
            Some(any) if any.kinds == [FaultKind::BlockEvents] => {
                "but the faults of this file block one".to_owned()
            }
            Some(_) | None => return,
        },
    };
    let mistake = Mistake::new(format!("clients of {} have no event loop", library.name))
        .label(label)
        .help("put this case into a file without that fault")
        .help("or give it a `client` with one: `lettuce`, `ioredis`, or `redisson`");
    mistakes.add(item.span.clone(), mistake);
}
