//! What clients ask, and what they hear.

use picklock_algorithms::clients::zookeeper::{Request, Watcher};
use picklock_checker::ContenderId;

use super::{Fate, World};
use crate::event::{ClientId, Event};
use crate::world::moments::{Moment, Occasion};
use crate::zookeeper::client::{Caller, Input};
use crate::zookeeper::messages::{ClientMessage, ConnectionId, ServerMessage};

impl World {
    /// The application asks a client for something.
    pub fn submit(
        &mut self,
        id: ClientId,
        request: Request,
        watcher: Option<Watcher>,
        caller: Caller,
    ) {
        let slot = &self.clients[id.0 as usize];
        if !slot.alive {
            return;
        }
        let now = self.local_now(slot.process);
        let machine = &mut self.clients[id.0 as usize].machine;
        match machine.ask_at_once(now, request, watcher, caller) {
            Ok((connection, message)) => {
                self.send_to_server(connection, message);
                self.count_requests(id);
            }
            Err(input) => self.tell_client(id, input),
        }
    }

    #[inline(always)]
    pub(super) fn send_to_server(&mut self, connection: ConnectionId, message: ClientMessage) {
        let client = self.connections.get(connection).client as usize;
        if let ClientMessage::Request { xid, request } = &message
            && self.minds_requests()
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
        let extra = match self.request_fate.take() {
            None => 0,
            Some(Fate::Late(by)) => by,
            Some(Fate::Lost) => {
                self.cut(connection);
                return;
            }
        };
        if self.connections.get(connection).open_at_client {
            let at = self.reaches_server_later(connection, extra);
            self.timeline.add(
                at,
                Event::ToServer {
                    connection,
                    message,
                },
            );
        }
    }

    /// A message reaches a client.
    pub(super) fn at_client(&mut self, connection: ConnectionId, message: ServerMessage) {
        let ends = *self.connections.get(connection);
        let process = self.clients[ends.client as usize].process;
        let heard = ends.open_at_client && !ends.broken;
        self.arrived(ClientId(ends.client), &message, heard);
        if heard {
            if let ServerMessage::Connected { session, .. } = message
                && (process.0 as usize) < self.contenders.len()
            {
                self.sessions.insert(session, ContenderId(process.0));
            }
            self.let_handle(
                ClientId(ends.client),
                Input::Message {
                    connection,
                    message,
                },
            );
        }
    }
}
