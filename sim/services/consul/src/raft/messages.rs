//! The messages of raft.

use std::fmt;

use crate::log::Entry;

/// A message of raft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaftMessage {
    pub(super) term: u64,
    pub(super) body: Body,
}

/// Places in the log are counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Leader: after this entry of this term, these follow, and so many are committed.
    Append {
        after: (usize, u64),
        entries: Vec<Entry>,
        commit: usize,
        round: u64,
    },
    /// Follower: the log is the leader's up to here; or it does not match, and ends here.
    Appended {
        matches: bool,
        end: usize,
        round: u64,
    },
    /// Candidate: this is the end of my log, and its term.
    RequestVote { last: (u64, usize) },
    /// Its answer.
    Vote { granted: bool },
}

impl RaftMessage {
    /// Whether it says no more than that its sender is there.
    pub(crate) fn is_sign_of_life(&self) -> bool {
        match &self.body {
            Body::Append { entries, .. } => entries.is_empty(),
            Body::Appended { matches, .. } => *matches,
            Body::RequestVote { .. } | Body::Vote { .. } => false,
        }
    }
}

impl fmt::Display for RaftMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            Body::Append {
                after,
                entries,
                commit,
                ..
            } => {
                write!(out, "AppendEntries after {}, commit {commit}", after.0)?;
                let mut commands = entries.iter().map(|entry| &entry.command);
                commands.try_for_each(|command| write!(out, ", {command}"))
            }
            Body::Appended {
                matches: true, end, ..
            } => write!(out, "appended up to {end}"),
            Body::Appended { end, .. } => write!(out, "does not match, ends at {end}"),
            Body::RequestVote { .. } => write!(out, "RequestVote in term {}", self.term),
            Body::Vote { granted: true } => write!(out, "vote in term {}", self.term),
            Body::Vote { .. } => write!(out, "no vote in term {}", self.term),
        }
    }
}
