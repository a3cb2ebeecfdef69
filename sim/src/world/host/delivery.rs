//! Delivers what happens at a service to its servers and clients.

use picklock_checker::VirtualTime;

use super::{HostEvent, Recipient, SimulatedService};
use crate::event::{ClientId, Event};
use crate::network::ServerId;
use crate::process::ProcessId;
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::Lost;
use crate::world::World;

impl<S: SimulatedService> World<S> {
    /// Lets something happen at the service.
    #[inline(always)]
    pub(in crate::world) fn on_host_event(&mut self, event: HostEvent<S>) {
        match event {
            HostEvent::ToServer {
                connection,
                message,
            } => self.at_server(connection, message),
            HostEvent::ToClient {
                connection,
                message,
            } => self.at_client(connection, message),
            HostEvent::ConnectRequest { connection } => self.connect_request(connection),
            HostEvent::ConnectionOpened { connection } => self.opened(connection),
            HostEvent::ConnectionReset { connection } => self.broken(connection),
            HostEvent::ClientClosed { connection } => self.gone(connection),
            HostEvent::ServerWake { server } => self.server_wake(server),
            HostEvent::ClientWake { client } => self.client_wake(client),
            HostEvent::Own(event) => S::on_own_event(self, event),
        }
    }

    /// Something that only this service has is going to happen.
    #[inline]
    pub(crate) fn schedule(&mut self, at: VirtualTime, event: S::OwnEvent) {
        self.timeline.add(at, Event::Service(HostEvent::Own(event)));
    }

    /// Answers the event if the machine runs that it comes to. One that stands still reads it when it goes on; at a
    /// dead one it is lost.
    pub(in crate::world) fn deliver_to_machine(
        &mut self,
        event: HostEvent<S>,
    ) -> Option<Event<HostEvent<S>>> {
        match self.recipient(&event) {
            Recipient::World => Some(Event::Service(event)),
            Recipient::Client(client) => self.deliver_to_client(client, event),
            Recipient::Server(server) => self.deliver_to_server(server, event).map(Event::Service),
            Recipient::Lost => {
                self.trace_lost(&event);
                None
            }
        }
    }

    fn recipient(&self, event: &HostEvent<S>) -> Recipient {
        match event {
            HostEvent::ToServer { connection, .. } | HostEvent::ClientClosed { connection } => {
                Recipient::Server(self.server_of(*connection))
            }
            HostEvent::ToClient { connection, .. }
            | HostEvent::ConnectionOpened { connection }
            | HostEvent::ConnectionReset { connection } => {
                Recipient::Client(self.client_of(*connection))
            }
            HostEvent::ClientWake { client } => Recipient::Client(*client),
            HostEvent::ConnectRequest { .. } | HostEvent::ServerWake { .. } => Recipient::World,
            HostEvent::Own(event) => S::recipient(self, event),
        }
    }

    fn deliver_to_client(
        &mut self,
        client: ClientId,
        event: HostEvent<S>,
    ) -> Option<Event<HostEvent<S>>> {
        let process = self.host.clients[client.0 as usize].process;
        match self.deliver_to_process(process, Event::Service(event))? {
            Event::Service(event) => S::reads(self, client, event).map(Event::Service),
            event => Some(event),
        }
    }

    /// Answers the event if the server runs. One that stands still reads it when it goes on.
    pub(crate) fn deliver_to_server(
        &mut self,
        server: ServerId,
        event: HostEvent<S>,
    ) -> Option<HostEvent<S>> {
        let process = S::process(self, server);
        if process.is_up() {
            return process.receive(event);
        }
        self.trace_lost(&event);
        if let HostEvent::ToServer { connection, .. } | HostEvent::ClientClosed { connection } =
            event
        {
            S::undelivered(self, server, connection);
        }
        None
    }

    /// What has come to a process that is dead is lost.
    pub(crate) fn drop_for_dead_client(&mut self, process: ProcessId, event: &HostEvent<S>) {
        if let HostEvent::ToClient {
            connection,
            message,
        } = event
        {
            S::reply_died(self, process, *connection, message);
        }
        self.trace_lost(event);
    }

    /// Writes down that a message has come to a dead machine, or that its recipient died before it was read.
    #[cold]
    pub(crate) fn trace_lost(&mut self, event: &HostEvent<S>) {
        match event {
            HostEvent::ToServer {
                connection,
                message,
            } => self.trace_message(*connection, (ToServer, Lost), message),
            HostEvent::ToClient {
                connection,
                message,
            } => self.trace_message(*connection, (ToClient, Lost), message),
            HostEvent::Own(event) => S::trace_lost(self, event),
            HostEvent::ConnectRequest { .. }
            | HostEvent::ConnectionOpened { .. }
            | HostEvent::ConnectionReset { .. }
            | HostEvent::ClientClosed { .. }
            | HostEvent::ServerWake { .. }
            | HostEvent::ClientWake { .. } => {}
        }
    }
}
