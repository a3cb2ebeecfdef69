//! The requests of clients, and the messages that reach them.

use picklock_zookeeper::client::Input;
use picklock_zookeeper::messages::{ClientMessage, ServerMessage};

use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::event::{ClientId, Event};
use crate::network::{ConnectionId, RequestId};
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::{Lost, Received};
use crate::world::timeline_lanes::TO_SERVERS;
use crate::world::triggers::{Moment, Occasion};
use crate::world::{NO_CONTENDER, World};

impl World<SimulatedZooKeeper> {
    #[inline(always)]
    pub(super) fn send_to_server(&mut self, connection: ConnectionId, message: ClientMessage) {
        let client = self.connections.get(connection).client as usize;
        if self.shares_clients()
            && let ClientMessage::Request { xid, request } = &message
        {
            self.note_caller(client, *xid, request);
        }
        if let ClientMessage::Request { xid, request } = &message
            && self.watches_requests()
        {
            let (xid, kind) = (*xid, request.kind());
            self.service.clients[client].sent.push((xid, kind));
            let by = self.caller(client, xid).0;
            let number = xid.0;
            let request = RequestId { connection, number };
            self.moment(Moment::new(by, Occasion::Sent(kind)).about(request));
        }
        let Some(extra) = self.sends(connection, &message) else {
            self.cut(connection);
            return;
        };
        if !self.connections.get(connection).open_at_client {
            return self.trace(connection, (ToServer, Lost), &message);
        }
        let at = self.reaches_server(connection, extra);
        self.timeline.add_behind(
            TO_SERVERS,
            at,
            Event::Service(ZooKeeperEvent::ToServer {
                connection,
                message,
            }),
        );
    }

    /// A message reaches a client.
    pub(super) fn at_client(&mut self, connection: ConnectionId, message: ServerMessage) {
        let ends = *self.connections.get(connection);
        let id = ClientId(ends.client);
        let heard = ends.open_at_client && !ends.broken;
        let step = if heard { Received } else { Lost };
        self.trace(connection, (ToClient, step), &message);
        self.arrived(id, &message, heard);
        if !heard {
            self.record_watch(ends.server, ends.process, &message, true);
            return;
        }
        if let ServerMessage::Connected { session, .. } = message {
            let by = self.service.clients[id.0 as usize].by;
            if by != NO_CONTENDER && self.note_session(session, id, by) {
                self.record_new_session(ends.server, session, by);
            }
        }
        if let ServerMessage::Reply { xid, .. } = &message
            && self.shares_clients()
        {
            self.watch_answered(id, *xid);
        }
        if self.a_user_believes_without_owning(id) {
            self.loss_delivered(id, connection, &message);
        }
        let received = match &message {
            ServerMessage::Reply { xid, .. } if self.watches_requests() => {
                let request = RequestId {
                    connection,
                    number: xid.0,
                };
                self.answer_arrives(|answered| answered == request)
            }
            _ => None,
        };
        let input = Input::Message {
            connection,
            message,
        };
        self.frequent_client_input(id, input);
        if let Some(received) = received {
            self.moment(received);
        }
    }
}
