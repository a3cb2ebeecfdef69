//! Definitions, as plain as can be: no state is carried from event to event, every question is
//! answered by looking at the whole history again.

mod bypass;
mod grants;
mod reentrancy;
mod starvation;
mod without_loss;

use std::time::Duration;

use picklock_checker::{
    ContenderId, ConversionStep, Event, EventKind, Facts, Knowledge, LockId, Mode, VirtualTime,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    Holds,
    Violated {
        at: VirtualTime,
        overlap: Option<Duration>,
    },
    Undecided,
}

impl Answer {
    pub fn is_violated(&self) -> bool {
        matches!(self, Self::Violated { .. })
    }
}

pub struct Plain<'a> {
    events: &'a [Event],
}

impl<'a> Plain<'a> {
    pub fn new(events: &'a [Event]) -> Self {
        Self { events }
    }

    fn indices(&self) -> std::ops::Range<usize> {
        0..self.events.len()
    }

    fn what(&self, index: usize) -> EventKind {
        self.events[index].what
    }

    fn at(&self, index: usize) -> VirtualTime {
        self.events[index].at
    }

    fn first_after(&self, index: usize, test: impl Fn(EventKind) -> bool) -> Option<usize> {
        (index + 1..self.events.len()).find(|&later| test(self.what(later)))
    }

    fn last_before(&self, index: usize, test: impl Fn(EventKind) -> bool) -> Option<usize> {
        (0..index).rev().find(|&earlier| test(self.what(earlier)))
    }

    fn later(&self, end: Option<usize>, at: VirtualTime) -> bool {
        end.is_none_or(|end| self.at(end) > at)
    }

    /// The call of `acquire` that has had no answer before this event.
    pub fn asked(&self, index: usize, who: ContenderId, of: LockId) -> Option<usize> {
        let last = self.last_before(index, |what| match what {
            EventKind::AcquireStarted { by, lock, .. }
            | EventKind::Acquired { by, lock, .. }
            | EventKind::AcquireFailed { by, lock, .. }
            | EventKind::Cancelled { by, lock } => (by, lock) == (who, of),
            EventKind::Crashed { by } => by == who,
            _ => false,
        })?;
        matches!(self.what(last), EventKind::AcquireStarted { .. }).then_some(last)
    }

    fn belief(&self, index: usize) -> Option<(ContenderId, LockId)> {
        match self.what(index) {
            EventKind::Acquired { by, lock, .. } => Some((by, lock)),
            EventKind::Conversion { by, lock, step, .. } => {
                let converts = step == ConversionStep::Converts;
                (converts && self.believes(index, by, lock)).then_some((by, lock))
            }
            _ => None,
        }
    }

    /// Whether a contender believed in the lock before this event.
    fn believes(&self, index: usize, who: ContenderId, of: LockId) -> bool {
        let last = self.last_before(index, |what| match what {
            EventKind::Acquired { by, lock, .. }
            | EventKind::ReleaseStarted { by, lock }
            | EventKind::Lost { by, lock, .. } => (by, lock) == (who, of),
            EventKind::Crashed { by } => by == who,
            _ => false,
        });
        last.is_some_and(|last| matches!(self.what(last), EventKind::Acquired { .. }))
    }

    /// The mode of what begins or queues; exclusive of everything else.
    fn mode(&self, index: usize) -> Mode {
        match self.what(index) {
            EventKind::Acquired { mode, .. }
            | EventKind::Conversion { mode, .. }
            | EventKind::Owned { mode, .. }
            | EventKind::AcquireStarted { mode, .. }
            | EventKind::Queued { mode, .. } => mode,
            _ => Mode::Exclusive,
        }
    }

    /// Whether two readers share it.
    fn exclude(&self, one: usize, other: usize) -> bool {
        self.mode(one) == Mode::Exclusive || self.mode(other) == Mode::Exclusive
    }

