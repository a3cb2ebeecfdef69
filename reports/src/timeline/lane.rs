//! One contender's lane: what it believes and does, event by event.

use std::collections::BTreeMap;

use picklock_checker::{ContenderId, History, LockId, What};

use crate::style::Glyphs;

/// The contender that an event is about, if it is about one.
pub(crate) fn subject(what: &What) -> Option<ContenderId> {
    match *what {
        What::AcquireStarted { by, .. }
        | What::Acquired { by, .. }
        | What::AcquireFailed { by, .. }
        | What::ReleaseStarted { by, .. }
        | What::Released { by, .. }
        | What::ReleaseFailed { by, .. }
        | What::Lost { by, .. }
        | What::Cancelled { by, .. }
        | What::Finished { by }
        | What::Paused { by }
        | What::Resumed { by }
        | What::Crashed { by }
        | What::Restarted { by }
        | What::Disconnected { by }
        | What::Reconnected { by }
        | What::SessionLost { by }
        | What::Queued { by, .. }
        | What::Unqueued { by, .. }
        | What::Owned { by, .. }
        | What::Disowned { by, .. }
        | What::SessionExpired { by }
        | What::Writing { by, .. }
        | What::Read { by, .. }
        | What::Effect { by, .. }
        | What::Written { by, .. }
        | What::StillWaiting { by, .. } => Some(by),
        What::FaultFired { .. }
        | What::FaultHealed { .. }
        | What::CalmBegan
        | What::Ended { .. }
        | What::Leftover { .. }
        | What::Final { .. } => None,
    }
}

/// What stands in a lane at an event: a bar, and words after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) bar: String,
    pub(crate) words: String,
}

impl Cell {
    fn new(bar: &str, words: impl Into<String>) -> Self {
        Self {
            bar: bar.to_owned(),
            words: words.into(),
        }
    }

    /// The cell as it is drawn.
    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.bar, self.words).trim().to_owned()
    }
}

/// What a contender believes, and what its process does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    /// How many times it believes to hold each lock; never zero.
    held: BTreeMap<LockId, u32>,
    /// It is in `acquire`.
    calling: bool,
    /// Its session ended while it waited, and it has no new place since.
    gone: bool,
    /// Its process stands still.
    paused: bool,
}

impl Lane {
    /// It believes that it holds a lock.
    pub(crate) fn is_inside(&self) -> bool {
        !self.held.is_empty()
    }

    /// What is drawn in the lane between events.
    pub(crate) fn bar(&self, glyphs: &Glyphs) -> String {
        let belief = self.belief(glyphs);
        let pause = if self.paused { glyphs.pause } else { "" };
        format!("{belief} {pause}").trim().to_owned()
    }

    fn belief(&self, glyphs: &Glyphs) -> &'static str {
        if self.is_inside() {
            glyphs.inside
        } else if self.calling && !self.gone {
            glyphs.waiting
        } else {
            ""
        }
    }

    /// Takes in an event about this contender, and says what to draw at it.
    pub(crate) fn apply(&mut self, what: &What, history: &History, glyphs: &Glyphs) -> Cell {
        match *what {
            What::AcquireStarted { .. }
            | What::Acquired { .. }
            | What::AcquireFailed { .. }
            | What::ReleaseStarted { .. }
            | What::Released { .. }
            | What::ReleaseFailed { .. }
            | What::Lost { .. }
            | What::Cancelled { .. } => self.call(what, history, glyphs),
            What::Paused { .. }
            | What::Resumed { .. }
            | What::Crashed { .. }
            | What::Restarted { .. }
            | What::Finished { .. }
            | What::Disconnected { .. }
            | What::Reconnected { .. }
            | What::SessionLost { .. }
            | What::SessionExpired { .. } => self.process(what, glyphs),
            What::Queued { .. } => {
                self.gone = false;
                Cell::new(&self.bar(glyphs), "")
            }
            What::StillWaiting { .. } => {
                self.calling = true;
                self.gone = false;
                Cell::new(&self.bar(glyphs), "still waits")
            }
            What::Writing { .. } => Cell::new(&self.bar(glyphs), "sends a write"),
            What::Read { value, .. } => Cell::new(&self.bar(glyphs), format!("reads {value}")),
            What::Effect { accepted: true, .. } => Cell::new(&self.bar(glyphs), "write accepted"),
            What::Effect { .. } => Cell::new(&self.bar(glyphs), "write rejected"),
            What::Written { accepted: true, .. } => Cell::new(&self.bar(glyphs), "told: accepted"),
            What::Written { .. } => Cell::new(&self.bar(glyphs), "told: rejected"),
            What::Unqueued { .. }
            | What::Owned { .. }
            | What::Disowned { .. }
            | What::FaultFired { .. }
            | What::FaultHealed { .. }
            | What::CalmBegan
            | What::Ended { .. }
            | What::Leftover { .. }
            | What::Final { .. } => Cell::new(&self.bar(glyphs), ""),
        }
    }

    /// Events of `acquire` and `release`, which change what the contender believes.
    fn call(&mut self, what: &What, history: &History, glyphs: &Glyphs) -> Cell {
        // Which lock it is need only be said where there are several.
        let named = |words: &str, lock: LockId| match history.locks.len() {
            0 | 1 => words.to_owned(),
            _ => format!("{words} {}", history.lock(lock)),
        };
        match *what {
            What::AcquireStarted { lock, .. } => {
                let bar = self.bar(glyphs);
                self.calling = true;
                self.gone = false;
                Cell::new(&bar, named("acquire", lock))
            }
            What::Acquired { lock, .. } => {
                let (bar, words) = if self.is_inside() {
                    (glyphs.again, "enters again")
                } else {
                    (glyphs.enter, "enters")
                };
                self.calling = false;
                *self.held.entry(lock).or_default() += 1;
                Cell::new(bar, named(words, lock))
            }
            What::ReleaseStarted { lock, .. } => {
                let was_inside = self.is_inside();
                self.leave(lock);
                match (was_inside, self.is_inside()) {
                    (false, _) => Cell::new(&self.bar(glyphs), named("releases", lock)),
                    (true, false) => Cell::new(glyphs.leave, named("leaves", lock)),
                    (true, true) => Cell::new(glyphs.again, named("leaves once", lock)),
                }
            }
            What::Lost { lock, .. } => {
                self.held.remove(&lock);
                let bar = if self.is_inside() {
                    glyphs.again
                } else {
                    glyphs.leave
                };
                Cell::new(bar, named("told of the loss", lock))
            }
            What::AcquireFailed { lock, .. } => {
                self.calling = false;
                self.crossed(glyphs, named("fails", lock))
            }
            What::Cancelled { lock, .. } => {
                self.calling = false;
                self.crossed(glyphs, named("cancelled", lock))
            }
            What::ReleaseFailed { lock, .. } => {
                self.crossed(glyphs, named("release fails", lock))
            }
            What::Released { lock, .. } => Cell::new(&self.bar(glyphs), named("released", lock)),
            ref other => Cell::new(&self.bar(glyphs), format!("{other:?}")),
        }
    }

    fn leave(&mut self, lock: LockId) {
        if let Some(times) = self.held.get_mut(&lock) {
            *times -= 1;
            if *times == 0 {
                self.held.remove(&lock);
            }
        }
    }
}
