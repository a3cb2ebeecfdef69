//! Notifications and messages on their way, and whom they wake; and what is counted of them.

use super::SimulatedService;
use super::World;
use crate::process::ProcessId;

impl<S: SimulatedService> World<S> {
    /// A notification or a message sets out for a process, caused by itself or by another.
    pub(crate) fn count_message(&mut self, process: ProcessId, own: bool) {
        if process.0 as usize >= self.contenders.len() {
            return;
        }
        self.busy.notifications += 1;
        let counts = &mut self.recorder.counts;
        match (self.draining, own) {
            (false, _) => counts.notifications_arriving += 1,
            (true, true) => counts.notifications_to_releaser += 1,
            (true, false) => counts.notifications_to_waiters += 1,
        }
    }

    /// A notification is under way no longer. Whom it reaches wakes; one that comes by a dead connection is unheard,
    /// and whoever waits goes on waiting.
    pub(crate) fn notified(&mut self, process: ProcessId, heard: bool) {
        let Some(contender) = self.contenders.get_mut(process.0 as usize) else {
            return;
        };
        self.busy.notifications -= 1;
        if heard && contender.waiting {
            contender.waiting = false;
            contender.woken = true;
            self.told = Some(process);
            self.busy.waiting -= 1;
            if self.draining {
                self.recorder.counts.wakeups += 1;
            }
        }
    }

    /// Looks whether whoever was told something goes on waiting, as it does if nobody listens to that watch any more
    /// and none of its code runs.
    pub fn check_notified_contenders(&mut self) {
        // To look costs less than to take what is not there.
        if let Some(process) = self.told {
            self.told = None;
            self.update_waiting(process);
            self.settle();
        }
    }

    /// Bytes and requests of contenders, from the first release on.
    pub(crate) fn count_bytes(&mut self, process: ProcessId, bytes: u64) {
        if self.draining && (process.0 as usize) < self.contenders.len() {
            self.recorder.counts.bytes += bytes;
        }
    }
}
