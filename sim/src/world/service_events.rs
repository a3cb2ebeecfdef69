//! Writes down what servers do and find, for whoever wants to be told.

use picklock_checker::service_event::ServiceEventKind;
use picklock_checker::{ContenderId, ServiceEvent};

use super::{SimulatedService, World};
use crate::network::ServerId;
use crate::process::ProcessId;

/// So many events are written down. Whoever reads them has seen enough.
const EVENTS: usize = 100_000;

impl<S: SimulatedService> World<S> {
    /// Whether somebody wants to be told what servers do.
    #[inline(always)]
    pub(crate) fn records_service_events(&self) -> bool {
        self.recorder.records_service_events
    }

    /// Writes down what a server, or a Sentinel, does or finds. To be called only if
    /// [`records_service_events`](Self::records_service_events).
    #[cold]
    #[inline(never)]
    pub(crate) fn record_service_event(&mut self, machine: ServerId, what: ServiceEventKind) {
        let history = &mut self.recorder.history;
        if history.service.len() < EVENTS {
            history.service.push(ServiceEvent {
                at: self.now,
                after: history.events.len(),
                machine: self.plan.service.machine_name(machine.0),
                what,
            });
        }
    }

    /// The contender of a process, if it is one's; of several, the first.
    pub(crate) fn contender_of(&self, process: ProcessId) -> Option<ContenderId> {
        self.tasks_of(process).next()
    }
}

/// A server, as histories name it.
pub(crate) fn named(server: ServerId) -> picklock_checker::ServerId {
    picklock_checker::ServerId(server.0.into())
}
