//! What breaks a run off without a panic: above all code of the contenders that never waits for anything, so that
//! nothing else would ever happen.
//!
//! Budgets are counted, and none is a time: what breaks off does so on every machine, with the same history.

use picklock_checker::{Broken, VirtualTime};

use crate::plan::Plan;

/// How much the code of the contenders may do before anything else happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// So often their tasks may run.
    pub polls: u64,
    /// So much their calls may cost.
    pub calls: u64,
}

impl Budget {
    /// What is enough for all contenders to be woken at once, many times over.
    pub(crate) fn of(plan: &Plan) -> Self {
        let contenders = u64::from(plan.workload.contenders);
        Self {
            polls: 100_000 + contenders * 1_000,
            calls: 1_000_000 + contenders * 1_000,
        }
    }
}

/// After how many events it is looked whether that is enough: half of what the plan allows for, and then all of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub events: u64,
    /// The time when half was spent.
    half_at: VirtualTime,
}

/// What more events than the limit mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventLimit {
    /// Half is spent, and it goes on.
    Half,
    /// All is spent.
    Spent,
    /// All is spent, and no time has passed during so many.
    Still(u64),
}

impl Limit {
    /// Fewer than these may well happen at the same time.
    const STILL: u64 = 100_000;

    pub(crate) fn of(plan: &Plan) -> Self {
        Self {
            events: plan.event_budget / 2,
            half_at: VirtualTime::NEVER,
        }
    }

    #[cold]
    pub(crate) fn beyond(&mut self, budget: u64, now: VirtualTime) -> EventLimit {
        if self.events < budget {
            (self.events, self.half_at) = (budget, now);
            return EventLimit::Half;
        }
        let events = budget - budget / 2;
        match now == self.half_at && events >= Self::STILL {
            true => EventLimit::Still(events),
            false => EventLimit::Spent,
        }
    }
}

/// The code that runs never waits for anything.
pub(crate) fn never_waits(did: &str, now: VirtualTime) -> Broken {
    Broken {
        who: None,
        what: format!("never waits: {did} at {now}, and no time passes"),
        place: None,
    }
}

/// That another thread has woken a task.
pub(crate) fn woken_from_outside() -> Broken {
    Broken {
        who: Some("the recipe".to_owned()),
        what: "started a thread, and that woke it: no two runs are alike then. What is to be done in the background \
               belongs to `Env::spawn`"
            .to_owned(),
        place: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What so many events mean, the first half and all of which came at these times.
    fn beyond(budget: u64, half_at: u64, all_at: u64) -> EventLimit {
        let mut limit = Limit {
            events: budget / 2,
            half_at: VirtualTime::NEVER,
        };
        let half = limit.beyond(budget, VirtualTime::from_micros(half_at));
        assert_eq!((half, limit.events), (EventLimit::Half, budget));
        limit.beyond(budget, VirtualTime::from_micros(all_at))
    }

    #[test]
    fn a_budget_is_spent_on_nothing_only_if_time_has_stood_still_for_half_of_it() {
        assert_eq!(beyond(1_000_000, 7, 8), EventLimit::Spent);
        assert_eq!(beyond(1_000_000, 7, 7), EventLimit::Still(500_000));
        assert_eq!(beyond(100, 0, 0), EventLimit::Spent);
        assert_eq!(beyond(1, 0, 0), EventLimit::Spent);
    }
}