    fn belief_ends(&self, index: usize) -> Option<usize> {
        let belief = self.belief(index)?;
        self.first_after(index, |what| match what {
            EventKind::ReleaseStarted { by, lock } | EventKind::Lost { by, lock, .. } => {
                (by, lock) == belief
            }
            EventKind::Conversion { by, lock, step, .. } => {
                (by, lock) == belief && step == ConversionStep::Converts
            }
            EventKind::Crashed { by } => by == belief.0,
            _ => false,
        })
    }

    fn ownership_ends(&self, index: usize) -> Option<usize> {
        let EventKind::Owned {
            by, lock, token, ..
        } = self.what(index)
        else {
            return None;
        };
        let owned = (by, lock, token);
        self.first_after(index, |what| {
            matches!(what, EventKind::Disowned { by, lock, token, .. } if (by, lock, token) == owned)
        })
    }

    /// Of all pairs that overlap, the one whose later part begins first.
    fn overlaps(
        &self,
        begins: impl Fn(usize) -> bool,
        contradict: impl Fn(usize, usize) -> bool,
        ends: impl Fn(usize) -> Option<usize>,
    ) -> Answer {
        let mut worst: Option<(usize, Duration)> = None;
        for later in self.indices().filter(|&index| begins(index)) {
            for earlier in (0..later).filter(|&index| begins(index)) {
                let from = self.at(later);
                if !contradict(earlier, later) || !self.later(ends(earlier), from) {
                    continue;
                }
                let until = |end: Option<usize>| self.at(end.unwrap_or(self.events.len() - 1));
                let overlap = until(ends(earlier)).min(until(ends(later))).since(from);
                let longer = |&(first, longest): &(usize, Duration)| {
                    first < later || first == later && longest >= overlap
                };
                if !worst.as_ref().is_some_and(longer) {
                    worst = Some((later, overlap));
                }
            }
        }
        match worst {
            Some((later, overlap)) => Answer::Violated {
                at: self.at(later),
                overlap: Some(overlap),
            },
            None if self.indices().any(begins) => Answer::Holds,
            None => Answer::Undecided,
        }
    }

    /// Since when the contender that believed could know of its loss, and how.
    fn could_know(&self, belief: usize) -> Option<(VirtualTime, Knowledge)> {
        let whose = self.belief(belief)?;
        let known = self.first_after(
            belief,
            |what| matches!(what, EventKind::CouldHaveKnown { by, lock, .. } if (by, lock) == whose),
        )?;
        if self.belief_ends(belief).is_some_and(|end| end < known) {
            return None;
        }
        let EventKind::CouldHaveKnown { since, how, .. } = self.what(known) else {
            return None;
        };
        let lost = self.ownership_ends(self.grant(belief)?)?;
        Some((since.max(self.at(lost)), how))
    }

    pub fn timely_loss(&self, reaction: Duration) -> Answer {
        let mut beliefs = self.indices().filter(|&index| self.belief(index).is_some());
        if beliefs.clone().next().is_none() {
            return Answer::Undecided;
        }
        let late = beliefs.find_map(|belief| {
            let (since, how) = self.could_know(belief)?;
            let began = self.at(belief);
            if how == Knowledge::ValidityOver && since <= began {
                return Some(began);
            }
            let end = self.at(self.belief_ends(belief).unwrap_or(self.events.len() - 1));
            (end > since + reaction).then_some(since + reaction)
        });
        late.map_or(Answer::Holds, |at| Answer::Violated { at, overlap: None })
    }

    /// Whether two believed at a time at which one of them had long been able to know.
    pub fn inexcusable_overlap(&self, reaction: Duration) -> bool {
        let end = self.at(self.events.len() - 1).micros();
        let believes = |belief: usize, at: u64| {
            let ends = self.belief_ends(belief).map(|end| self.at(end).micros());
            self.at(belief).micros() <= at && ends.is_none_or(|ends| at < ends)
        };
        let knows = |belief: usize, at: u64| {
            let known = self.could_know(belief);
            known.is_some_and(|(since, _)| (since + reaction).micros() <= at)
        };
        let beliefs = || self.indices().filter(|&index| self.belief(index).is_some());
        // Whatever happens, happens at whole and half seconds.
        let mut moments = (0..end).step_by(500_000);
        moments.any(|at| {
            beliefs().any(|one| {
                let lock = |belief| self.belief(belief).map(|(_, lock)| lock);
                let other = |two: usize| {
                    two != one
                        && lock(two) == lock(one)
                        && self.exclude(two, one)
                        && believes(two, at)
                };
                believes(one, at) && knows(one, at) && beliefs().any(other)
            })
        })
    }

