//! Notifications on their way, and whom they wake.

use picklock_algorithms::clients::zookeeper::{EventType, Path};

use super::World;
use crate::process::ProcessId;
use crate::zookeeper::messages::{ConnectionId, ServerId, notifications};

impl World {
    /// Tells several clients that a watch has fired.
    #[inline(never)]
    pub(super) fn notify(
        &mut self,
        server: ServerId,
        (connections, own): (Vec<ConnectionId>, Option<ConnectionId>),
        kind: EventType,
        path: Path,
    ) {
        for (connection, message) in notifications(connections, kind, path) {
            self.send_to_client(server, connection, message, own == Some(connection));
        }
    }

    /// A notification or a message sets out for a process, caused by itself or by another.
    pub(super) fn count_message(&mut self, process: ProcessId, own: bool) {
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
    pub(super) fn notified(&mut self, process: ProcessId, heard: bool) {
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
            self.look_at(process);
            self.settle();
        }
    }
}
