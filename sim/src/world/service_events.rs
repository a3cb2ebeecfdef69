//! Writes down what servers do and find, as service events.

use picklock_checker::service_event::ServiceEventKind as What;
use picklock_checker::{ContenderId, ServiceEvent};

use super::{SimulatedService, World};
use crate::network::{ConnectionId, ServerId};
use crate::process::ProcessId;

/// So many events are written down: enough for any reader.
const EVENTS: usize = 100_000;

impl<S: SimulatedService> World<S> {
    /// Whether service events are recorded.
    #[inline(always)]
    pub(crate) fn records_service_events(&self) -> bool {
        self.recorder.records_service_events
    }

    /// Writes down what a server, or a Sentinel, does or finds. To be called only if
    /// [`records_service_events`](Self::records_service_events).
    #[cold]
    #[inline(never)]
    pub(crate) fn record_service_event(&mut self, machine: ServerId, what: What) {
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

    /// Writes down an error that a contender is answered with.
    #[inline(always)]
    pub(crate) fn record_error_reply(
        &mut self,
        connection: ConnectionId,
        error: impl FnOnce() -> Option<String>,
    ) {
        if self.records_service_events()
            && let Some(error) = error()
            && let Some(to) = self.contender_of(self.process_of(connection))
        {
            let server = self.server_of(connection);
            self.record_service_event(server, What::ErrorReply { to, error });
        }
    }

    /// Writes down that a server learns that the connection of a contender's client is gone.
    pub(crate) fn record_client_gone(&mut self, connection: ConnectionId) {
        if self.records_service_events()
            && let Some(of) = self.contender_of(self.process_of(connection))
        {
            let server = self.server_of(connection);
            self.record_service_event(server, What::ClientGone { of });
        }
    }

    /// Writes down that a server leads, and a quorum follows. One of this number led from the start.
    pub(crate) fn record_leader(&mut self, server: ServerId, epoch: u32, first: u8) {
        if !self.records_service_events() {
            return;
        }
        let led = self.recorder.history.service.iter().rev();
        let mut led = led.filter(|event| matches!(event.what, What::Leading { .. }));
        let name = |index: u8| self.plan.service.machine_name(index);
        let previous = match led.next() {
            None => Some(first),
            Some(event) => (0..=first).find(|index| name(*index) == event.machine),
        };
        let previous = previous.map(|index| named(ServerId(index)));
        self.record_service_event(server, What::Leading { epoch, previous });
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
