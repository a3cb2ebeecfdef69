//! In which words a history is told.

use serde::{Deserialize, Serialize};

/// The words for what is acquired and released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Vocabulary {
    /// A lock is held.
    #[default]
    Lock,
    /// The holder of an election leads.
    Election,
    /// The parties of a double barrier come, enter, are done, and leave.
    DoubleBarrier,
    /// A barrier is set and removed, and others wait for that and pass.
    Barrier,
    /// Participants of a count-down latch count down, and others wait for zero and pass.
    CountDownLatch,
}

impl Vocabulary {
    /// Whether it is that of locks, of which results say nothing.
    pub fn is_usual(&self) -> bool {
        *self == Self::Lock
    }

    /// The words of an election, those of what others pass, or those of all others.
    fn choose(
        self,
        election: &'static str,
        barrier: &'static str,
        others: &'static str,
    ) -> &'static str {
        match self {
            Self::Election => election,
            Self::Barrier | Self::CountDownLatch => barrier,
            Self::Lock | Self::DoubleBarrier => others,
        }
    }

    /// What a holder does.
    pub(crate) fn is_inside(self) -> &'static str {
        self.choose("leads", "has passed", "is inside")
    }

    /// What the service makes a contender.
    pub(crate) fn owner(self) -> &'static str {
        self.choose("leader", "setter", "owner")
    }

    /// What becomes of a contender that waits for ever.
    pub(crate) fn never_got_it(self) -> &'static str {
        match self {
            Self::CountDownLatch => "never passed the latch",
            others => others.choose(
                "never came to lead",
                "never passed the barrier",
                "never got the lock",
            ),
        }
    }

    /// What a contender does that waits.
    pub(crate) fn wants_it(self) -> &'static str {
        match self {
            Self::CountDownLatch => "has waited at the latch",
            others => others.choose(
                "has been a candidate",
                "has waited at the barrier",
                "wants the lock",
            ),
        }
    }

    /// What a contender believed that it did.
    pub(crate) fn held_it(self) -> &'static str {
        match self {
            Self::CountDownLatch => "was to count down",
            others => others.choose("led", "had set the barrier", "held the lock"),
        }
    }
}
