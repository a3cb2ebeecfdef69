//! What a run gives as evidence: beliefs, ownerships, and writes, read off the history in one pass.
//!
//! Every check runs after every simulation, so none of them reads the history again on its own.
//! Events are named by their place in [`History::events`](crate::History::events).

mod cell;
mod collect;
mod contention;
mod conversions;
mod multi_calls;
mod orphans;
mod permits;
mod table;
mod writes;

use std::time::Duration;

pub(crate) use self::multi_calls::MultiCall;
pub(crate) use self::orphans::Orphan;
use crate::{
    ContenderId, Disowned, Ended, Event, EventKind, Knowledge, LockId, Mode, NameId, Run, Token,
    VirtualTime,
};

/// A stretch of time in which a contender believes that it holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belief {
    /// The contender that believes.
    pub by: ContenderId,
    /// The lock.
    pub lock: LockId,
    /// In which mode.
    pub mode: Mode,
    /// The fencing token that came with it.
    pub token: Option<Token>,
    /// The `AcquireStarted` that led to it, if the history has one.
    pub asked: Option<usize>,
    /// The `Acquired` that begins it, or the `Conversion`.
    pub acquired: usize,
    /// The `ReleaseStarted`, `Conversion`, `Lost`, or `Crashed` that ends it; None if the history ends first.
    pub left: Option<usize>,
    /// Since when its contender could have known that the lock was not its own any more, if it could.
    pub known: Option<Known>,
    /// What became of the release: `Released`, `ReleaseFailed`, or `ReleaseCancelled` or `Crashed` before its answer.
    pub settled: Option<usize>,
    /// The ownership that it rests on, by its place in [`Evidence::ownerships`]: the contender's
    /// latest one, unless that ended before the contender asked or has served another belief. Of several that one call
    /// has taken, the latest: [`Evidence::grants_of`].
    pub grant: Option<usize>,
    /// The next of the beliefs of the same contender in the same lock that were open together.
    also: Option<usize>,
}

/// Since when a contender could have known that it had lost the lock, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Since when.
    pub since: VirtualTime,
    /// How it could have known.
    pub how: Knowledge,
    /// The `CouldHaveKnown`.
    pub index: usize,
}

/// A stretch of time in which the service has a contender as the owner of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership {
    /// The owner.
    pub by: ContenderId,
    /// The lock.
    pub lock: LockId,
    /// In which mode.
    pub mode: Mode,
    /// The service's own count of its grants.
    pub token: Token,
    /// The node, key, or row that makes it the owner.
    pub name: NameId,
    /// The `Owned` that begins it.
    pub owned: usize,
    /// The `Disowned` that ends it; None if the history ends first.
    pub disowned: Option<usize>,
    /// How it ended, if it did.
    pub how: Option<Disowned>,
    /// The owner's latest belief when this began, by its place in [`Evidence::beliefs`].
    pub believed: Option<usize>,
    /// The first belief that rests on it, by its place in [`Evidence::beliefs`].
    serves: Option<usize>,
    /// The next of the ownerships of the same contender in the same lock that were open together.
    also: Option<usize>,
}

/// A write that has reached the protected resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Whose it is.
    pub by: ContenderId,
    /// The lock that protects the resource.
    pub lock: LockId,
    /// The `Effect`.
    pub event: usize,
    /// The resource took it.
    pub accepted: bool,
    /// The `Writing` that sent it, if the history has one.
    pub sent: Option<usize>,
    /// The belief in which it was sent, by its place in [`Evidence::beliefs`]: the writer's latest
    /// at that moment, whether or not it had ended.
    pub belief: Option<usize>,
    /// Another sending that it may be as well, and the belief of that.
    or: Option<(usize, Option<usize>)>,
}

