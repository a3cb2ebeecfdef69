//! The requests of clients, and the messages that reach them.

use picklock_zookeeper::messages::{ClientMessage, ServerMessage};

use super::SimulatedZooKeeper;
use crate::event::ClientId;
use crate::network::{ConnectionId, RequestId};
use crate::world::moment::{Moment, Occasion};
use crate::world::{NO_CONTENDER, World};

impl World<SimulatedZooKeeper> {
    #[inline(always)]
    pub(super) fn send_request(&mut self, connection: ConnectionId, message: ClientMessage) {
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
            self.host.clients[client].state.sent.push((xid, kind));
            let by = self.caller(client, xid).0;
            let number = xid.0;
            let request = RequestId { connection, number };
            self.moment(Moment::new(by, Occasion::Sent(kind)).about(request));
        }
        self.send_to_server(connection, message);
    }

    /// A message has come to a client. Answers the moment of an answer that faults may wait for.
    #[inline(always)]
    pub(super) fn message_arrives(
        &mut self,
        id: ClientId,
        (connection, heard): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<Moment> {
        self.arrived(id, message, heard);
        if !heard {
            self.record_lost_watch(connection, message);
            return None;
        }
        if let ServerMessage::Connected { session, .. } = *message {
            let by = self.host.clients[id.0 as usize].by;
            if by != NO_CONTENDER && self.note_session(session, id, by) {
                self.record_new_session(self.server_of(connection), session, by);
            }
        }
        if let ServerMessage::Reply { xid, .. } = message
            && self.shares_clients()
        {
            self.watch_answered(id, *xid);
        }
        if self.a_user_believes_without_owning(id) {
            self.loss_delivered(id, connection, message);
        }
        match message {
            ServerMessage::Reply { xid, .. } if self.watches_requests() => {
                let number = xid.0;
                let request = RequestId { connection, number };
                self.answer_arrives(|answered| answered == request)
            }
            _ => None,
        }
    }
}
