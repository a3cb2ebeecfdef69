//! In which order a section acquires the locks that it holds at once.

use super::setting_type::words;

/// In which order a section acquires the locks that it holds at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockOrder {
    /// By name, all contenders alike: a waiter holds no lock behind the one it waits for, so there is no circle of
    /// waiters.
    #[default]
    ByName,
    /// As their turn comes: a contender that begins with the last lock goes on with the first.
    InTurn,
    /// Each time as chance has it.
    Drawn,
}

impl LockOrder {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 3] = [
        ("by-name", Self::ByName),
        ("in-turn", Self::InTurn),
        ("drawn", Self::Drawn),
    ];
}

words! {
    LockOrder: "lock order",
}
