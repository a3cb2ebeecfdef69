//! Modes in which a lock can be held.

use serde::{Deserialize, Serialize};

/// How a lock is held, or asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// By one alone: a mutex, or the write lock of a read-write lock.
    #[default]
    Exclusive,
    /// Together with others that share it: a read lock.
    Shared,
}

impl Mode {
    /// Whether two holders of the lock in these modes exclude each other.
    pub fn excludes(self, other: Self) -> bool {
        (self, other) != (Self::Shared, Self::Shared)
    }

    /// Whether it is exclusive, as that of every mutex is.
    pub fn is_exclusive(&self) -> bool {
        *self == Self::Exclusive
    }
}

/// Something for each mode.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByMode<T> {
    exclusive: T,
    shared: T,
}

impl<T> ByMode<T> {
    pub(crate) fn of_mut(&mut self, mode: Mode) -> &mut T {
        match mode {
            Mode::Exclusive => &mut self.exclusive,
            Mode::Shared => &mut self.shared,
        }
    }

    /// That of each mode that excludes this one.
    pub(crate) fn excluding(&self, mode: Mode) -> impl Iterator<Item = &T> {
        let all = [
            (Mode::Exclusive, &self.exclusive),
            (Mode::Shared, &self.shared),
        ];
        let excluding = move |(other, of): (Mode, _)| mode.excludes(other).then_some(of);
        all.into_iter().filter_map(excluding)
    }
}
