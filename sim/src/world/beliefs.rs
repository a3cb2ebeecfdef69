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

/// What contenders believe.
#[derive(Default)]
pub(crate) struct Beliefs {
    /// Contenders that believe that they hold a lock.
    held: Vec<Belief>,
}

/// A contender's belief that it holds a lock.
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
    refused_by: News<u32>,
    /// Since when it could have known of its loss, and how.
    known: News<Option<(VirtualTime, Knowledge)>>,
    /// It could know when it began.
    over_at_once: bool,
}

/// What has come to a process: all of it, and what its client library has passed on. An answer that comes when the
/// library has given up its command is thrown away, and so is an event that no watcher waits for.
#[derive(Clone, Copy, Default)]
struct News<T> {
    delivered: T,
    passed_on: T,
}

impl News<Option<(VirtualTime, Knowledge)>> {
    /// A sign of the loss arrives; one that is thrown away tells its contender nothing.
    fn comes(&mut self, news: (VirtualTime, Knowledge), is_passed_on: bool) {
        self.delivered.get_or_insert(news);
        if is_passed_on {
            self.passed_on.get_or_insert(news);
        }
    }
}

/// How long a contender that could know of its loss may take to act on it: a tenth of its session or lease, which is
/// often enough for a contender that looks by a timer of its own, and the time for a look.
pub(crate) fn reaction(service: &Service, look: Duration) -> Duration {
    service.lease() / 10 + look * 4
}

impl<S: SimulatedService> World<S> {
    /// How long a contender that could know of its loss may take to act on it.
    pub fn reaction(&self) -> Duration {
        let look = self.plan.latency_at_most() + self.plan.processing_at_most();
        reaction(&self.plan.service, look)
    }

    /// `acquire` returns a lock to a contender.
    pub fn belief_begins(&mut self, by: ContenderId, lock: LockId, held: &Held) {
        let valid_until = held.valid_until.map(|length| VirtualTime::ZERO + length);
        let over_at_once =
            valid_until.is_some_and(|end| end <= self.local_now(self.tasks.process_of(by)));
        self.beliefs.held.push(Belief {
            by,
            lock,
            place: Rc::clone(&held.path_or_key),
            valid_until,
            disconnected: None,
            since: self.now,
            runs_since: self.now,
            refused_by: News::default(),
            known: News::default(),
            over_at_once,
        });
        if over_at_once {
            self.could_know_of(by, lock, Knowledge::ValidityOver, true);
        }
        S::belief_began(self, by, lock);
    }

    /// A contender is about to end its belief in a lock, or dies.
    pub fn belief_ends(&mut self, by: ContenderId, lock: LockId) {
        let Some(found) = self.belief_of(by, lock) else {
            return;
        };
        self.note_expiry_by_own_clock(by);
        let belief = self.beliefs.held.swap_remove(found);
        let (now, lock) = (self.now, belief.lock);
        let event = |known: Option<(VirtualTime, Knowledge)>| {
            let (since, how) = known.filter(|(since, _)| *since < now || belief.over_at_once)?;
            Some(EventKind::CouldHaveKnown {
                by,
                lock,
                since,
                how,
            })
        };
        let (delivered, known) = (event(belief.known.delivered), event(belief.known.passed_on));
        if let Some(delivered) = delivered {
            self.recorder.record_instead(now, delivered, known);
        }
    }

    /// A contender dies, and with it all that it believes.
    pub(crate) fn beliefs_end_of(&mut self, by: ContenderId) {
        while let Some(lock) = self.first_believed(by) {
            self.belief_ends(by, lock);
        }
    }

    /// The run ends, and with it all beliefs that are left.
    pub(crate) fn beliefs_end(&mut self) {
        let held = self.beliefs.held.iter();
        let mut left: Vec<_> = held.map(|belief| (belief.by, belief.lock)).collect();
        left.sort_unstable();
        for (by, lock) in left {
            self.belief_ends(by, lock);
        }
    }

    #[inline]
    fn belief_of(&self, by: ContenderId, lock: LockId) -> Option<usize> {
        let mut held = self.beliefs.held.iter();
        held.position(|belief| belief.by == by && belief.lock == lock)
    }

    /// What a contender believes, of each lock that it takes for its own.
    fn beliefs_of(&mut self, by: ContenderId) -> impl Iterator<Item = &mut Belief> {
        let held = self.beliefs.held.iter_mut();
        held.filter(move |belief| belief.by == by)
    }

    /// The beliefs of a contender in locks that are not its own any more.
    #[inline]
    fn beliefs_in_vain(&self, by: ContenderId) -> impl Iterator<Item = &Belief> {
        let held = self.beliefs.held.iter();
        held.filter(move |belief| {
            belief.by == by && !self.ownerships[belief.lock.0 as usize].is_owned_by(by)
        })
    }

    /// Whether a contender believes in a lock that is not its own any more.
    #[inline]
    pub(crate) fn believes_without_owning(&self, by: ContenderId) -> bool {
        self.beliefs_in_vain(by).next().is_some()
    }