    /// The first that begins when others have not ended that leave too few permits for it, of those that are counted as
    /// one if they are the same.
    fn excess<T: PartialEq>(
        &self,
        permits: usize,
        begins: impl Fn(usize) -> Option<(LockId, T)>,
        ends: impl Fn(usize) -> Option<usize>,
        takes: impl Fn(usize) -> usize,
    ) -> Answer {
        let until = |index| self.at(ends(index).unwrap_or(self.events.len() - 1));
        for later in self.indices() {
            let Some((lock, last)) = begins(later) else {
                continue;
            };
            let from = self.at(later);
            let mut others: Vec<(usize, T)> = Vec::new();
            for earlier in 0..later {
                if let Some((of, one)) = begins(earlier)
                    && of == lock
                    && one != last
                    && self.later(ends(earlier), from)
                    && others.iter().all(|(_, other)| *other != one)
                {
                    others.push((earlier, one));
                }
            }
            let taken: usize = others.iter().map(|(index, _)| takes(*index)).sum();
            if taken + takes(later) > permits {
                let ends = others.iter().map(|(index, _)| until(*index));
                let overlap = ends.fold(until(later), VirtualTime::min).since(from);
                return Answer::Violated {
                    at: from,
                    overlap: Some(overlap),
                };
            }
        }
        match self.indices().any(|index| begins(index).is_some()) {
            true => Answer::Holds,
            false => Answer::Undecided,
        }
    }

    /// Where the first contender takes so many by each call, and all others one.
    pub fn more_believe_than(&self, permits: usize, of_first: usize) -> Answer {
        // Each belief is one of its own.
        let begins = |index| self.belief(index).map(|(_, lock)| (lock, index));
        let takes = |index| match self.belief(index) {
            Some((ContenderId(0), _)) => of_first,
            _ => 1,
        };
        self.excess(permits, begins, |index| self.belief_ends(index), takes)
    }

    pub fn more_own_than(&self, permits: usize) -> Answer {
        let begins = |index| match self.what(index) {
            EventKind::Owned {
                by, lock, token, ..
            } => Some((lock, (by, token))),
            _ => None,
        };
        self.excess(permits, begins, |index| self.ownership_ends(index), |_| 1)
    }

    /// Whether more believed than there are permits at a time at which one of them had long been able to know.
    pub fn inexcusably_more_than(&self, permits: usize, reaction: Duration) -> bool {
        let end = self.at(self.events.len() - 1).micros();
        let believes = |belief: usize, at: u64| {
            let ends = self.belief_ends(belief).map(|end| self.at(end).micros());
            self.at(belief).micros() <= at && ends.is_none_or(|ends| at < ends)
        };
        let knows = |belief: usize, at: u64| {
            let known = self.could_know(belief);
            known.is_some_and(|(since, _)| (since + reaction).micros() <= at)
        };
        let mut moments = (0..end).step_by(500_000);
        moments.any(|at| {
            [LockId(0), LockId(1)].into_iter().any(|lock| {
                let inside = self.indices().filter(|&belief| {
                    self.belief(belief).is_some_and(|(_, of)| of == lock) && believes(belief, at)
                });
                let inside: Vec<usize> = inside.collect();
                inside.len() > permits && inside.iter().any(|&belief| knows(belief, at))
            })
        })
    }

