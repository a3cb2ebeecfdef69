//! What ought to happen sometimes: moments that a search must come through before its silence means anything.
//!
//! A hundred green runs in which no session ever ended say nothing about sessions that end. Each [`Sometimes`] is such
//! a moment; [`Reached::of`] finds those of one run in one pass over its history. Scenarios name those that they are
//! about, and a run of the library must come through all of them. The idea is that of Antithesis' "sometimes
//! assertions" and of FoundationDB's coverage probes.

use crate::{ContenderId, Disowned, EventKind, Evidence, LockId};

/// A moment that ought to be reached sometimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sometimes {
    /// Its name, as scenarios and reports write it.
    pub name: &'static str,
    /// What happens then, one sentence.
    pub meaning: &'static str,
    /// It happens in a queue, or to a session: a service that has neither never comes to it.
    pub in_a_queue: bool,
    /// It happens to a session that stands on a connection, and outlives it.
    pub on_a_connection: bool,
}

/// Every moment, in the order in which reports show them.
pub const SOMETIMES: [Sometimes; 17] = [
    in_a_queue(
        "two-wait",
        "Two contenders wait in the queue while a third owns the lock.",
    ),
    in_a_queue(
        "expired-while-queued",
        "The session of a contender that waits in the queue ends.",
    ),
    in_a_queue(
        "expired-while-holding",
        "The session of a contender that believes in the lock ends.",
    ),
    named(
        "handed-over-by-expiry",
        "The end of a session gives the lock to the next contender.",
    ),
    on_a_connection(
        "reconnected-while-queued",
        "A contender that waits in the queue comes back in the same session.",
    ),
    on_a_connection(
        "reconnected-while-holding",
        "A contender that believes in the lock comes back in the same session.",
    ),
    on_a_connection(
        "adopted",
        "A place that was taken before the connection broke comes to hold the lock.",
    ),
    in_a_queue(
        "failed-while-queued",
        "An acquire fails although its place is in the queue.",
    ),
    in_a_queue(
        "cancelled-while-queued",
        "A pending acquire is cancelled while its place is in the queue.",
    ),
    in_a_queue("crashed-while-queued", "A contender in the queue dies."),
    named(
        "crashed-while-holding",
        "A contender that believes in the lock dies.",
    ),
    named(
        "paused-while-holding",
        "A contender that believes in the lock stands still.",
    ),
    named(
        "told-of-the-loss",
        "A holder learns that it may not hold the lock any more, and stops.",
    ),
    named("release-failed", "A release fails."),
    named(
        "taken-away",
        "Another client removes what makes a contender the owner.",
    ),
    named(
        "written-too-late",
        "A write arrives when its writer owns the lock no longer.",
    ),
    named("fenced-out", "The resource refuses a write."),
];

const fn named(name: &'static str, meaning: &'static str) -> Sometimes {
    Sometimes {
        name,
        meaning,
        in_a_queue: false,
        on_a_connection: false,
    }
}

const fn in_a_queue(name: &'static str, meaning: &'static str) -> Sometimes {
    Sometimes {
        in_a_queue: true,
        ..named(name, meaning)
    }
}

const fn on_a_connection(name: &'static str, meaning: &'static str) -> Sometimes {
    Sometimes {
        on_a_connection: true,
        ..in_a_queue(name, meaning)
    }
}

/// The moment of that name.
pub fn find(name: &str) -> Option<&'static Sometimes> {
    SOMETIMES.iter().find(|sometimes| sometimes.name == name)
}

/// Which moments a run has come through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached(u32);

impl Reached {
    /// The moments of a run.
    pub fn of(evidence: &Evidence<'_>) -> Self {
        let mut watches = Watches::default();
        for event in &evidence.run.history.events {
            watches.see(event.what);
        }
        watches.reached()
    }

    /// Those that some events of a history come through from one of them on: what was before it is only known.
    pub fn from(events: impl IntoIterator<Item = (usize, EventKind)>, first: usize) -> Self {
        let mut watches = Watches::default();
        for (index, what) in events {
            watches.see(what);
            if index < first {
                watches.forget();
            }
        }
        watches.reached()
    }

    /// Their names, in the order of [`SOMETIMES`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = SOMETIMES.iter().enumerate();
        let reached = all.filter(move |(index, _)| self.0 & (1 << index) != 0);
        reached.map(|(_, sometimes)| sometimes.name)
    }

    fn add(&mut self, name: &str) {
        if let Some(index) = SOMETIMES.iter().position(|moment| moment.name == name) {
            self.0 |= 1 << index;
        }
    }
}

/// What a contender is about.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    acquiring: bool,
    believes: bool,
    owns: bool,
    /// Places in the queue that it has; more than one if something went wrong.
    places: u32,
    /// It has come back to its session since its place was made.
    came_back: bool,
}

impl State {
    fn is_queued(&self) -> bool {
        self.acquiring && self.places > 0
    }

    fn leave_queue(&mut self) {
        self.places = self.places.saturating_sub(1);
    }
}

/// A watch for each lock: what happens to one is no moment of another.
#[derive(Default)]
struct Watches(Vec<Tracker>);

impl Watches {
    fn see(&mut self, what: EventKind) {
        let Some(LockId(lock)) = what.lock() else {
            self.0.iter_mut().for_each(|watch| watch.see(what));
            return;
        };
        let lock = lock as usize;
        if lock >= self.0.len() {
            self.0.resize_with(lock + 1, Tracker::default);
        }
        self.0[lock].see(what);
    }

    fn reached(&self) -> Reached {
        let reached = self.0.iter().map(|watch| watch.reached.0);
        Reached(reached.fold(0, |all, of_one| all | of_one))
    }

