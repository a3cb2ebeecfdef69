//! How large a run is: what a person has to read to understand it.

use picklock_checker::{History, VirtualTime, What};
use picklock_sim::plan::Plan;

/// How large a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Contenders.
    pub contenders: u32,
    /// Faults of the plan.
    pub faults: u32,
    /// Calls of `acquire` and `release`, and writes, up to the violation.
    pub operations: u32,
    /// Events of the history up to the violation.
    pub events: u32,
    /// Choices that are not the boring ones.
    pub choices: u32,
}

impl Size {
    /// The size of a run that violates a promise at that time.
    pub(super) fn of(plan: &Plan, choices: &[u32], history: &History, at: VirtualTime) -> Self {
        let until = history.events.iter().take_while(|event| event.at <= at);
        let operation = |what: &What| {
            matches!(
                what,
                What::AcquireStarted { .. } | What::ReleaseStarted { .. } | What::Writing { .. }
            )
        };
        Self {
            contenders: plan.workload.contenders,
            faults: number(plan.faults.len()),
            operations: number(until.clone().filter(|event| operation(&event.what)).count()),
            events: number(until.count()),
            choices: number(choices.iter().filter(|choice| **choice != 0).count()),
        }
    }

    /// What became of this: `5 contenders to 3, 1 fault, 118 events to 8`
    pub(super) fn to(&self, to: &Self) -> String {
        let part = |from: u32, to: u32, word: &str| {
            let ending = if from == 1 { "" } else { "s" };
            if from == to {
                format!("{from} {word}{ending}")
            } else {
                format!("{from} {word}{ending} to {to}")
            }
        };
        let mut parts = vec![part(self.contenders, to.contenders, "contender")];
        if self.faults > 0 {
            parts.push(part(self.faults, to.faults, "fault"));
        }
        parts.push(part(self.events, to.events, "event"));
        parts.join(", ")
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
