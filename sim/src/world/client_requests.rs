//! What clients ask, and what they hear.

use picklock_checker::ContenderId;

use super::timeline_lanes::TO_SERVERS;
use super::{Fate, World};
use crate::event::{ClientId, Event};
use crate::world::triggers::{Moment, Occasion};
use crate::zookeeper::client::Input;
use crate::zookeeper::messages::{ClientMessage, ConnectionId, ServerMessage};

impl World {
    #[inline(always)]
    pub(super) fn send_to_server(&mut self, connection: ConnectionId, message: ClientMessage) {
        let client = self.connections.get(connection).client as usize;
        if let ClientMessage::Request { xid, request } = &message
            && self.watches_requests()
        {
            let (xid, kind) = (*xid, request.kind());
            self.clients[client].sent.push((xid, kind));
            let by = self.clients[client].process.0;
            let request = Some((connection, xid));
            self.moment(Moment {
                by,
                occasion: Occasion::Sent(kind),
                request,
            });
        }
        let Some(extra) = self.delay_of_request() else {
            self.cut(connection);
            return;
        };
        if self.connections.get(connection).open_at_client {
            let at = self.reaches_server_later(connection, extra);
            self.timeline.add_behind(
                TO_SERVERS,
                at,
                Event::ToServer {
                    connection,
                    message,
                },
            );
        }
    }

    /// By how much the request that is being sent comes late; `None` if it is lost, and its connection with it.
    #[inline(always)]
    pub(super) fn delay_of_request(&mut self) -> Option<u64> {
        match self.request_fate.take() {
            None => Some(0),
            Some(Fate::Late(by)) => Some(by),
            Some(Fate::Lost) => None,
        }
    }

    /// A message reaches a client.
    pub(super) fn at_client(&mut self, connection: ConnectionId, message: ServerMessage) {
        let ends = *self.connections.get(connection);
        let id = ClientId(ends.client);
        let heard = ends.open_at_client && !ends.broken;
        self.arrived(id, &message, heard);
        if !heard {
            return;
        }
        if let ServerMessage::Connected { session, .. } = message {
            let process = ends.process;
            if (process.0 as usize) < self.contenders.len() {
                self.sessions.insert(session, ContenderId(process.0));
            }
        }
        if self.believes_in_vain(ends.process) {
            self.loss_delivered(id, connection, &message);
        }
        let input = Input::Message {
            connection,
            message,
        };
        self.client_input(id, input);
    }
}