/// A call of `acquire` that failed definitely: nothing of it can be at the service. Not one that failed because its
/// session is gone, or given up for gone by the client: what that held goes when the service ends it. Nor one that has
/// seen its place gone: a server may see that before the leader has applied it. Nor one of which a request was refused:
/// an earlier request of it may be on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The contender that called.
    pub by: ContenderId,
    /// The lock.
    pub lock: LockId,
    /// The call.
    pub asked: usize,
    /// The `AcquireFailed`.
    pub failed: usize,
    /// Whether an earlier call of the same contender had ended without saying what it left: a request of it may still
    /// be on its way.
    pub doubtful: bool,
}

/// A contender falls silent, is heard again, or comes to the end of its session or its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivenessEvent {
    /// Whose it is.
    pub by: ContenderId,
    /// The event.
    pub event: usize,
    /// What it is a sign of.
    pub of: Liveness,
}

/// What a sign of life says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each is the event of its name, and documented there"
)]
pub enum Liveness {
    Paused,
    Resumed,
    Disconnected,
    Reconnected,
    SessionExpired,
    SessionLost,
    Crashed,
}

/// A run, and what one pass over its history has found.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// The run.
    pub run: &'a Run,
    /// Beliefs, in the order in which they begin.
    pub beliefs: Vec<Belief>,
    /// Ownerships, in the order in which they begin.
    pub ownerships: Vec<Ownership>,
    /// Writes, in the order in which they arrived.
    pub arrivals: Vec<Arrival>,
    /// The `Queued`, `Unqueued`, and `Owned` events.
    pub queueing: Vec<usize>,
    /// The `Disowned` events by which one contender removed another's hold.
    pub removals: Vec<usize>,
    /// The `Answered` events.
    pub answers: Vec<usize>,
    /// The `Reentry` events.
    pub reentries: Vec<usize>,
    /// The `Conversion` events.
    pub conversions: Vec<usize>,
    /// Calls of `acquire` that failed definitely, and what is doubtful of their contenders.
    pub refused: Vec<Refused>,
    /// The `FaultFired` events.
    pub faults: Vec<usize>,
    /// Signs of life, in the order in which they came.
    pub signs: Vec<LivenessEvent>,
    /// The `StillWaiting` events.
    pub waiting: Vec<usize>,
    /// The `Leftover` events.
    pub leftovers: Vec<usize>,
    /// The `Final` events.
    pub finals: Vec<usize>,
    /// Calls of `acquire` that never returned: who called, for which lock, and the call itself.
    pub pending: Vec<(ContenderId, LockId, usize)>,
    /// Why the run ended, if the history says so.
    pub ended: Option<(usize, Ended)>,
    /// A contender wanted a lock while another believed in it or owned it.
    pub waited: bool,
}

impl<'a> Evidence<'a> {
    /// Reads a run.
    pub fn of(run: &'a Run) -> Self {
        collect::collect(run)
    }

