//! How large a run is: what a person has to read to understand it.

use picklock_checker::{EventKind, History, VirtualTime};
use picklock_sim::plan::Plan;

use super::FITS;

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
        let operation = |what: &EventKind| {
            matches!(
                what,
                EventKind::AcquireStarted { .. }
                    | EventKind::ReleaseStarted { .. }
                    | EventKind::Writing { .. }
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

    /// Whether a run is a smaller one than this: it has fewer contenders or faults and no more of either, or as many
    /// and fewer operations or events and no more of either, or as many of all and says less by its choices. Two runs
    /// of which each has more of something are not compared.
    pub fn is_more_than(&self, other: &Self) -> bool {
        let parts = |size: &Self| (size.contenders, size.faults);
        let story = |size: &Self| (size.operations, size.events);
        let less =
            |one: (u32, u32), than: (u32, u32)| one.0 <= than.0 && one.1 <= than.1 && one != than;
        match parts(other) == parts(self) {
            false => less(parts(other), parts(self)),
            true if story(other) == story(self) => other.choices < self.choices,
            true => less(story(other), story(self)),
        }
    }

    /// Whether a run of this size may become one of another, of which there is one of a third by now. It fits on a
    /// screen, or is no longer than what there is, or no more than twice as long if something is taken away; and with
    /// as many contenders and faults as in the beginning, its story is none that takes longer to read.
    pub(super) fn may_become(&self, other: &Self, now: &Self) -> bool {
        let parts = |size: &Self| (size.contenders, size.faults);
        let no_longer = other.operations <= self.operations && other.events <= self.events;
        let most = now.operations.max(FITS);
        let most = if parts(other) == parts(now) {
            most
        } else {
            most * 2
        };
        other.operations <= most && (parts(other) != parts(self) || no_longer)
    }

    /// Whether a person has as much to read of both.
    pub(super) fn reads_like(&self, other: &Self) -> bool {
        let read = |size: &Self| (size.contenders, size.faults, size.operations, size.events);
        read(self) == read(other)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn size(contenders: u32, faults: u32, operations: u32, events: u32, choices: u32) -> Size {
        Size {
            contenders,
            faults,
            operations,
            events,
            choices,
        }
    }

    #[test]
    fn fewer_contenders_or_faults_are_less_if_there_are_more_of_neither() {
        let run = size(3, 2, 8, 20, 100);
        assert!(run.is_more_than(&size(2, 2, 9, 22, 0)));
        assert!(run.is_more_than(&size(3, 1, 8, 20, 100)));
        assert!(!run.is_more_than(&size(2, 3, 1, 1, 0)));
    }

    #[test]
    fn eight_events_are_not_more_than_ten() {
        let run = size(2, 1, 2, 8, 100);
        assert!(!run.is_more_than(&size(2, 1, 2, 10, 0)));
        assert!(!run.is_more_than(&size(2, 1, 1, 9, 0)));
        assert!(run.is_more_than(&size(2, 1, 2, 7, 100)));
        assert!(!run.is_more_than(&run));
    }

    #[test]
    fn choices_count_only_where_all_else_is_the_same() {
        let run = size(2, 1, 2, 8, 100);
        assert!(run.is_more_than(&size(2, 1, 2, 8, 0)));
        assert!(!run.is_more_than(&size(2, 1, 2, 8, 101)));
    }
}
