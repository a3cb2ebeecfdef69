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

/// Time for a release to be heard of, where nothing breaks.
const RELEASE_PROPAGATION: Duration = Duration::from_secs(3);

impl World<SimulatedZooKeeper> {
    /// A client has closed a connection: perhaps because what came by it was too long.
    #[cold]
    pub(super) fn check_list_too_long(&mut self, client: ClientId) {
        let machine = &mut self.host.clients[client.0 as usize].machine;
        let Some(list) = machine.take_too_long() else {
            return;
        };
        let state = (self.grants(), self.contenders_active);
        if self.service.list_retries.list.is_none() || self.service.list_retries.state != state {
            self.service.list_retries.since = self.now;
            self.service.list_retries.state = state;
        }
        self.service.list_retries.list = Some(*list);
        // The holder has given the lock back by then, and the nodes of the dead are gone.
        let workload = &self.plan.workload;
        let holds = workload.each(|name| workload.hold_of(name));
        let holds = holds.map(|(hold, _)| match hold {
            Hold::For(hold) => hold,
            Hold::Settled => Duration::ZERO,
        });
        let hold = holds.max().unwrap_or_default();
        let patient = !workload.has_acquire_timeout();
        // Where nothing breaks, no contender is dead, and a release shows at once.
        let nodes_of_the_dead = match self.plan.faults.is_empty() {
            true => RELEASE_PROPAGATION,
            false => self.lease * 2,
        };
        let wait = hold + nodes_of_the_dead;
        if patient && self.is_calm() && self.now >= self.service.list_retries.since + wait {
            self.ended = self.ended.or(Some(Ended::BoundReached));
        }
    }

    /// The list that was too long to read, if nothing else has happened since it was last requested.
    pub(super) fn unreadable_list(&self) -> Option<ListTooLong> {
        let state = (self.grants(), self.contenders_active);
        self.service
            .list_retries
            .list
            .filter(|_| self.service.list_retries.state == state)
    }
}
