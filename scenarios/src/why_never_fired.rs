//! Why a fault of the plan never fired: what it waited for, and what came first.

use picklock_checker::{AwaitedFault, EventKind, Evidence, VirtualTime, vacuity};
use picklock_sim::plan::{Plan, TriggerValue};

use crate::describe;

/// Why the first fault that never fired did not: `it was due at 20.000 s, and the run ended at 18.150 s`.
pub(crate) fn why_never_fired(plan: &Plan, evidence: &Evidence<'_>) -> Option<String> {
    let index = vacuity::first_unfired(evidence)?.0 as usize;
    let AwaitedFault { seen, due } = *evidence.run.awaited.get(index)?;
    let end = end(evidence)?;
    if let Some(due) = due {
        return Some(format!("it was due at {due}, and {end}"));
    }
    let when = &plan.faults.get(index)?.when;
    let nth = when
        .fields()
        .into_iter()
        .find_map(|(_, value)| match value {
            TriggerValue::Nth(nth) => Some(nth),
            TriggerValue::Contender(_)
            | TriggerValue::Request(_)
            | TriggerValue::Server(_)
            | TriggerValue::MaybeServer(_)
            | TriggerValue::Fault(_) => None,
        });
    let when = describe::trigger(when);
    Some(match nth {
        Some(nth) if nth > 1 => {
            format!("it waited until {when}: that had come {seen} of {nth} times when {end}")
        }
        Some(_) | None => format!("it waited until {when}, and {end} before that"),
    })
}

/// What ended the wait, and when: the calm, in which nothing new breaks, or the run itself.
fn end(evidence: &Evidence<'_>) -> Option<String> {
    let events = &evidence.run.history.events;
    let at = |is: fn(&EventKind) -> bool| -> Option<VirtualTime> {
        Some(events.iter().find(|event| is(&event.what))?.at)
    };
    if let Some(calm) = at(|what| matches!(what, EventKind::CalmBegan)) {
        return Some(format!("the storm was over at {calm}"));
    }
    let ended = at(|what| matches!(what, EventKind::Ended { .. }))?;
    Some(format!("the run ended at {ended}"))
}