    pub fn mutual_exclusion(&self) -> Answer {
        let lock = |index| self.belief(index).map(|(_, lock)| lock);
        self.overlaps(
            |index| lock(index).is_some(),
            |earlier, later| lock(earlier) == lock(later) && self.exclude(earlier, later),
            |index| self.belief_ends(index),
        )
    }

    pub fn exclusive_ownership(&self) -> Answer {
        let owned = |index| match self.what(index) {
            EventKind::Owned {
                by,
                lock,
                token,
                mode,
                ..
            } => Some((lock, (by, token), mode)),
            _ => None,
        };
        self.overlaps(
            |index| owned(index).is_some(),
            |earlier, later| match (owned(earlier), owned(later)) {
                (Some((lock, grant, mode)), Some((other, next, next_mode))) => {
                    let reads_what_it_writes = grant.0 == next.0 && mode != next_mode;
                    lock == other
                        && grant != next
                        && !reads_what_it_writes
                        && self.exclude(earlier, later)
                }
                _ => false,
            },
            |index| self.ownership_ends(index),
        )
    }

    /// A place in the queue, if it is there at that event: not given up, and never yet served.
    fn waits(&self, queued: usize, index: usize) -> Option<(ContenderId, LockId, u64)> {
        let EventKind::Queued {
            by, lock, place, ..
        } = self.what(queued)
        else {
            return None;
        };
        let gone = self.gone(queued).is_some_and(|gone| gone < index);
        let served = (queued..index).any(|owned| self.served(owned) == Some(queued));
        (queued < index && !gone && !served).then_some((by, lock, place))
    }

    fn gone(&self, queued: usize) -> Option<usize> {
        let EventKind::Queued {
            by, lock, place, ..
        } = self.what(queued)
        else {
            return None;
        };
        let queued_as = (by, lock, place);
        self.first_after(queued, |what| {
            matches!(what, EventKind::Unqueued { by, lock, place, .. } if (by, lock, place) == queued_as)
        })
    }

    /// The place that a grant serves: the lowest of the contender's by that name, else of all its.
    fn served(&self, owned: usize) -> Option<usize> {
        let EventKind::Owned { by, lock, name, .. } = self.what(owned) else {
            return None;
        };
        let owner = (by, lock, name);
        let lowest = |named: bool| {
            let own = self.indices().filter_map(|queued| {
                let (by, lock, place) = self.waits(queued, owned)?;
                let same =
                    matches!(self.what(queued), EventKind::Queued { name, .. } if name == owner.2);
                ((by, lock) == (owner.0, owner.1) && (same || !named)).then_some((place, queued))
            });
            own.min().map(|(_, queued)| queued)
        };
        lowest(true).or_else(|| lowest(false))
    }

    pub fn fifo(&self) -> Answer {
        for owned in self.indices() {
            let Some(served) = self.served(owned) else {
                continue;
            };
            let Some((winner, of, granted)) = self.waits(served, owned) else {
                continue;
            };
            let passed = self.indices().any(|queued| {
                let now = |gone| self.at(gone) == self.at(owned);
                self.waits(queued, owned).is_some_and(|(by, lock, place)| {
                    by != winner
                        && self.exclude(queued, served)
                        && lock == of
                        && place < granted
                        && !self.gone(queued).is_some_and(now)
                })
            });
            if passed {
                return violated(self.at(owned));
            }
        }
        if !self.some_two_queue() {
            return Answer::Undecided;
        }
        for later in self.indices() {
            for earlier in 0..later {
                let locks = [earlier, later].map(|index| self.belief(index).map(|belief| belief.1));
                if let (Some(newer), Some(older)) = (self.grant(earlier), self.grant(later))
                    && locks[0] == locks[1]
                    && older < newer
                    && self.exclude(earlier, later)
                {
                    return violated(self.at(later));
                }
            }
        }
        Answer::Holds
    }

