//! Delivers what happens at Redis and at no other service.

use picklock_redis::{BusMessage, PeerMessage};

use super::SimulatedRedis;
use super::event::{RedisEvent, SentinelEvent};
use crate::network::ServerId;
use crate::trace::MessageStep::Lost;
use crate::world::{Recipient, World};

impl World<SimulatedRedis> {
    /// Lets an event of Redis happen.
    #[inline(never)]
    pub(super) fn on_redis_event(&mut self, event: RedisEvent) {
        match event {
            RedisEvent::ConnectionGivenUp { connection } => self.given_up(connection),
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

    /// The machine that an event of Redis comes to.
    pub(super) fn recipient_of(&self, event: &RedisEvent) -> Recipient {
        match event {
            RedisEvent::ConnectionGivenUp { connection } => {
                Recipient::Client(self.client_of(*connection))
            }
            // Lost with its sender, before it has come as far as the machine.
            RedisEvent::ToPeer { link, .. } if !self.service.link_is_open(*link) => Recipient::Lost,
            RedisEvent::ToPeer { to: server, .. }
            | RedisEvent::ToNode { to: server, .. }
            | RedisEvent::LinkClosed { server, .. } => Recipient::Server(*server),
            RedisEvent::LinkEstablished { link, .. } => {
                Recipient::Server(self.service.replica_of(*link))
            }
            RedisEvent::Sentinel(news) => match **news {
                // A machine that stands still has a kernel, and its own look at the clock sees for itself.
                SentinelEvent::ConnectRequest { .. } | SentinelEvent::Wake { .. } => {
                    Recipient::World
                }
                SentinelEvent::Asked { .. }
                | SentinelEvent::HungUp { .. }
                | SentinelEvent::Answered { .. }
                | SentinelEvent::Closed { .. } => Recipient::Server(news.recipient()),
            },
            RedisEvent::LeaseEnds { .. }
            | RedisEvent::ReplicaConnectRequest { .. }
            | RedisEvent::Demote { .. }
            | RedisEvent::SlotMoves { .. } => Recipient::World,
        }
    }

    /// Writes down that a message between servers has come to a dead machine, or that its link is gone.
    #[cold]
    pub(super) fn trace_lost_between(&mut self, event: &RedisEvent) {
        match event {
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
            RedisEvent::ConnectionGivenUp { .. }
            | RedisEvent::LeaseEnds { .. }
            | RedisEvent::ReplicaConnectRequest { .. }
            | RedisEvent::LinkEstablished { .. }
            | RedisEvent::LinkClosed { .. }
            | RedisEvent::Demote { .. }
            | RedisEvent::SlotMoves { .. } => {}
        }
    }
}