    /// Whether a contender believes in this lock, which is not its own any more.
    pub(crate) fn believes_in_vain(&self, by: ContenderId, lock: LockId) -> bool {
        self.beliefs_in_vain(by).any(|belief| belief.lock == lock)
    }

    /// The lock in which a contender believes in vain on account of this node.
    pub(crate) fn lock_lost_with(&self, by: ContenderId, node: &str) -> Option<LockId> {
        let mut beliefs = self.beliefs_in_vain(by);
        Some(beliefs.find(|belief| *belief.place == *node)?.lock)
    }

    /// The locks in which a contender believes in vain, and since when it believes.
    pub(crate) fn lost_locks(
        &self,
        by: ContenderId,
    ) -> impl Iterator<Item = (LockId, VirtualTime)> {
        let lost = self.beliefs_in_vain(by);
        lost.map(|belief| (belief.lock, belief.since))
    }

    /// Whether a contender believes that it holds any lock.
    pub(crate) fn believes(&self, by: ContenderId) -> bool {
        self.first_believed(by).is_some()
    }

    fn first_believed(&self, by: ContenderId) -> Option<LockId> {
        let mut held = self.beliefs.held.iter();
        Some(held.find(|belief| belief.by == by)?.lock)
    }

    /// The client of a contender has a connection, or none.
    pub(crate) fn is_connected(&mut self, by: ContenderId, connected: bool) {
        let now = self.local_now(self.tasks.process_of(by));
        for belief in self.beliefs_of(by) {
            match connected {
                true => belief.disconnected = None,
                false => _ = belief.disconnected.get_or_insert(now),
            }
        }
    }

    /// Something tells a contender that it has lost all that it holds.
    pub(crate) fn could_know_from_now(&mut self, by: ContenderId, how: Knowledge) {
        let now = self.now;
        for belief in self.beliefs_of(by) {
            belief.known.comes((now, how), true);
        }
    }

    /// Something comes to a contender that says that it has lost this lock, and its library passes it on, or does not.
    pub(crate) fn could_know_of(
        &mut self,
        by: ContenderId,
        lock: LockId,
        how: Knowledge,
        is_passed_on: bool,
    ) {
        let now = self.now;
        let mut beliefs = self.beliefs_of(by);
        if let Some(belief) = beliefs.find(|belief| belief.lock == lock) {
            belief.known.comes((now, how), is_passed_on);
        }
    }

    /// Whether a contender believes that it holds this lock.
    pub(crate) fn believes_in(&self, by: ContenderId, lock: LockId) -> bool {
        self.belief_of(by, lock).is_some()
    }

    /// A contender goes on after a pause of its process.
    pub(crate) fn runs_again(&mut self, by: ContenderId) {
        let now = self.now;
        for belief in self.beliefs_of(by) {
            belief.runs_since = now;
        }
    }

    /// A contender may look at its clock, if its process runs: what is over by it could be known since then, but not
    /// before the end of the last pause.
    pub(crate) fn note_expiry_by_own_clock(&mut self, by: ContenderId) {
        let process = self.tasks.process_of(by).0 as usize;
        if !self.believes(by) || self.processes[process].state != ProcessState::Running {
            return;
        }
        let timeout = S::session_timeout(self, by);
        let (clock, now) = (&self.processes[process], self.now);
        let held = self.beliefs.held.iter_mut();
        for belief in held.filter(|belief| belief.by == by) {
            let session = belief.disconnected.zip(timeout);
            let times_out = session.map(|(since, timeout)| since + timeout);
            for (over, how) in [
                (belief.valid_until, Knowledge::ValidityOver),
                (times_out, Knowledge::SessionTimedOut),
            ] {
                let Some(over) = over.map(|over| clock.world_time(over).max(belief.runs_since))
                else {
                    continue;
                };
                let news = &mut belief.known;
                for known in [&mut news.delivered, &mut news.passed_on] {
                    if over <= now && known.is_none_or(|(since, _)| over < since) {
                        *known = Some((over, how));
                    }
                }
            }
        }
    }

    /// A server has answered a contender that the key of a lock is not its own. Of several servers, so many must have
    /// that no majority is left.
    pub(crate) fn refused(
        &mut self,
        by: ContenderId,
        lock: LockId,
        (server, is_passed_on): (ServerId, bool),
        needed: u32,
    ) {
        let Some(found) = self.belief_of(by, lock) else {
            return;
        };
        let refused_by = &mut self.beliefs.held[found].refused_by;
        let bit = 1_u32.checked_shl(server.0.into()).unwrap_or(0);
        refused_by.delivered |= bit;
        if is_passed_on {
            refused_by.passed_on |= bit;
        }
        let enough = |servers: u32| servers.count_ones() >= needed;
        let (delivered, passed_on) = (refused_by.delivered, refused_by.passed_on);
        if enough(delivered) {
            self.could_know_of(by, lock, Knowledge::Refused, enough(passed_on));
        }
    }
}
