//! What waits to be proposed and applied, and what waits for a quorum to confirm who leads.

use picklock_checker::VirtualTime;

use crate::ids::{Caller, Origin};
use crate::rpc::{LeaseId, Request};

/// A proposal that is not applied yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingProposal {
    pub(crate) caller: Caller,
    pub(crate) start: VirtualTime,
    pub(crate) deadline: VirtualTime,
    /// Whether there was a leader for it.
    pub(crate) proposed: bool,
}

/// What waits for a quorum to confirm who leads.
#[derive(Clone, Debug)]
pub(crate) enum ReadFor {
    /// A linearizable read.
    Request(Caller, Request),
    /// A renewal at a leader that is not sure whether it leads.
    Renewal(Origin, LeaseId),
    /// Revocations at such a leader.
    Revocations(Vec<LeaseId>),
}

/// Reads that a leader is asked about: one question at a time, and for all that had come before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads {
    pub(crate) waiting: Vec<ReadFor>,
    pub(crate) asked: Option<Asked>,
}

#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) number: u64,
    pub(crate) reads: Vec<ReadFor>,
    pub(crate) deadline: VirtualTime,
    pub(crate) retry_at: VirtualTime,
    /// How far this member must be.
    pub(crate) index: Option<usize>,
    pub(crate) is_ready: bool,
}

impl Reads {
    pub(crate) fn confirmed(&mut self, number: u64, index: usize) {
        if let Some(asked) = self.asked.as_mut().filter(|asked| asked.number == number) {
            asked.index = Some(index);
        }
    }

    /// So much of the log is applied.
    pub(crate) fn applied(&mut self, applied: usize) {
        if let Some(asked) = &mut self.asked {
            asked.is_ready = asked.index.is_some_and(|index| index <= applied);
        }
    }

    pub(crate) fn drop_client(&mut self, is_gone: impl Fn(Caller) -> bool) {
        let of_client = |read: &ReadFor| match read {
            ReadFor::Request(caller, _) => is_gone(*caller),
            ReadFor::Renewal(..) | ReadFor::Revocations(_) => false,
        };
        self.waiting.retain(|read| !of_client(read));
        if let Some(asked) = &mut self.asked {
            asked.reads.retain(|read| !of_client(read));
        }
    }
}
