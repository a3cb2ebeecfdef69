//! Writes that faults wait for, on their way to the servers that follow.

use picklock_clients::RequestKind;

use super::SimulatedService;
use super::World;
use crate::network::ServerId;
use crate::plan::{ContenderName, Trigger};

/// A write that a fault waits for: one server has applied it, and the server that the fault names has not.
pub(crate) struct PendingWrite {
    fault: usize,
    /// The server whose stream it is in; `None` where all servers have one history.
    stream: Option<ServerId>,
    /// A server that has come so far has the write: a zxid, or an offset in the stream of replication.
    mark: u64,
}

impl<S: SimulatedService> World<S> {
    /// A server has done a write of a contender. A follower has it once it has come so far.
    pub(crate) fn await_replication(
        &mut self,
        done_at: ServerId,
        stream: Option<ServerId>,
        (by, kind): (u32, RequestKind),
        mark: u64,
    ) {
        let author = ContenderName(by);
        for fault in 0..self.faults.len() {
            match self.plan.faults[fault].when {
                Trigger::Applied { request, by, .. } if by == author && request.covers(kind) => {}
                _ => continue,
            }
            if self.faults[fault].armed {
                self.pending_writes.push(PendingWrite {
                    fault,
                    stream,
                    mark,
                });
            }
        }
        self.replicated_up_to(done_at, stream, mark);
    }

    /// A server has come so far.
    pub(crate) fn replicated_up_to(
        &mut self,
        server: ServerId,
        stream: Option<ServerId>,
        mark: u64,
    ) {
        let mut index = 0;
        while let Some(write) = self.pending_writes.get(index) {
            let fault = write.fault;
            let has_it = write.stream == stream && write.mark <= mark;
            match self.plan.faults[fault].when {
                Trigger::Applied { nth, at, .. }
                    if has_it && S::server(self, at) == Some(server) =>
                {
                    self.pending_writes.remove(index);
                    self.count(fault, nth, None);
                }
                _ => index += 1,
            }
        }
    }
}
