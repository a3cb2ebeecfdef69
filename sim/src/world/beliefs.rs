//! Who believes that it holds the lock, and since when it could have known that it does not.
//!
//! A belief ends when its contender ends it. If the contender could have known earlier, the history says so when the
//! belief ends: what a process could know follows from what was delivered to it, and from its own clock while it ran.

use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Held;
use picklock_checker::{ContenderId, EventKind, Knowledge, LockId, VirtualTime};

use super::SimulatedService;
use super::World;
use crate::network::ServerId;
use crate::plan::Service;
use crate::process::ProcessState;

/// Who believes, and who is about to learn better.
#[derive(Default)]
pub(crate) struct Beliefs {
    /// Contenders that believe that they hold the lock.
    held: Vec<Belief>,
}

/// A contender's belief that it holds the lock.
struct Belief {
    by: ContenderId,
    lock: LockId,
    /// The path of its node, or the name of its key.
    place: Rc<str>,
    /// Until when the hold is valid, by the contender's own clock.
    valid_until: Option<VirtualTime>,
    /// Since when its client has had no connection, by its own clock.
    disconnected: Option<VirtualTime>,
    /// Since when it believes.
    since: VirtualTime,
    /// Since when its process has run without a pause.
    runs_since: VirtualTime,
    /// Servers that have refused to extend or find its key, because the key is not its own; a bit for each.
    refused_by: u32,
    /// Since when it could have known of its loss, and how.
    known: Option<(VirtualTime, Knowledge)>,
    /// It could know when it began.
    over_at_once: bool,
}

/// How long a contender that could know of its loss may take to act on it: a tenth of its session or lease, which is
/// often enough for one who looks by a timer of its own, and the time for a look.
pub(crate) fn reaction(service: &Service, look: Duration) -> Duration {
    service.lease() / 10 + look * 4
}

impl<S: SimulatedService> World<S> {
    /// How long a contender that could know of its loss may take to act on it.
    pub fn reaction(&self) -> Duration {
        let look = self.plan.latency_at_most() + self.plan.processing_at_most();
        reaction(&self.plan.service, look)
    }

    /// `acquire` returns the lock to a contender.
    pub fn belief_begins(&mut self, by: ContenderId, held: &Held) {
        let lock = self.contenders[by.0 as usize].lock;
        let valid_until = held.valid_until.map(|it| VirtualTime::ZERO + it);
        let over_at_once =
            valid_until.is_some_and(|it| it <= self.local_now(self.tasks.process_of(by)));
        self.beliefs.held.push(Belief {
            by,
            lock,
            place: Rc::clone(&held.path_or_key),
            valid_until,
            disconnected: None,
            since: self.now,
            runs_since: self.now,
            refused_by: 0,
            known: over_at_once.then_some((self.now, Knowledge::ValidityOver)),
            over_at_once,
        });
        S::belief_began(self, by);
    }

    /// A contender is about to end its belief, or dies.
    pub fn belief_ends(&mut self, by: ContenderId) {
        let Some(found) = self.belief_of(by) else {
            return;
        };
        self.note_expiry_by_own_clock(by);
        let belief = self.beliefs.held.swap_remove(found);
        if let Some((since, how)) = belief.known
            && (since < self.now || belief.over_at_once)
        {
            self.record(EventKind::CouldHaveKnown {
                by,
                lock: belief.lock,
                since,
                how,
            });
        }
    }

    /// The run ends, and with it all beliefs that are left.
    pub(crate) fn beliefs_end(&mut self) {
        let mut left: Vec<ContenderId> = self.beliefs.held.iter().map(|it| it.by).collect();
        left.sort_unstable();
        for by in left {
            self.belief_ends(by);
        }
    }

    #[inline]
    fn belief_of(&self, by: ContenderId) -> Option<usize> {
        self.beliefs.held.iter().position(|it| it.by == by)
    }

    /// Whether a contender believes in a lock that is not its own any more.
    #[inline]
    pub(crate) fn believes_without_owning(&self, by: ContenderId) -> bool {
        self.believed_lock(by)
            .is_some_and(|lock| !self.ownerships[lock.0 as usize].is_owned_by(by))
    }

    /// The lock that a contender believes that it holds.
    #[inline]
    pub(crate) fn believed_lock(&self, by: ContenderId) -> Option<LockId> {
        let found = self.belief_of(by)?;
        Some(self.beliefs.held[found].lock)
    }

    /// What a contender believes that it holds: the path of a node, or the name of a key.
    pub(crate) fn believed_path_or_key(&self, by: ContenderId) -> Option<&Rc<str>> {
        let found = self.belief_of(by)?;
        Some(&self.beliefs.held[found].place)
    }

    /// Since when a contender believes that it holds the lock.
    pub(crate) fn believes_since(&self, by: ContenderId) -> Option<VirtualTime> {
        let found = self.belief_of(by)?;
        Some(self.beliefs.held[found].since)
    }

    /// The client of a contender has a connection, or none.
    pub(crate) fn is_connected(&mut self, by: ContenderId, connected: bool) {
        let now = self.local_now(self.tasks.process_of(by));
        if let Some(found) = self.belief_of(by) {
            let disconnected = &mut self.beliefs.held[found].disconnected;
            match connected {
                true => *disconnected = None,
                false => _ = disconnected.get_or_insert(now),
            }
        }
    }

    /// Something tells a contender of its loss.
    pub(crate) fn could_know_from_now(&mut self, by: ContenderId, how: Knowledge) {
        if let Some(found) = self.belief_of(by) {
            self.beliefs.held[found]
                .known
                .get_or_insert((self.now, how));
        }
    }

    /// A contender goes on after a pause of its process.
    pub(crate) fn runs_again(&mut self, by: ContenderId) {
        if let Some(found) = self.belief_of(by) {
            self.beliefs.held[found].runs_since = self.now;
        }
    }

    /// A contender may look at its clock, if its process runs: what is over by it could be known since then, but not
    /// before the end of the last pause.
    pub(crate) fn note_expiry_by_own_clock(&mut self, by: ContenderId) {
        let Some(found) = self.belief_of(by) else {
            return;
        };
        let process = self.tasks.process_of(by).0 as usize;
        if self.processes[process].state != ProcessState::Running {
            return;
        }
        let timeout = S::session_timeout(self, by);
        let clock = &self.processes[process];
        let belief = &mut self.beliefs.held[found];
        let session = belief.disconnected.zip(timeout);
        let times_out = session.map(|(since, timeout)| since + timeout);
        for (over, how) in [
            (belief.valid_until, Knowledge::ValidityOver),
            (times_out, Knowledge::SessionTimedOut),
        ] {
            let Some(over) = over.map(|over| clock.world_time(over).max(belief.runs_since)) else {
                continue;
            };
            if over <= self.now && belief.known.is_none_or(|(since, _)| over < since) {
                belief.known = Some((over, how));
            }
        }
    }

    /// A server has answered a contender that its key is not its own. Of several servers, so many must have
    /// that no majority is left.
    pub(crate) fn refused(&mut self, by: ContenderId, server: ServerId, needed: u32) {
        let Some(found) = self.belief_of(by) else {
            return;
        };
        let belief = &mut self.beliefs.held[found];
        belief.refused_by |= 1_u32.checked_shl(server.0.into()).unwrap_or(0);
        if belief.refused_by.count_ones() >= needed {
            self.could_know_from_now(by, Knowledge::Refused);
        }
    }
}
