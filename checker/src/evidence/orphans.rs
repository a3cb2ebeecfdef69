//! Nodes and keys that a call has left at the service although it said that it left none.

use std::ops::Range;

use super::{Belief, Evidence, Liveness, Ownership, Refused};
use crate::{Disowned, EventKind, NameId, ServiceAnswer};

/// Something at the service of a call of `acquire` that failed definitely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orphan {
    /// The call.
    pub call: Refused,
    /// The node or key.
    pub name: NameId,
    /// The `Queued` or `Owned` by which it came.
    pub came: usize,
    /// The `Unqueued` or `Disowned` by which it went.
    pub gone: Option<usize>,
}

impl Evidence<'_> {
    /// The `Released` after which the contender still was the owner, and cannot have been told otherwise; and by what.
    pub(crate) fn released_without_effect(&self, belief: &Belief) -> Option<(usize, &Ownership)> {
        let settled = belief.settled?;
        let released = matches!(self.event(settled).what, EventKind::Released { .. });
        if !released {
            return None;
        }
        let in_vain = |ownership: &&Ownership| {
            self.at(settled) < self.at_or_never(ownership.disowned)
                && !self.may_have_been_denied(belief, ownership.owned)
        };
        let kept = self.grants_of(belief).find(in_vain)?;
        Some((settled, kept))
    }

    /// The `Released` by which nothing of its own was released: the service had ended the ownership before the release
    /// began, by its lease or for another contender, and had made it the owner by no other until then. Of what goes
    /// with a session, the session tells.
    pub(crate) fn released_nothing(&self, belief: &Belief) -> Option<usize> {
        let ownership = &self.ownerships[belief.grant?];
        let by_service = match ownership.how? {
            Disowned::Expired => true,
            Disowned::RemovedBy(other) | Disowned::OverwrittenBy(other) => other != belief.by,
            Disowned::Released
            | Disowned::Reaped
            | Disowned::RemovedFromOutside
            | Disowned::LostByService => false,
        };
        let (settled, left) = (belief.settled?, belief.left?);
        let begins = matches!(self.event(left).what, EventKind::ReleaseStarted { .. });
        let released = matches!(self.event(settled).what, EventKind::Released { .. });
        let owns_again = |other: &Ownership| {
            (other.by, other.lock) == (belief.by, belief.lock)
                && self.at(other.owned) <= self.at(settled)
                && self.at(left) <= self.at_or_never(other.disowned)
        };
        let facts = &self.run.facts;
        let nothing = by_service
            && !facts.held_by_session
            && begins
            && released
            && self.at(ownership.disowned?) < self.at(left)
            && !facts.servers_decide_alone
            && !self.ownerships.iter().any(owns_again)
            && self
                .answers_to(belief, left..settled)
                .all(|(_, answer)| answer != ServiceAnswer::Missing);
        nothing.then_some(settled)
    }

    /// Whether the service can have told it between the grant and the end of its release that it does not own the lock,
    /// or that it has given back one entry.
    fn may_have_been_denied(&self, belief: &Belief, owned: usize) -> bool {
        let settled = belief.settled.unwrap_or(usize::MAX);
        let mut entries = 1;
        let mut answers = self.answers_to(belief, owned..settled);
        answers.any(|(at, answer)| match answer {
            ServiceAnswer::GrantedApart | ServiceAnswer::Missing => false,
            ServiceAnswer::DeniedAtOne => true,
            ServiceAnswer::Counts(now) => {
                now < std::mem::replace(&mut entries, now) && at > belief.acquired
            }
        })
    }

    /// The answers of the service to the contender of a belief between two events.
    pub(crate) fn answers_to(
        &self,
        belief: &Belief,
        between: Range<usize>,
    ) -> impl Iterator<Item = (usize, ServiceAnswer)> {
        let of = (belief.by, belief.lock);
        let events = self.answers.iter();
        let events = events.filter(move |event| between.contains(event));
        events.filter_map(move |&event| match self.event(event).what {
            EventKind::Answered { by, lock, answer } if (by, lock) == of => Some((event, answer)),
            _ => None,
        })
    }

    /// The first thing that is at the service of a call that failed definitely, when it had failed or later.
    pub(crate) fn orphan_of_failed_acquire(&self) -> Option<Orphan> {
        let certain = self.refused.iter().filter(|call| !call.doubtful);
        certain.copied().find_map(|call| self.orphan_of(call))
    }

    /// The first thing that is at the service of this one.
    pub(crate) fn orphan_of(&self, call: Refused) -> Option<Orphan> {
        let events = &self.run.history.events;
        let over = events[call.failed..].iter().position(|event| {
            matches!(event.what,
                EventKind::AcquireStarted { by, lock, .. } if (by, lock) == (call.by, call.lock))
                || event.what == EventKind::Crashed { by: call.by }
        });
        let over = over.map_or(events.len(), |after| call.failed + after);
        let first = self.queueing.partition_point(|&event| event < call.asked);
        let made = self.queueing[first..].iter();
        let made = made.copied().take_while(|&event| event < over);
        let mut made = made.filter(|&event| {
            !self.came_by_the_service(event) && !self.came_by_a_new_leader(call, event)
        });
        made.find_map(|came| {
            let (name, gone) = match events[came].what {
                EventKind::Queued {
                    by,
                    lock,
                    place,
                    name,
                    ..
                } if (by, lock) == (call.by, call.lock) => {
                    (name, self.gone(came, Relinquished::Place(place)))
                }
                EventKind::Owned {
                    by,
                    lock,
                    token,
                    name,
                    ..
                } if (by, lock) == (call.by, call.lock) && !self.is_queued(call, name) => {
                    (name, self.gone(came, Relinquished::Grant(token)))
                }
                _ => return None,
            };
            let told = self.at(came).max(self.at(call.failed));
            let left = Orphan {
                call,
                name,
                came,
                gone,
            };
            (self.at_or_never(gone) > told).then_some(left)
        })
    }

    /// Whether it came at the moment at which a server had changed or a fault had struck: a disk or a clock has brought
    /// back what an earlier call had left.
    fn came_by_the_service(&self, came: usize) -> bool {
        let events = &self.run.history.events;
        let mut before = events[..came].iter().rev();
        let mut at_once = before
            .by_ref()
            .take_while(|event| event.at == events[came].at);
        at_once.any(|event| {
            matches!(
                event.what,
                EventKind::ServerChanged { .. } | EventKind::FaultFired { .. }
            )
        })
    }

    /// Whether it may be of a session that had ended before this call, and whose end a new leader has truncated from
    /// the log: the node that an earlier call had made in it comes then, and goes when the new leader ends the session
    /// again.
    fn came_by_a_new_leader(&self, call: Refused, came: usize) -> bool {
        let mut before = self.signs.iter().rev();
        let ended = before.find(|sign| {
            let ends = matches!(sign.of, Liveness::SessionExpired | Liveness::SessionLost);
            ends && sign.by == call.by && sign.event < call.asked
        });
        let leaders = &self.run.lease_resets;
        ended.is_some_and(|ended| {
            let since = self.at(ended.event)..=self.at(came);
            leaders.iter().any(|at| since.contains(at))
        })
    }

    /// Whether it is the place of an earlier call, which this one has only come to own the lock by.
    fn is_queued(&self, call: Refused, node: NameId) -> bool {
        self.queueing.iter().any(|&event| {
            matches!(self.event(event).what,
                EventKind::Queued { by, lock, name, .. }
                    if (by, lock, name) == (call.by, call.lock, node))
        })
    }

    fn gone(&self, came: usize, what: Relinquished) -> Option<usize> {
        let by_and_lock = |what: &EventKind| match *what {
            EventKind::Queued { by, lock, .. } | EventKind::Owned { by, lock, .. } => {
                Some((by, lock))
            }
            _ => None,
        };
        let of = by_and_lock(&self.event(came).what)?;
        let mut later = self.run.history.events[came..].iter();
        let offset = later.position(|event| match (event.what, what) {
            (
                EventKind::Unqueued {
                    by, lock, place, ..
                },
                Relinquished::Place(wanted),
            ) => (by, lock) == of && place == wanted,
            (
                EventKind::Disowned {
                    by, lock, token, ..
                },
                Relinquished::Grant(wanted),
            ) => (by, lock) == of && token == wanted,
            _ => false,
        });
        offset.map(|offset| came + offset)
    }
}

/// What goes: a place in the queue, or a grant.
#[derive(Clone, Copy)]
enum Relinquished {
    Place(u64),
    Grant(crate::Token),
}
