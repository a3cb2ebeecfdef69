//! What stands behind a key.

use std::time::Duration;

use super::Rate;

/// What stands behind a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes, or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A duration.
    Time(Duration),
    /// A range of durations, both ends included.
    Range(Duration, Duration),
    /// Milliseconds, which may be negative.
    Millis(i64),
    /// How often something happens.
    Rate(Rate),
    /// A text.
    Text(String),
    /// A table: what stands behind its keys.
    Table(Vec<(&'static str, Self)>),
    /// One of several, by its name, and what belongs to it.
    Named(&'static str, Option<Box<Self>>),
}
