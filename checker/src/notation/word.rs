//! One word of the notation, taken apart.

use std::collections::BTreeMap;
use std::fmt;

use crate::{
    ContenderId, ConversionStep, EntryStep, EventKind, Knowledge, LockId, Mode, VirtualTime,
};

/// A word that is not in the notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    word: String,
    expected: &'static str,
}

impl NotationError {
    pub(super) fn new(word: &str, expected: &'static str) -> Self {
        let word = word.to_owned();
        Self { word, expected }
    }
}

impl fmt::Display for NotationError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`: expected {}", self.word, self.expected)
    }
}

impl std::error::Error for NotationError {}

/// A word: `subject`, how it is joined to its time, the time or times, and the options.
pub(super) struct Word<'a> {
    text: &'a str,
    /// `a` in `a:0-10`, `a.paused` in `a.paused:5`.
    pub(super) subject: &'a str,
    /// `:`, `=`, or `*`.
    pub(super) joint: char,
    /// The first time.
    pub(super) from: VirtualTime,
    /// What follows the dash, if there is one: nothing at all, or the second time.
    pub(super) until: Option<Option<VirtualTime>>,
    options: BTreeMap<&'a str, &'a str>,
}

impl<'a> Word<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, NotationError> {
        let wrong = |expected| NotationError::new(text, expected);
        let mut parts = text.split('/');
        let head = parts.next().unwrap_or_default();
        let joint = head
            .find([':', '=', '*'])
            .ok_or_else(|| wrong("a name and a time, as in a:0-10"))?;
        let (subject, rest) = head.split_at(joint);
        let mut rest = rest.chars();
        let joint = rest.next().unwrap_or(':');
        let times = rest.as_str();
        let seconds = |text: &str| seconds(text).ok_or_else(|| wrong("a time in seconds"));
        let (from, until) = match times.split_once('-') {
            None => (seconds(times)?, None),
            Some((from, "")) => (seconds(from)?, Some(None)),
            Some((from, until)) => (seconds(from)?, Some(Some(seconds(until)?))),
        };
        if until.flatten().is_some_and(|until| until < from) {
            return Err(wrong("an end that is not before the beginning"));
        }
        let options = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
        Ok(Self {
            text,
            subject,
            joint,
            from,
            until,
            options: options.collect(),
        })
    }

    /// Takes an option out of the word.
    pub(super) fn take(&mut self, option: &str) -> Option<&'a str> {
        self.options.remove(option)
    }

    /// Takes a number out of the word.
    pub(super) fn number<N: std::str::FromStr>(
        &mut self,
        option: &str,
    ) -> Result<Option<N>, NotationError> {
        let text = self.take(option);
        text.map(|text| text.parse().map_err(|_| self.wrong("a number")))
            .transpose()
    }

    /// From this time on, this contender could know of its loss.
    pub(super) fn could_have_known(
        &mut self,
        by: ContenderId,
        lock: LockId,
    ) -> Result<EventKind, NotationError> {
        let (since, how) = (self.from, self.knowledge()?);
        Ok(EventKind::CouldHaveKnown {
            by,
            lock,
            since,
            how,
        })
    }

    /// How the contender could know.
    fn knowledge(&mut self) -> Result<Knowledge, NotationError> {
        match self.take("how") {
            None | Some("told") => Ok(Knowledge::SessionLost),
            Some("timed-out") => Ok(Knowledge::SessionTimedOut),
            Some("gone") => Ok(Knowledge::NodeGone),
            Some("refused") => Ok(Knowledge::Refused),
            Some("over") => Ok(Knowledge::ValidityOver),
            Some(_) => Err(self.wrong("/how=told, timed-out, gone, refused, or over")),
        }
    }

    /// All options must have been taken.
    pub(super) fn done(self) -> Result<(), NotationError> {
        match self.options.keys().next() {
            None => Ok(()),
            Some(_) => Err(self.wrong("only options that this word can have")),
        }
    }

    /// The error that this is not what was expected.
    pub(super) fn wrong(&self, expected: &'static str) -> NotationError {
        NotationError::new(self.text, expected)
    }
}

/// What a holder does that enters the lock again.
pub(super) fn reentry(verb: &str, by: ContenderId, lock: LockId) -> EventKind {
    let step = match verb {
        "reenters" => EntryStep::Asks,
        "reentered" => EntryStep::Enters,
        _ => EntryStep::Leaves,
    };
    EventKind::Reentry { by, lock, step }
}

/// What a holder does that changes the mode in which it holds the lock.
pub(super) fn conversion(verb: &str, by: ContenderId, lock: LockId, mode: Mode) -> EventKind {
    let step = match verb {
        "asks-to-convert" => ConversionStep::Asks,
        "does-not-convert" => ConversionStep::Fails,
        _ => ConversionStep::Converts,
    };
    EventKind::Conversion {
        by,
        lock,
        mode,
        step,
    }
}

/// Seconds with up to six decimals, exactly.
fn seconds(text: &str) -> Option<VirtualTime> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let micros: u64 = format!("{part:0<6}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    let total = whole.checked_mul(1_000_000)?.checked_add(micros)?;
    Some(VirtualTime::from_micros(total))
}
