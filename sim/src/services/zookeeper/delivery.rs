//! Delivers the events of an ensemble to its servers and clients.

use picklock_zookeeper::client::Input;
use picklock_zookeeper::quorum_messages::PeerMessage;

use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::event::Event;
use crate::network::ServerId;
use crate::process::ProcessId;
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::Lost;
use crate::world::World;

/// Whom an event comes to.
enum Recipient {
    Process(ProcessId),
    Server(ServerId),
    /// Nobody, or somebody who sees for himself.
    World,
}

impl World<SimulatedZooKeeper> {
    /// Lets an event happen.
    #[inline(always)]
    pub(super) fn on_service_event(&mut self, event: ZooKeeperEvent) {
        match event {
            ZooKeeperEvent::ToServer {
                connection,
                message,
            } => self.at_server(connection, message),
            ZooKeeperEvent::ToClient {
                connection,
                message,
            } => self.at_client(connection, message),
            ZooKeeperEvent::ConnectRequest { connection } => self.connect_request(connection),
            ZooKeeperEvent::ConnectionOpened { connection } => self.opened(connection),
            ZooKeeperEvent::ConnectionReset { connection } => self.broken(connection),
            ZooKeeperEvent::ClientClosed { connection } => self.gone(connection),
            ZooKeeperEvent::IsroProbe { client, server } => self.on_isro_probe(client, server),
            ZooKeeperEvent::IsroReply { client, server } => {
                self.client_input(client, Input::Writer { server })
            }
            ZooKeeperEvent::Peer {
                from,
                to,
                life,
                departed,
                message,
            } => self.at_peer((from, life, departed), to, message),
            ZooKeeperEvent::PeerLost { server, peer } => self.peer_lost(server, peer),
            ZooKeeperEvent::ServerWake { server } => self.server_wake(server),
            ZooKeeperEvent::ClientWake { client } => self.client_wake(client),
        }
    }

    /// Answers the event if its recipient runs.
    pub(super) fn deliver_if_running(
        &mut self,
        event: ZooKeeperEvent,
    ) -> Option<Event<ZooKeeperEvent>> {
        match self.recipient(&event) {
            Recipient::World => Some(Event::Service(event)),
            Recipient::Process(process) => self.deliver_to_process(process, Event::Service(event)),
            Recipient::Server(server) => self.deliver_to_server(server, event).map(Event::Service),
        }
    }

    fn recipient(&self, event: &ZooKeeperEvent) -> Recipient {
        match event {
            ZooKeeperEvent::ToServer { connection, .. }
            | ZooKeeperEvent::ClientClosed { connection } => {
                Recipient::Server(self.connections.get(*connection).server)
            }
            ZooKeeperEvent::ToClient { connection, .. }
            | ZooKeeperEvent::ConnectionOpened { connection }
            | ZooKeeperEvent::ConnectionReset { connection } => {
                Recipient::Process(self.process_of(*connection))
            }
            ZooKeeperEvent::Peer { to, .. } => Recipient::Server(*to),
            ZooKeeperEvent::PeerLost { server, .. } => Recipient::Server(*server),
            ZooKeeperEvent::ClientWake { client } | ZooKeeperEvent::IsroReply { client, .. } => {
                Recipient::Process(self.service.clients[client.0 as usize].process)
            }
            ZooKeeperEvent::ConnectRequest { .. }
            | ZooKeeperEvent::IsroProbe { .. }
            | ZooKeeperEvent::ServerWake { .. } => Recipient::World,
        }
    }

    /// Answers the event if the server runs. One that stands still reads it when it goes on.
    pub(super) fn deliver_to_server(
        &mut self,
        server: ServerId,
        event: ZooKeeperEvent,
    ) -> Option<ZooKeeperEvent> {
        let slot = &mut self.service.servers[server.0 as usize];
        if !slot.up {
            self.trace_lost(&event);
            return None;
        }
        if slot.hung {
            slot.backlog.push(event);
            return None;
        }
        Some(event)
    }

    /// Writes down that a message has come to one who is dead, or died before it was read.
    #[cold]
    pub(super) fn trace_lost(&mut self, event: &ZooKeeperEvent) {
        match event {
            ZooKeeperEvent::ToServer {
                connection,
                message,
            } => self.trace(*connection, (ToServer, Lost), message),
            ZooKeeperEvent::ToClient {
                connection,
                message,
            } => self.trace(*connection, (ToClient, Lost), message),
            ZooKeeperEvent::Peer {
                from, to, message, ..
            } => self.trace_between((*from, *to), Lost, message, PeerMessage::is_sign_of_life),
            ZooKeeperEvent::ConnectRequest { .. }
            | ZooKeeperEvent::ConnectionOpened { .. }
            | ZooKeeperEvent::ConnectionReset { .. }
            | ZooKeeperEvent::ClientClosed { .. }
            | ZooKeeperEvent::IsroProbe { .. }
            | ZooKeeperEvent::IsroReply { .. }
            | ZooKeeperEvent::PeerLost { .. }
            | ZooKeeperEvent::ServerWake { .. }
            | ZooKeeperEvent::ClientWake { .. } => {}
        }
    }
}
