//! Words of commands, read as what they stand for.

use picklock_clients::redis::{Command, ErrorReply};

use crate::errors::{NOT_A_FLOAT, NOT_AN_INTEGER, refuse};
use crate::numbers;

/// The word at a place. The caller has made sure that it is there; nothing is as good as an empty word.
pub(super) fn word(command: &Command, index: usize) -> &[u8] {
    command.word(index).unwrap_or_default()
}

/// The whole number at a place.
pub(super) fn integer(command: &Command, index: usize) -> Result<i64, ErrorReply> {
    match numbers::integer(word(command, index)) {
        Some(number) => Ok(number),
        None => refuse(NOT_AN_INTEGER),
    }
}

/// How many are to be taken, at a place.
pub(super) fn how_many(command: &Command, index: usize) -> Result<usize, ErrorReply> {
    match numbers::integer(word(command, index)) {
        Some(count) if count >= 0 => Ok(count as usize),
        _ => refuse("ERR value is out of range, must be positive"),
    }
}

/// The number at a place.
pub(super) fn float(command: &Command, index: usize) -> Result<f64, ErrorReply> {
    match numbers::float(word(command, index)) {
        Some(number) => Ok(number),
        None => refuse(NOT_A_FLOAT),
    }
}

/// Whether the word at a place is this one, in whatever letters.
pub(super) fn is(command: &Command, index: usize, name: &str) -> bool {
    word(command, index).eq_ignore_ascii_case(name.as_bytes())
}

/// The word in small letters, for errors that name a command.
pub(super) fn small(word: &[u8]) -> String {
    String::from_utf8_lossy(word).to_ascii_lowercase()
}

/// Places in a row of so many elements, of which negative ones count from its end; `None` if nothing is between them.
pub(super) fn range(start: i64, stop: i64, length: usize) -> Option<(usize, usize)> {
    let length = length as i64;
    let index = |number: i64| if number < 0 { number + length } else { number };
    let start = index(start).max(0);
    let stop = index(stop).min(length - 1);
    (start <= stop && start < length).then_some((start as usize, stop as usize))
}
