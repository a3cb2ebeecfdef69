//! What a lessor is asked, and what waits for its answer.

use std::collections::VecDeque;

use picklock_checker::VirtualTime;
use picklock_machines::ServerId;

use crate::ids::Caller;
use crate::rpc::{LeaseId, Revision, TimeToLive};

/// What a lessor is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupKind {
    /// To renew a lease.
    Renew,
    /// What is left of one, and its keys if so.
    TimeToLive(bool),
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupAnswer {
    /// The lease has so many seconds again.
    Renewed(i64),
    /// What is left of it.
    TimeToLive(TimeToLive),
    /// There is no such lease.
    NotFound,
    /// Another member knows.
    NotPrimary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupState {
    /// The lessor here is asked.
    AtLessor,
    /// The leader is asked.
    Asked(ServerId),
    /// It asks once more at this moment.
    Sleeps(VirtualTime),
    /// It looks whether there is a leader at this moment.
    WaitsForLeader(VirtualTime),
}

/// A renewal, or a look at a lease, for a client.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    pub(crate) caller: Caller,
    pub(crate) kind: LookupKind,
    pub(crate) lease: LeaseId,
    /// A renewal is answered with the revision at which it came.
    pub(crate) revision: Revision,
    pub(crate) deadline: VirtualTime,
    pub(crate) state: LookupState,
}

impl Lookup {
    pub(crate) fn next_wake(&self) -> VirtualTime {
        match self.state {
            LookupState::Sleeps(at) | LookupState::WaitsForLeader(at) => at.min(self.deadline),
            LookupState::AtLessor | LookupState::Asked(_) => self.deadline,
        }
    }
}

/// A stream of signs of life: they are handled one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeepAliveStream {
    pub(crate) waiting: VecDeque<LeaseId>,
    pub(crate) is_busy: bool,
}
