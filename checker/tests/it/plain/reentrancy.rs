//! Entries that count, as plainly as can be.

use picklock_checker::{Disowned, EntryStep, EventKind};

use super::Plain;

impl Plain<'_> {
    pub fn entries_do_not_count(&self) -> bool {
        self.indices().any(|acquired| {
            let steps = self.steps_of(acquired);
            !steps.is_empty()
                && (self.queues_behind_itself(acquired, &steps)
                    || self.is_freed_too_soon(acquired, &steps)
                    || self.is_not_freed(acquired, &steps))
        })
    }

    /// The steps of further entries while a belief is the contender's latest that lasts.
    fn steps_of(&self, acquired: usize) -> Vec<(usize, EntryStep)> {
        let lasts = |belief: usize, at: usize| {
            belief < at && self.belief_ends(belief).is_none_or(|end| end > at)
        };
        let steps = self.indices().filter_map(|index| match self.what(index) {
            EventKind::Reentry { by, lock, step } => {
                let own = |belief| self.belief(belief) == Some((by, lock)) && lasts(belief, index);
                let latest = (0..index).rev().find(|&belief| own(belief));
                (latest == Some(acquired)).then_some((index, step))
            }
            _ => None,
        });
        steps.collect()
    }

    fn queues_behind_itself(&self, acquired: usize, steps: &[(usize, EntryStep)]) -> bool {
        let Some(owned) = self.grant(acquired) else {
            return false;
        };
        let end = self.events.len();
        let owner_until = self.ownership_ends(owned).unwrap_or(end);
        let inside_until = self.belief_ends(acquired).unwrap_or(end);
        steps.iter().enumerate().any(|(place, &(call, step))| {
            let returned = match steps.get(place + 1) {
                Some(&(index, EntryStep::Enters)) => index,
                _ => inside_until,
            };
            step == EntryStep::Asks
                && (call..returned.min(owner_until)).any(|index| {
                    matches!(self.what(index), EventKind::Queued { by, lock, .. }
                        if Some((by, lock)) == self.belief(acquired))
                })
        })
    }

    fn is_freed_too_soon(&self, acquired: usize, steps: &[(usize, EntryStep)]) -> bool {
        let entered = steps.iter().find(|(_, step)| *step == EntryStep::Enters);
        let owned = self.grant(acquired);
        let Some(freed) = owned.and_then(|owned| self.ownership_ends(owned)) else {
            return false;
        };
        let by_itself = matches!(self.what(freed), EventKind::Disowned { how, .. } if how == Disowned::Released);
        let inside = self.belief_ends(acquired).is_none_or(|left| freed < left);
        by_itself && inside && entered.is_some_and(|&(entered, _)| entered < freed)
    }

    fn is_not_freed(&self, acquired: usize, steps: &[(usize, EntryStep)]) -> bool {
        let Some(left) = self.belief_ends(acquired) else {
            return false;
        };
        let whose = self.belief(acquired);
        if !matches!(self.what(left), EventKind::ReleaseStarted { .. }) {
            return false;
        }
        let settled = self.first_after(left, |what| match what {
            EventKind::Released { by, lock } => Some((by, lock)) == whose,
            EventKind::Crashed { by } => whose.is_some_and(|(who, _)| who == by),
            _ => false,
        });
        let Some(released) = settled else {
            return false;
        };
        // Another release began before this one was answered, and the answer is to that.
        let other = (left + 1..released).any(|index| {
            matches!(self.what(index), EventKind::ReleaseStarted { by, lock } if Some((by, lock)) == whose)
                && (0..index).any(|belief| {
                    self.belief(belief) == whose && self.belief_ends(belief) == Some(index)
                })
        });
        let count = |wanted| steps.iter().filter(|(_, step)| *step == wanted).count();
        let all = [EntryStep::Asks, EntryStep::Enters, EntryStep::Leaves].map(count);
        let gone = self.grant(acquired).map(|owned| self.ownership_ends(owned));
        let in_doubt = (0..released).any(|index| {
            let given_up = match self.what(index) {
                EventKind::Cancelled { by, .. } | EventKind::Lost { by, .. } => Some(by),
                _ => None,
            };
            given_up.is_some_and(|by| whose.is_some_and(|(who, _)| who == by))
        });
        matches!(self.what(released), EventKind::Released { .. })
            && !other
            && !in_doubt
            && all[0] == all[1]
            && all[1] == all[2]
            && gone.is_some_and(|gone| self.later(gone, self.at(released)))
    }
}
