//! One contender's lane: what it believes and does, event by event.

use std::collections::BTreeMap;

use picklock_checker::{ConversionStep, EntryStep, EventKind, History, LockId, Mode, Vocabulary};

use crate::style::Glyphs;

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
    /// What it asked for last is to be shared.
    shares: bool,
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
    pub(crate) fn apply(&mut self, what: &EventKind, history: &History, glyphs: &Glyphs) -> Cell {
        let named = |words: &str, lock: LockId| named(words, lock, history);
        match *what {
            EventKind::AcquireStarted { lock, mode, .. } => {
                let bar = self.bar(glyphs);
                (self.calling, self.gone) = (true, false);
                self.shares = mode == Mode::Shared;
                let words = match (mode, history.vocabulary) {
                    (Mode::Shared, Vocabulary::Barrier | Vocabulary::CountDownLatch) => "waits",
                    (Mode::Exclusive, Vocabulary::Barrier) => "sets the barrier",
                    (Mode::Shared, _) => "acquire to read",
                    (Mode::Exclusive, Vocabulary::Election) => "volunteers",
                    (Mode::Exclusive, Vocabulary::DoubleBarrier | Vocabulary::CountDownLatch) => {
                        "comes"
                    }
                    (Mode::Exclusive, Vocabulary::Lock) => "acquire",
                };
                Cell::new(&bar, named(words, lock))
            }
            EventKind::Acquired { lock, mode, .. } => self.enter((lock, mode), history, glyphs),
            EventKind::ReleaseStarted { lock, .. } => self.leave(lock, history, glyphs),
            EventKind::Lost { lock, .. } => {
                self.held.remove(&lock);
                let outside = !self.is_inside();
                let bar = if outside { glyphs.leave } else { glyphs.again };
                Cell::new(bar, named("loss is reported", lock))
            }
            EventKind::AcquireFailed { lock, .. } => {
                self.calling = false;
                self.crossed(named("fails", lock), glyphs)
            }
            EventKind::Revoked { lock, .. } => self.plain(named("is revoked", lock), glyphs),
            EventKind::Cancelled { lock, .. } => {
                self.calling = false;
                self.crossed(named("cancelled", lock), glyphs)
            }
            EventKind::ReleaseCancelled { .. } => self.crossed("release cancelled", glyphs),
            EventKind::ReleaseFailed { lock, .. } => {
                self.crossed(named("release fails", lock), glyphs)
            }
            EventKind::Released { lock, .. } => {
                let words = match history.vocabulary {
                    Vocabulary::DoubleBarrier => "leaves",
                    Vocabulary::Barrier | Vocabulary::CountDownLatch if self.shares => "",
                    Vocabulary::Barrier => "removed",
                    Vocabulary::CountDownLatch => "has counted down",
                    Vocabulary::Lock | Vocabulary::Election => "released",
                };
                self.plain(named(words, lock), glyphs)
            }
            EventKind::Reentry { lock, step, .. } => {
                let words = match step {
                    EntryStep::Asks => "acquire again",
                    EntryStep::Enters => "inside again",
                    EntryStep::Leaves => "leaves inner entry",
                };
                self.plain(named(words, lock), glyphs)
            }
            EventKind::Conversion {
                lock, mode, step, ..
            } => {
                let words = match (step, mode) {
                    (ConversionStep::Asks, Mode::Shared) => "asks to read on",
                    (ConversionStep::Asks, Mode::Exclusive) => "asks to write",
                    (ConversionStep::Fails, _) => "is refused",
                    (ConversionStep::Converts, Mode::Shared) => "reads on",
                    (ConversionStep::Converts, Mode::Exclusive) => "writes",
                };
                self.plain(named(words, lock), glyphs)
            }
            EventKind::Queued { .. } => {
                self.gone = false;
                self.plain("", glyphs)
            }
            EventKind::StillWaiting { lock, .. } => {
                self.calling = true;
                self.gone = false;
                self.plain(named("waits", lock), glyphs)
            }
            EventKind::Paused { .. } => self.pause(true, glyphs),
            EventKind::Resumed { .. } => self.pause(false, glyphs),
            EventKind::Crashed { .. } => {
                *self = Self::default();
                self.crossed("crashed", glyphs)
            }
            EventKind::SessionExpired { .. } => self.expire(glyphs),
            EventKind::Read { value, .. } => self.plain(format!("reads {value}"), glyphs),
            // A row says what the lane of its contender says of any other.
            _ => self.plain(what.row().lane, glyphs),
        }
    }

    fn expire(&mut self, glyphs: &Glyphs) -> Cell {
        self.gone = true;
        self.crossed("expired", glyphs)
    }

    fn enter(&mut self, (lock, mode): (LockId, Mode), history: &History, glyphs: &Glyphs) -> Cell {
        // Who holds several locks is inside already when it enters the next.
        let bar = if self.is_inside() {
            glyphs.again
        } else {
            glyphs.enter
        };
        let words = match (self.held.contains_key(&lock), mode) {
            (true, _) => "enters again",
            (false, Mode::Exclusive) => match history.vocabulary {
                Vocabulary::Election => "leads",
                Vocabulary::Lock | Vocabulary::DoubleBarrier => "enters",
                Vocabulary::Barrier => "has set it",
                Vocabulary::CountDownLatch => "takes part",
            },
            (false, Mode::Shared) => match history.vocabulary {
                Vocabulary::Barrier | Vocabulary::CountDownLatch => "passes",
                Vocabulary::Election | Vocabulary::Lock | Vocabulary::DoubleBarrier => {
                    "enters to read"
                }
            },
        };
        self.calling = false;
        *self.held.entry(lock).or_default() += 1;
        Cell::new(bar, named(words, lock, history))
    }

    fn leave(&mut self, lock: LockId, history: &History, glyphs: &Glyphs) -> Cell {
        let Some(times) = self.held.get_mut(&lock) else {
            return self.plain(named("releases", lock, history), glyphs);
        };
        *times -= 1;
        let once = *times > 0;
        if !once {
            self.held.remove(&lock);
        }
        let bar = if self.is_inside() {
            glyphs.again
        } else {
            glyphs.leave
        };
        let words = match history.vocabulary {
            _ if once => "leaves once",
            Vocabulary::Election => "steps down",
            Vocabulary::Barrier if !self.shares => "removes it",
            Vocabulary::CountDownLatch if !self.shares => "counts down",
            Vocabulary::Barrier | Vocabulary::CountDownLatch | Vocabulary::DoubleBarrier => {
                "is done"
            }
            Vocabulary::Lock => "leaves",
        };
        Cell::new(bar, named(words, lock, history))
    }

    fn pause(&mut self, paused: bool, glyphs: &Glyphs) -> Cell {
        self.paused = paused;
        let (glyph, words) = if paused {
            (glyphs.pause, "paused")
        } else {
            (glyphs.resume, "resumes")
        };
        let bar = format!("{} {glyph}", self.belief(glyphs));
        Cell::new(bar.trim(), words)
    }

    pub(crate) fn plain(&self, words: impl Into<String>, glyphs: &Glyphs) -> Cell {
        Cell::new(&self.bar(glyphs), words)
    }

    fn crossed(&self, words: impl Into<String>, glyphs: &Glyphs) -> Cell {
        let bar = format!("{} {}", self.bar(glyphs), glyphs.cross);
        Cell::new(bar.trim(), words)
    }
}

/// Which lock it is need only be said where there are several.
fn named(words: &str, lock: LockId, history: &History) -> String {
    if history.locks.len() > 1 {
        format!("{words} {}", history.lock(lock))
    } else {
        words.to_owned()
    }
}
