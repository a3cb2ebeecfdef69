//! Notifications and messages on their way, the contenders that they wake, and what is counted of them.

use picklock_checker::ContenderId;

use super::SimulatedService;
use super::World;
use crate::event::ClientId;
use crate::network::ConnectionId;
use crate::process::ProcessId;

impl<S: SimulatedService> World<S> {
    /// A notification or a message sets out for a process, caused by itself or by another.
    pub(crate) fn count_message(&mut self, process: ProcessId, own: bool) {
        if !self.tasks.are_in(process) {
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

    /// A notification is under way no longer, and was not delivered: it came by a dead connection, and its waiter goes
    /// on waiting.
    pub(crate) fn notification_lost(&mut self, process: ProcessId) {
        if self.tasks.are_in(process) {
            self.busy.notifications -= 1;
        }
    }

    /// A notification has come to a client. The contenders that wait by that client wake.
    pub(crate) fn notification_delivered(&mut self, process: ProcessId, client: ClientId) {
        if !self.tasks.are_in(process) {
            return;
        }
        self.busy.notifications -= 1;
        let tasks = self.tasks.of(process);
        if tasks.len() > 1 {
            return self.notified_among(process, client);
        }
        let contender = &mut self.contenders[tasks.start as usize];
        if contender.waiting {
            contender.waiting = false;
            contender.woken = true;
            self.woken_process = Some(process);
            self.busy.waiting -= 1;
            if self.draining {
                self.recorder.counts.wakeups += 1;
            }
        }
    }

    /// The same in a process of several tasks. Which of those that share a client are meant is up to their code: none
    /// counts as woken in vain.
    #[cold]
    fn notified_among(&mut self, process: ProcessId, client: ClientId) {
        let users: Vec<ContenderId> = self.users_of(process, client).collect();
        let is_shared = users.len() > 1;
        for (index, by) in users.into_iter().enumerate() {
            let contender = &mut self.contenders[by.0 as usize];
            if std::mem::take(&mut contender.waiting) {
                contender.woken = !is_shared;
                self.woken_process = Some(process);
                self.busy.waiting -= 1;
                self.recorder.counts.wakeups += u64::from(self.draining && index == 0);
            }
        }
    }

    /// Looks whether the contenders that were notified go on waiting, as they do if none listens to that watch any more
    /// and none of their code runs.
    pub fn check_notified_contenders(&mut self) {
        // To look costs less than to take what is not there.
        if let Some(process) = self.woken_process {
            self.woken_process = None;
            self.update_waiting(process);
            self.settle();
        }
    }

    /// From the first release on, bytes to contenders are counted where they set out.
    #[inline(always)]
    pub(crate) fn count_bytes(&mut self, connection: ConnectionId, bytes: impl FnOnce() -> u64) {
        if self.draining && self.tasks.are_in(self.process_of(connection)) {
            self.recorder.counts.bytes += bytes();
        }
    }

    /// From the first release on, requests of contenders are counted where they arrive.
    #[inline(always)]
    pub(crate) fn count_request(&mut self, connection: ConnectionId, bytes: impl FnOnce() -> u64) {
        if self.draining && self.tasks.are_in(self.process_of(connection)) {
            self.recorder.counts.requests += 1;
            self.recorder.counts.bytes += bytes();
        }
    }
}
