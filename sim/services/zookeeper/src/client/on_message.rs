//! Handles the messages of a server.

use picklock_checker::VirtualTime;

use super::connection::Phase;
use super::{Client, Output};
use crate::messages::{ConnectionId, ServerMessage};

impl Client {
    /// Takes a message on the present connection. One that is out of turn ends it.
    #[inline]
    pub(super) fn on_message(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        message: ServerMessage,
        out: &mut Vec<Output>,
    ) {
        self.last_heard = now;
        let accepted = matches!(self.phase, Phase::Connected { .. });
        match message {
            ServerMessage::Connected {
                session,
                password,
                timeout,
                read_only,
            } if !accepted => {
                self.timeout = timeout.max(1);
                self.session = session;
                self.password = password;
                self.accepted(now, connection, read_only, out);
            }
            ServerMessage::Expired => {
                out.push(Output::Disconnect { connection });
                self.die(now, out);
                self.notify_state();
            }
            ServerMessage::Reply { xid, zxid, reply } if accepted => {
                self.reply(now, connection, (xid, zxid), reply, out);
            }
            ServerMessage::Notification { kind, path } if accepted => {
                self.watches.fire(kind, path, &mut self.events);
            }
            ServerMessage::WatchesSet { zxid } if accepted => self.caught_up(zxid),
            ServerMessage::Pong if accepted => self.pings.unanswered = false,
            ServerMessage::Authenticated if accepted => {}
            ServerMessage::AuthFailed if accepted => {
                out.push(Output::Disconnect { connection });
                self.auth_failed = true;
                self.die(now, out);
                self.notify_state();
            }
            ServerMessage::Connected { .. }
            | ServerMessage::Reply { .. }
            | ServerMessage::Notification { .. }
            | ServerMessage::WatchesSet { .. }
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong => self.give_up(now, connection, out),
        }
    }
}
