//! Delivers the events of Redis to its servers, Sentinels, and clients.

use picklock_checker::service_event::MessageLoss;
use picklock_redis::{BusMessage, PeerMessage};

use super::command_text::CommandText;
use super::event::{RedisEvent, SentinelEvent};
use super::{SimulatedRedis, is_message};
use crate::event::{ClientId, Event};
use crate::network::ServerId;
use crate::process::ProcessId;
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::Lost;
use crate::world::World;

impl World<SimulatedRedis> {
    /// Lets an event of Redis happen.
    #[inline(never)]
    pub(super) fn on_service_event(&mut self, event: RedisEvent) {
        match event {
            RedisEvent::ToServer {
                connection,
                command,
            } => self.at_server(connection, command),
            RedisEvent::ToClient { connection, value } => {
                self.at_client(connection, value);
            }
            RedisEvent::ConnectRequest { connection } => self.connect_request(connection),
            RedisEvent::ConnectionOpened { connection } => self.opened(connection),
            RedisEvent::ConnectionReset { connection } => self.broken(connection),
            RedisEvent::ConnectionGivenUp { connection } => self.given_up(connection),
            RedisEvent::ClientClosed { connection } => self.gone(connection),
            RedisEvent::ServerWake { server } => self.server_wake(server),
            RedisEvent::ClientWake { client } => self.client_wake(client),
            RedisEvent::LeaseEnds { server } => self.lease_ends(server),
            RedisEvent::ReplicaConnectRequest { link } => self.replica_connect_request(link),
            RedisEvent::LinkEstablished { link, up } => self.link_completed(link, up),
            RedisEvent::ToPeer { to, link, message } => self.at_peer(to, link, *message),
            RedisEvent::ToNode { to, message } => self.at_node(to, message),
            RedisEvent::LinkClosed { server, link } => self.link_gone(server, link),
            RedisEvent::Demote { server } => self.demote(server),
            RedisEvent::SlotMoves { fault } => self.slot_moves(fault),
            RedisEvent::Sentinel(event) => self.dispatch_sentinel(*event),
        }
    }

    /// Answers the event if its recipient runs.
    pub(super) fn deliver_if_running(&mut self, event: RedisEvent) -> Option<Event<RedisEvent>> {
        match &event {
            RedisEvent::ToServer { connection, .. } | RedisEvent::ClientClosed { connection } => {
                let connection = *connection;
                let server = self.server_of(connection);
                let delivered = self.deliver_to_server(server, event);
                if delivered.is_none() {
                    self.is_not_acknowledged(server, connection);
                }
                delivered.map(Event::Service)
            }
            RedisEvent::ToClient { connection, .. }
            | RedisEvent::ConnectionOpened { connection }
            | RedisEvent::ConnectionReset { connection }
            | RedisEvent::ConnectionGivenUp { connection } => {
                let client = ClientId(self.connections.get(*connection).client);
                self.deliver_to_client(client, event)
            }
            RedisEvent::ClientWake { client } => self.deliver_to_client(*client, event),
            // Lost with its sender, before it has come as far as the machine.
            RedisEvent::ToPeer { link, .. } if !self.service.link_is_open(*link) => {
                self.trace_lost(&event);
                None
            }
            RedisEvent::ToPeer { to: server, .. }
            | RedisEvent::ToNode { to: server, .. }
            | RedisEvent::LinkClosed { server, .. } => {
                self.deliver_to_server(*server, event).map(Event::Service)
            }
            RedisEvent::LinkEstablished { link, .. } => {
                let replica = self.service.replica_of(*link);
                self.deliver_to_server(replica, event).map(Event::Service)
            }
            RedisEvent::Sentinel(news) => match **news {
                // A machine that stands still has a kernel, and its own look at the clock sees for itself.
                SentinelEvent::ConnectRequest { .. } | SentinelEvent::Wake { .. } => {
                    Some(Event::Service(event))
                }
                SentinelEvent::Asked { .. }
                | SentinelEvent::HungUp { .. }
                | SentinelEvent::Answered { .. }
                | SentinelEvent::Closed { .. } => {
                    let whom = news.recipient();
                    self.deliver_to_server(whom, event).map(Event::Service)
                }
            },
            RedisEvent::ConnectRequest { .. }
            | RedisEvent::ServerWake { .. }
            | RedisEvent::LeaseEnds { .. }
            | RedisEvent::ReplicaConnectRequest { .. }
            | RedisEvent::Demote { .. }
            | RedisEvent::SlotMoves { .. } => Some(Event::Service(event)),
        }
    }

    fn deliver_to_server(&mut self, server: ServerId, event: RedisEvent) -> Option<RedisEvent> {
        let life = self.service.life(server);
        if life.is_up() {
            return life.receive(event);
        }
        self.trace_lost(&event);
        None
    }

    /// Writes down that a message has come to one who is dead, or died before it was read, or that its link is gone.
    #[cold]
    pub(super) fn trace_lost(&mut self, event: &RedisEvent) {
        match event {
            RedisEvent::ToServer {
                connection,
                command,
            } => self.trace(*connection, (ToServer, Lost), &CommandText(command)),
            RedisEvent::ToClient { connection, value } => {
                self.trace(*connection, (ToClient, Lost), value);
            }
            RedisEvent::ToPeer { to, link, message } => {
                let from = self.service.links[link.0 as usize].other(*to);
                let message: &PeerMessage = message;
                self.trace_between((from, *to), Lost, message, PeerMessage::is_sign_of_life);
            }
            RedisEvent::ToNode { to, message } => {
                let message: &BusMessage = message;
                let ends = (ServerId(message.from().0), *to);
                self.trace_between(ends, Lost, message, BusMessage::is_sign_of_life);
            }
            RedisEvent::Sentinel(news) => self.trace_lost_call(news),
            RedisEvent::ConnectRequest { .. }
            | RedisEvent::ConnectionOpened { .. }
            | RedisEvent::ConnectionReset { .. }
            | RedisEvent::ConnectionGivenUp { .. }
            | RedisEvent::ClientClosed { .. }
            | RedisEvent::ServerWake { .. }
            | RedisEvent::ClientWake { .. }
            | RedisEvent::LeaseEnds { .. }
            | RedisEvent::ReplicaConnectRequest { .. }
            | RedisEvent::LinkEstablished { .. }
            | RedisEvent::LinkClosed { .. }
            | RedisEvent::Demote { .. }
            | RedisEvent::SlotMoves { .. } => {}
        }
    }

    /// What the dead do not hear.
    pub(super) fn drop_event(&mut self, process: ProcessId, event: &RedisEvent) {
        if let RedisEvent::ToClient { connection, value } = event
            && is_message(value)
            && !self.service.is_sentinel(self.server_of(*connection))
        {
            self.record_lost_message(*connection, value, MessageLoss::ConnectionGone);
            self.unheard(process);
        }
        self.trace_lost(event);
    }
}
