//! Lists that are too long to be read: a client that gets one loses its connection, comes back, and asks again. If that
//! is all that happens, the run ends, since it would go on for ever.

use std::time::Duration;

use picklock_checker::{Ended, ListTooLong, VirtualTime};

use super::SimulatedZooKeeper;
use crate::event::ClientId;
use crate::plan::Hold;
use crate::world::World;

/// Since when nothing has changed but that clients have asked in vain.
#[derive(Default)]
pub(super) struct ListRetries {
    since: VirtualTime,
    /// How often the lock was granted, and how many contenders had not finished.
    state: (u64, usize),
    list: Option<ListTooLong>,
}

impl World<SimulatedZooKeeper> {
    /// A client has closed a connection: perhaps because what came by it was too long.
    #[cold]
    pub(super) fn check_list_too_long(&mut self, client: ClientId) {
        let machine = &mut self.service.clients[client.0 as usize].machine;
        let Some(list) = machine.take_too_long() else {
            return;
        };
        let state = (self.ownership.grants(), self.contenders_active);
        if self.service.list_retries.list.is_none() || self.service.list_retries.state != state {
            self.service.list_retries.since = self.now;
            self.service.list_retries.state = state;
        }
        self.service.list_retries.list = Some(*list);
        // Who holds the lock has let go of it by then, and the nodes of the dead are gone.
        let hold = match self.plan.workload.hold {
            Hold::For(hold) => hold,
            Hold::Settled => Duration::ZERO,
        };
        let patient = self.plan.workload.acquire_timeout.is_none();
        if patient
            && self.is_calm()
            && self.now >= self.service.list_retries.since + hold + self.lease * 2
        {
            self.ended = self.ended.or(Some(Ended::BoundReached));
        }
    }

    /// The list that nobody could read, if nothing else has happened since it was asked for last.
    pub(super) fn list_that_nobody_reads(&self) -> Option<ListTooLong> {
        let state = (self.ownership.grants(), self.contenders_active);
        self.service
            .list_retries
            .list
            .filter(|_| self.service.list_retries.state == state)
    }
}
