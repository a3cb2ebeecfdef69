//! Modes in which a lock can be held.

use serde::{Deserialize, Serialize};

/// How a lock is held, or asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// By one alone: a mutex, or the write lock of a read-write lock.
    #[default]
    Exclusive,
    /// Together with others that share it: a read lock.
    Shared,
}

impl Mode {
    /// Whether two who hold the lock in these modes exclude each other.
    pub fn excludes(self, other: Self) -> bool {
        (self, other) != (Self::Shared, Self::Shared)
    }

    /// Whether it is exclusive, as that of every mutex is.
    pub fn is_exclusive(&self) -> bool {
        *self == Self::Exclusive
    }
}
