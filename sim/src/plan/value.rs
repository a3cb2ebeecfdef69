//! What stands behind a key.

use std::time::Duration;

/// What stands behind a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes, or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A duration.
    Time(Duration),
    /// A text.
    Text(String),
    /// A table: what stands behind its keys.
    Table(Vec<(&'static str, Self)>),
    /// One of several, by its name, and what belongs to it.
    Named(&'static str, Option<Box<Self>>),
}