    /// An event.
    pub fn event(&self, index: usize) -> &'a Event {
        &self.run.history.events[index]
    }

    /// When an event happened.
    pub fn at(&self, index: usize) -> VirtualTime {
        self.event(index).at
    }

    /// When the history ends.
    pub fn end(&self) -> VirtualTime {
        self.run
            .history
            .events
            .last()
            .map_or(VirtualTime::ZERO, |event| event.at)
    }

    /// When something ended that ends with this event: never, if there is none.
    pub fn at_or_never(&self, index: Option<usize>) -> VirtualTime {
        index.map_or(VirtualTime::NEVER, |index| self.at(index))
    }

    /// When something ended that ends with this event, and with the history if there is none.
    pub fn at_or_end(&self, index: Option<usize>) -> VirtualTime {
        index.map_or_else(|| self.end(), |index| self.at(index))
    }

    /// In which words the history is told.
    pub(crate) fn words(&self) -> crate::Vocabulary {
        self.run.history.vocabulary
    }

    /// How old the claim of a belief is: where the service granted it, or, if the service never
    /// did, where it began. An event's place, so that claims compare as they arose.
    pub fn age(&self, belief: &Belief) -> usize {
        belief
            .grant
            .map_or(belief.acquired, |grant| self.ownerships[grant].owned)
    }

    /// Since when the contender of a belief could know that the lock was not its own any more: it could have known, and
    /// the service had ended its ownership. `None`: it never could, or never lost it.
    pub fn could_know(&self, belief: &Belief) -> Option<VirtualTime> {
        let known = belief.known?;
        let lost = self.ownerships[belief.grant?].disowned?;
        Some(known.since.max(self.at(lost)))
    }

    /// From when on nothing excuses the belief: its contender could know, and has run for long enough to act on it.
    pub fn inexcusable_from(&self, belief: &Belief) -> Option<VirtualTime> {
        let since = self.could_know(belief)?;
        Some(self.has_run_for(belief.by, since, self.run.facts.reaction))
    }

    /// When a contender's process has run for so long since then. While it stands still, it does not run.
    fn has_run_for(&self, by: ContenderId, since: VirtualTime, long: Duration) -> VirtualTime {
        let (mut at, mut left) = (since, long);
        let mut paused = None;
        for sign in self.signs.iter().filter(|sign| sign.by == by) {
            let now = self.at(sign.event);
            match sign.of {
                Liveness::Paused => {
                    let ran = now.since(at);
                    if now > at && ran >= left {
                        return at + left;
                    }
                    left = left.saturating_sub(ran);
                    paused = Some(now);
                }
                Liveness::Resumed => {
                    paused = None;
                    at = at.max(now);
                }
                Liveness::Disconnected
                | Liveness::Reconnected
                | Liveness::SessionExpired
                | Liveness::SessionLost
                | Liveness::Crashed => {}
            }
        }
        match paused {
            Some(_) => VirtualTime::NEVER,
            None => at + left,
        }
    }

    /// Whether the contender believes in the lock when the history ends.
    pub fn believes_at_end(&self, by: ContenderId, lock: LockId) -> bool {
        let mut beliefs = self.beliefs.iter().rev();
        beliefs.any(|belief| belief.by == by && belief.lock == lock && belief.left.is_none())
    }

    /// Whether the history says anything about owners of this lock.
    pub fn has_owners_of(&self, lock: LockId) -> bool {
        self.ownerships
            .iter()
            .any(|ownership| ownership.lock == lock)
    }

    /// The latest sign of how a node came to be there: that it was queued, or else made an owner.
    pub fn where_made(
        &self,
        of: LockId,
        node: NameId,
        owner: Option<ContenderId>,
    ) -> Option<usize> {
        let is_it =
            |by, lock, name| lock == of && name == node && owner.is_none_or(|owner| owner == by);
        let events = &self.run.history.events;
        let queued = events.iter().rposition(|event| {
            matches!(event.what, EventKind::Queued { by, lock, name, .. } if is_it(by, lock, name))
        });
        queued.or_else(|| {
            events.iter().rposition(|event| {
                matches!(event.what, EventKind::Owned { by, lock, name, .. } if is_it(by, lock, name))
            })
        })
    }

    /// The ownership that rests on a node, if its owner has no later place in that lock and the service has not ended
    /// it.
    pub(crate) fn owned_by_place(
        &self,
        by: ContenderId,
        lock: LockId,
        node: Option<NameId>,
    ) -> Option<&Ownership> {
        let node = node?;
        let events = self.run.history.events.iter().rev();
        let mut places = events.filter_map(|event| match event.what {
            EventKind::Queued {
                by: who,
                lock: of,
                name,
                ..
            } => ((who, of) == (by, lock)).then_some(name),
            _ => None,
        });
        if places.next() != Some(node) {
            return None;
        }
        let mut ownerships = self.ownerships.iter().rev();
        ownerships
            .find(|own| (own.by, own.lock, own.name) == (by, lock, node) && own.disowned.is_none())
    }

    /// How long stretches all lie over each other, given when the latest begins.
    pub(crate) fn overlap(
        &self,
        latest_from: usize,
        ends: impl IntoIterator<Item = Option<usize>>,
    ) -> (VirtualTime, Duration) {
        let ends = ends.into_iter().map(|end| self.at_or_end(end));
        let until = ends.min().unwrap_or_else(|| self.end());
        let from = self.at(latest_from);
        (from, until.since(from))
    }
}
