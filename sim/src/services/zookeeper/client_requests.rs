//! The requests of clients, and the messages that reach them.

use picklock_zookeeper::messages::ClientMessage;

use super::SimulatedZooKeeper;
use crate::network::{ConnectionId, RequestId};
use crate::world::World;
use crate::world::moment::{Moment, MomentKind};

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
            self.moment(Moment::new(by, MomentKind::Sent(kind)).about(request));
        }
        self.send_to_server(connection, message);
    }
}
