//! How a holder could know that it has lost the lock.

use serde::{Deserialize, Serialize};

use crate::VirtualTime;

/// How a contender could have known that it had lost the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Knowledge {
    /// It was told that its session is gone.
    SessionLost,
    /// By its own clock, it had been without a connection for longer than its session lives.
    SessionTimedOut,
    /// It was told that its node is gone, by a watch or by an answer.
    NodeGone,
    /// The service had refused what it asked of its key, because the key was not its own any more: an extension, a
    /// look, a release. Of several servers, so many that no majority was left.
    Refused,
    /// By its own clock, the hold was no longer valid.
    ValidityOver,
}

impl Knowledge {
    /// The half of a sentence about the contender: `its client had been told that its session was gone`.
    pub fn clause(self) -> &'static str {
        match self {
            Self::SessionLost => "its client had been told that its session was gone",
            Self::SessionTimedOut => {
                "by its own clock it had been without a connection for longer than its session lives"
            }
            Self::NodeGone => "it had been told that its node was gone",
            Self::Refused => "the service had answered that the key was not its own",
            Self::ValidityOver => "by its own clock its hold was no longer valid",
        }
    }
    /// The same with the time at which it was told, if it was told anything: of what its own clock said, nothing was.
    pub(crate) fn told_at(self, at: VirtualTime) -> Option<String> {
        match self {
            Self::SessionLost => Some(format!(
                "its client had been told at {at} that its session was gone"
            )),
            Self::NodeGone => Some(format!("it had been told at {at} that its node was gone")),
            Self::Refused => Some(format!(
                "the service had answered at {at} that the key was not its own"
            )),
            Self::SessionTimedOut | Self::ValidityOver => None,
        }
    }
}
