//! In which order a section acquires the locks that it holds at once.

/// In which order a section acquires the locks that it holds at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockOrder {
    /// By name, all contenders alike: whoever waits for a lock holds none behind it, so nobody waits in a circle.
    #[default]
    ByName,
    /// As their turn comes: who begins with the last lock goes on with the first.
    InTurn,
    /// Each time as chance has it.
    Drawn,
}

impl LockOrder {
    /// All of them, by name.
    pub const NAMED: [(&str, Self); 3] = [
        ("by-name", Self::ByName),
        ("in-turn", Self::InTurn),
        ("drawn", Self::Drawn),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByName => "by-name",
            Self::InTurn => "in-turn",
            Self::Drawn => "drawn",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_found_by_its_name() {
        for (name, order) in LockOrder::NAMED {
            assert_eq!(order.name(), name);
        }
    }
}
