//! The log, and the messages of raft.

use std::fmt;
use std::rc::Rc;

use picklock_machines::{ConnectionId, ServerId};

use crate::rpc::Request;

/// A request that a member has proposed, by its number there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The member.
    pub by: ServerId,
    /// Its number for it.
    pub number: u64,
    /// The call of a client that it is of, if it is of one: for observers of a run, as members make nothing of it.
    pub origin: Option<(ConnectionId, u32)>,
    /// The request.
    pub request: Request,
}

/// An entry of the log; without a proposal, a leader's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(crate) term: u64,
    pub(crate) proposal: Option<Rc<Proposal>>,
}

/// A message of raft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaftMessage {
    pub(crate) term: u64,
    pub(crate) body: RaftBody,
}

/// What a message of raft says. The place of an entry in the log is counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RaftBody {
    /// Leader: after this entry, these follow, and so many are committed.
    App {
        index: usize,
        log_term: u64,
        entries: Vec<Entry>,
        commit: usize,
    },
    /// Follower: the log is the leader's up to here; or is not, and this is the newest that may be.
    AppResp { index: usize, reject: bool },
    /// Leader: I lead, and this read wants to know it.
    Heartbeat { commit: usize, read: Option<ReadId> },
    /// Follower: so it is.
    HeartbeatResp { read: Option<ReadId> },
    /// Candidate: this is the end of my log. Would you vote for me, or do you?
    Vote {
        pre: bool,
        index: usize,
        log_term: u64,
    },
    /// Its answer.
    VoteResp { pre: bool, reject: bool },
    /// Follower: propose this.
    Prop(Rc<Proposal>),
    /// Follower: how far must I be to read?
    ReadIndex { number: u64 },
    /// Leader: so far.
    ReadIndexResp { number: u64, index: usize },
}

/// A read of a member, by its number there.
pub(crate) type ReadId = (ServerId, u64);

/// What a step wants done.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    pub(crate) messages: Vec<(ServerId, RaftMessage)>,
    /// Reads of this member that are confirmed, and how far it must be.
    pub(crate) read_states: Vec<(u64, usize)>,
    /// A proposal of another member that finds no leader here: it waits for one.
    pub(crate) no_leader: Vec<Rc<Proposal>>,
}

impl RaftMessage {
    /// Whether it is a heartbeat, or the answer to one.
    pub(crate) fn is_heartbeat(&self) -> bool {
        matches!(
            self.body,
            RaftBody::Heartbeat { .. } | RaftBody::HeartbeatResp { .. }
        )
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(out)
    }
}

impl fmt::Display for RaftMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            RaftBody::App {
                index,
                entries,
                commit,
                ..
            } => {
                write!(out, "MsgApp after {index}, commit {commit}")?;
                for entry in entries {
                    match &entry.proposal {
                        Some(proposal) => write!(out, ", {proposal}")?,
                        None => write!(out, ", term {}", entry.term)?,
                    }
                }
                Ok(())
            }
            RaftBody::AppResp { index, reject } => {
                let what = if *reject { "rejected, up to" } else { "up to" };
                write!(out, "MsgAppResp {what} {index}")
            }
            RaftBody::Heartbeat { commit, .. } => write!(out, "MsgHeartbeat commit {commit}"),
            RaftBody::HeartbeatResp { .. } => out.write_str("MsgHeartbeatResp"),
            RaftBody::Vote { pre, .. } => {
                let kind = if *pre { "MsgPreVote" } else { "MsgVote" };
                write!(out, "{kind} in term {}", self.term)
            }
            RaftBody::VoteResp { pre, reject } => {
                let kind = if *pre {
                    "MsgPreVoteResp"
                } else {
                    "MsgVoteResp"
                };
                let how = if *reject { "no" } else { "yes" };
                write!(out, "{kind} {how}")
            }
            RaftBody::Prop(proposal) => write!(out, "MsgProp {proposal}"),
            RaftBody::ReadIndex { .. } => out.write_str("MsgReadIndex"),
            RaftBody::ReadIndexResp { index, .. } => write!(out, "MsgReadIndexResp {index}"),
        }
    }
}
