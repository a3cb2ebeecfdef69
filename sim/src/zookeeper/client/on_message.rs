//! What a client makes of what it hears.

use picklock_checker::VirtualTime;

use super::connection::Phase;
use super::{Client, Output};
use crate::choice_source::Chance;
use crate::zookeeper::messages::{ConnectionId, ServerMessage};

/// What is to be done after a client has heard something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Notification,
    /// Nothing, and one request less is unanswered.
    Reply,
    /// Whatever it wants done.
    Other {
        /// [`Client::next_wake`] may have become earlier.
        earlier: bool,
    },
}

impl Client {
    /// A server says something on a connection; one that was given up is not listened to.
    ///
    /// Nearly always it is a notification, or the answer to the only request, and nothing else is to be done.
    #[inline(always)]
    pub fn hear(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        message: ServerMessage,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Heard {
        if now < self.quiet_until && self.phase == (Phase::Connected { connection }) {
            match message {
                ServerMessage::Notification { kind, path } => {
                    self.last_heard = now;
                    self.last_awake = now;
                    self.watches.fire(kind, path, &mut self.events);
                    return Heard::Notification;
                }
                ServerMessage::Reply { xid, zxid, reply }
                    if !self.closing
                        && xid.next() == self.next_xid
                        && !reply
                            .as_ref()
                            .is_ok_and(|it| it.is_too_long(self.settings.jute_max_buffer))
                        && self.waiting.len() == 1
                        && let Some(waiting) = self.waiting.pop() =>
                {
                    self.last_heard = now;
                    self.last_awake = now;
                    self.caught_up(zxid);
                    waiting.answer(&mut self.watches, &mut self.events, reply);
                    return Heard::Reply;
                }
                other => return self.hear_other(now, connection, other, chance, out),
            }
        }
        self.hear_other(now, connection, message, chance, out)
    }

    #[inline(never)]
    fn hear_other(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        message: ServerMessage,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Heard {
        let quiet = self.wakes(now, chance, out);
        if self.phase.connection() == Some(connection) {
            self.last_heard = now;
            self.heed(now, connection, message, out);
        }
        let earlier = self.rests(now, quiet, chance, out);
        Heard::Other { earlier }
    }

    /// Takes a message on the present connection. One that is out of turn ends it.
    fn heed(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        message: ServerMessage,
        out: &mut Vec<Output>,
    ) {
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
                self.tell();
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
                self.disbelieved = true;
                self.die(now, out);
                self.tell();
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