    fn forget(&mut self) {
        for watch in &mut self.0 {
            watch.reached = Reached::default();
        }
    }
}

#[derive(Default)]
struct Tracker {
    contenders: Vec<State>,
    /// How many have a place and wait, and how many own the lock.
    waiting: u32,
    owners: u32,
    /// The last owner's session has ended, and the lock has no owner since.
    free_by_expiry: bool,
    reached: Reached,
}

impl Tracker {
    fn acquired(&mut self, by: ContenderId) {
        self.reach_if(by, |of| of.places > 0 && of.came_back, "adopted");
        self.change(by, |of| (of.acquiring, of.believes) = (false, true));
    }

    fn see(&mut self, what: EventKind) {
        match what {
            EventKind::AcquireStarted { by, .. } => self.change(by, |state| state.acquiring = true),
            EventKind::Acquired { by, .. } => self.acquired(by),
            EventKind::AcquireFailed { by, .. } => self.stops_waiting(by, "failed-while-queued"),
            EventKind::Cancelled { by, .. } => self.stops_waiting(by, "cancelled-while-queued"),
            EventKind::ReleaseStarted { by, .. } => self.change(by, |state| state.believes = false),
            EventKind::ReleaseFailed { .. } => self.reached.add("release-failed"),
            EventKind::Lost { by, .. } => {
                self.reached.add("told-of-the-loss");
                self.change(by, |state| state.believes = false);
            }
            EventKind::Paused { by } => {
                self.reach_if(by, |state| state.believes, "paused-while-holding")
            }
            EventKind::Crashed { by } => {
                self.reach_if(by, |state| state.believes, "crashed-while-holding");
                self.stops_waiting(by, "crashed-while-queued");
                self.change(by, |state| state.believes = false);
            }
            EventKind::Reconnected { by } => {
                self.reach_if(by, State::is_queued, "reconnected-while-queued");
                self.reach_if(by, |state| state.believes, "reconnected-while-holding");
                self.change(by, |state| state.came_back = true);
            }
            EventKind::SessionExpired { by } => {
                self.reach_if(by, State::is_queued, "expired-while-queued");
                self.reach_if(by, |state| state.believes, "expired-while-holding");
            }
            EventKind::Queued { by, .. } => self.change(by, |state| {
                state.places += 1;
                state.came_back = false;
            }),
            EventKind::Unqueued { by, .. } => self.change(by, State::leave_queue),
            EventKind::Owned { by, .. } => self.owned(by),
            EventKind::Disowned { by, how, .. } => self.disowned(by, how),
            EventKind::Effect { by, accepted, .. } => {
                self.reach_if(by, |state| !state.owns, "written-too-late");
                if !accepted {
                    self.reached.add("fenced-out");
                }
            }
            EventKind::Released { .. }
            | EventKind::Reentry { .. }
            | EventKind::Conversion { .. }
            | EventKind::Revoked { .. }
            | EventKind::ReleaseCancelled { .. }
            | EventKind::Finished { .. }
            | EventKind::Resumed { .. }
            | EventKind::Restarted { .. }
            | EventKind::Disconnected { .. }
            | EventKind::ConnectedReadOnly { .. }
            | EventKind::SessionLost { .. }
            | EventKind::Answered { .. }
            | EventKind::Resent { .. }
            | EventKind::ServerChanged { .. }
            | EventKind::CouldHaveKnown { .. }
            | EventKind::Writing { .. }
            | EventKind::Read { .. }
            | EventKind::Written { .. }
            | EventKind::FaultFired { .. }
            | EventKind::FaultHealed { .. }
            | EventKind::CalmBegan
            | EventKind::Ended { .. }
            | EventKind::StillWaiting { .. }
            | EventKind::Leftover { .. }
            | EventKind::Final { .. } => {}
        }
        self.look_whether_two_wait();
    }

    fn look_whether_two_wait(&mut self) {
        if self.waiting >= 2 && self.owners > 0 {
            self.reached.add("two-wait");
        }
    }

    fn owned(&mut self, by: ContenderId) {
        if std::mem::take(&mut self.free_by_expiry) {
            self.reached.add("handed-over-by-expiry");
        }
        self.owners += 1;
        self.change(by, |state| state.owns = true);
    }

    fn disowned(&mut self, by: ContenderId, how: Disowned) {
        match how {
            Disowned::Released | Disowned::Reaped => {}
            Disowned::Expired => self.free_by_expiry = true,
            Disowned::RemovedBy(_)
            | Disowned::OverwrittenBy(_)
            | Disowned::RemovedFromOutside
            | Disowned::LostByService => self.reached.add("taken-away"),
        }
        self.owners = self.owners.saturating_sub(1);
        self.change(by, |state| state.owns = false);
    }

    fn stops_waiting(&mut self, by: ContenderId, name: &str) {
        self.reach_if(by, State::is_queued, name);
        self.change(by, |state| state.acquiring = false);
    }

    fn reach_if(&mut self, by: ContenderId, so: impl Fn(&State) -> bool, name: &str) {
        if self.contenders.get(by.0 as usize).is_some_and(so) {
            self.reached.add(name);
        }
    }

    fn change(&mut self, by: ContenderId, change: impl FnOnce(&mut State)) {
        let index = by.0 as usize;
        if index >= self.contenders.len() {
            self.contenders.resize(index + 1, State::default());
        }
        let state = &mut self.contenders[index];
        let waits = |state: &State| state.is_queued() && !state.owns;
        let before = waits(state);
        change(state);
        match (before, waits(state)) {
            (false, true) => self.waiting += 1,
            (true, false) => self.waiting -= 1,
            (true, true) | (false, false) => {}
        }
    }
}

#[cfg(test)]
mod tests;