    /// Whether any two contenders ever had places in one queue at once, served or not.
    fn some_two_queue(&self) -> bool {
        let queued = |index| match self.what(index) {
            EventKind::Queued { by, lock, .. } => Some((by, lock)),
            _ => None,
        };
        self.indices().any(|later| {
            (0..later).any(|earlier| match (queued(earlier), queued(later)) {
                (Some((by, lock)), Some((other, same))) => {
                    by != other
                        && lock == same
                        && self.gone(earlier).is_none_or(|gone| gone > later)
                }
                _ => false,
            })
        })
    }

    /// For each effect of a contender on a lock: the latest belief when its write was sent.
    fn beliefs_of_effects(&self, who: ContenderId, of: LockId) -> Vec<(usize, Option<usize>)> {
        let mut sent = Vec::new();
        let mut effects = Vec::new();
        for index in self.indices() {
            match self.what(index) {
                EventKind::Writing { by, lock, token } if (by, lock) == (who, of) => {
                    sent.push((index, token));
                }
                EventKind::Effect {
                    by, lock, token, ..
                } if (by, lock) == (who, of) => {
                    let alike: Vec<_> = sent.iter().copied().filter(|&(_, t)| t == token).collect();
                    let may_be = if alike.is_empty() {
                        sent.clone()
                    } else {
                        alike
                    };
                    let oldest = may_be.first().map_or(index, |&(sent, _)| sent);
                    let newest = may_be.last().map_or(index, |&(sent, _)| sent);
                    sent.retain(|&(index, _)| index != oldest);
                    effects.push((index, oldest, newest));
                }
                _ => {}
            }
        }
        let all_arrived = sent.is_empty();
        let believed = |index| {
            self.last_before(
                index,
                |what| matches!(what, EventKind::Acquired { by, lock, .. } if (by, lock) == (who, of)),
            )
        };
        let effects = effects.into_iter().map(|(effect, oldest, newest)| {
            let sent = if all_arrived { oldest } else { newest };
            (effect, believed(sent))
        });
        effects.collect()
    }

    pub fn no_stale_effect(&self) -> Answer {
        let accepted: Vec<_> = self.accepted().collect();
        let age = |effect: usize, by: ContenderId, lock: LockId| {
            let effects = self.beliefs_of_effects(by, lock);
            let belief = effects.iter().find(|(index, _)| *index == effect)?.1?;
            Some(self.grant(belief).unwrap_or(belief))
        };
        for (place, &(later, by, lock)) in accepted.iter().enumerate() {
            for &(earlier, other, of) in &accepted[..place] {
                if let (Some(newer), Some(older)) = (age(earlier, other, of), age(later, by, lock))
                    && lock == of
                    && older < newer
                {
                    return violated(self.at(later));
                }
            }
        }
        if accepted.is_empty() {
            Answer::Undecided
        } else {
            Answer::Holds
        }
    }

    fn accepted(&self) -> impl Iterator<Item = (usize, ContenderId, LockId)> {
        self.indices().filter_map(|index| match self.what(index) {
            EventKind::Effect {
                by,
                lock,
                accepted: true,
                ..
            } => Some((index, by, lock)),
            _ => None,
        })
    }

    pub fn no_lost_update(&self, facts: &Facts) -> Answer {
        for (index, ..) in self.accepted() {
            let EventKind::Effect {
                before,
                after,
                based_on,
                ..
            } = self.what(index)
            else {
                continue;
            };
            let lost = |step| match based_on {
                Some(read) => read != before,
                None => after - before != step,
            };
            if facts.floor.is_some_and(|floor| after < floor) || facts.step.is_some_and(lost) {
                return violated(self.at(index));
            }
        }
        for index in self.indices() {
            if let (EventKind::Final { lock, value }, Some(step)) = (self.what(index), facts.step) {
                let writes = self.accepted().filter(|&(_, _, of)| of == lock).count() as i64;
                if value - facts.initial_value != writes * step {
                    return violated(self.at(index));
                }
            }
        }
        if self.accepted().count() == 0 {
            Answer::Undecided
        } else {
            Answer::Holds
        }
    }
}

fn violated(at: VirtualTime) -> Answer {
    Answer::Violated { at, overlap: None }
}
