//! The life of servers in the world: their connections, their links, and what they have to say.

use picklock_checker::{ServerChange, VirtualTime, time::whole_micros};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage, Xid};
use picklock_zookeeper::state::{Input, Output, later};

use super::message_size::{answers_write, bytes_of};
use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::event::Event;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::Ensemble;
use crate::trace::CONNECTION_GONE;
use crate::trace::MessageDirection::{ToClient, ToServer};
use crate::trace::MessageStep::{Closed, Lost, Received, Sent};
use crate::world::timeline_lanes::TO_CLIENTS;
use crate::world::triggers::Occasion;
use crate::world::{MessageFate, World};

/// How long a server is busy with each thing that it says, in microseconds.
pub(super) struct ServiceTimes {
    read: u64,
    write: u64,
    notification: u64,
    /// Whether a proposal takes the time of servers at all.
    pub(super) proposals_keep_busy: bool,
}

impl From<&Ensemble> for ServiceTimes {
    fn from(ensemble: &Ensemble) -> Self {
        Self {
            read: whole_micros(ensemble.read_time),
            write: whole_micros(ensemble.write_time),
            notification: whole_micros(ensemble.notification_time),
            proposals_keep_busy: !ensemble.proposal_time.is_zero(),
        }
    }
}

impl World<SimulatedZooKeeper> {
    /// Lets a server handle an input, and does what it wants done.
    #[inline(always)]
    pub(super) fn server_input(&mut self, server: ServerId, input: Input) {
        let minds = self.watches_requests();
        let slot = &mut self.service.servers[server.0 as usize];
        let out = &mut self.service.server_outputs;
        slot.machine.report_proposals(minds);
        slot.machine.handle(self.now, input, &mut self.tape, out);
        if !self.pending_writes.is_empty() {
            let mark = slot.machine.last_applied().0;
            self.replicated_up_to(server, None, mark);
        }
        // It often has nothing to say, and then there is only to be seen when it is to be woken.
        if !self.service.server_outputs.is_empty() {
            self.apply_server_outputs(server);
        } else if self.service.speaking != Some(server) {
            self.arm_server(server);
        }
    }

    /// Does what a server wants done.
    #[inline(never)]
    pub(super) fn apply_server_outputs(&mut self, server: ServerId) {
        if self.service.speaking == Some(server) {
            // A fault has struck it in the middle of what it says. It says the rest first.
            self.service
                .said_meanwhile
                .append(&mut self.service.server_outputs);
            return;
        }
        // Mostly there is one or none.
        if self.service.server_outputs.len() > 1 {
            // Somebody else may be in the middle of what it says, and have more to say afterwards.
            let before = self.service.speaking.replace(server);
            let yet_to_say = std::mem::take(&mut self.service.said_meanwhile);
            let mut outputs = std::mem::take(&mut self.service.server_outputs);
            while !outputs.is_empty() {
                for output in outputs.drain(..) {
                    self.apply_server_output(server, output);
                }
                outputs.append(&mut self.service.said_meanwhile);
            }
            self.service.server_outputs = outputs;
            self.service.said_meanwhile = yet_to_say;
            self.service.speaking = before;
        } else if let Some(output) = self.service.server_outputs.pop() {
            self.apply_server_output(server, output);
        }
        self.arm_server(server);
    }

    #[inline(always)]
    fn apply_server_output(&mut self, server: ServerId, output: Output) {
        match output {
            Output::ToClient {
                connection,
                message,
                own,
            } => {
                self.send_to_client(server, connection, message, own);
            }
            Output::Notify {
                connections,
                own,
                kind,
                path,
            } => {
                self.notify(server, (connections, own), kind, path);
            }
            Output::CloseClient { connection } => self.close_client(connection),
            Output::ToPeer { to, message, at } => self.send_to_peer(server, to, message, at),
            Output::Proposed { session, xid, kind } => self.proposed(session, xid, kind),
            Output::Committed(txn) => self.committed(server, &txn),
            Output::SessionExpired { session } => self.session_expired(server, session),
            Output::BecameLeader => {
                self.record_leader(server);
                self.server_changed(server, ServerChange::Elected);
                self.elected();
            }
            Output::StartedServing | Output::StoppedServing => self.record_role(server),
        }
    }

    /// Sees to it that a server is woken in time. Mostly that is seen to.
    #[inline(always)]
    pub(super) fn arm_server(&mut self, server: ServerId) {
        let slot = &self.service.servers[server.0 as usize];
        if slot.machine.next_wake() < slot.wake {
            self.arm_server_earlier(server);
        }
    }

    #[inline(never)]
    fn arm_server_earlier(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        if slot.up && !slot.hung {
            slot.wake = slot.machine.next_wake();
            self.timeline.add(
                slot.wake,
                Event::Service(ZooKeeperEvent::ServerWake { server }),
            );
        }
    }

    pub(super) fn server_wake(&mut self, server: ServerId) {
        let slot = &mut self.service.servers[server.0 as usize];
        if slot.wake > self.now {
            return;
        }
        slot.wake = VirtualTime::NEVER;
        let runs = slot.up && !slot.hung;
        if runs && slot.machine.next_wake() <= self.now {
            self.server_input(server, Input::Wake);
        } else {
            self.arm_server(server);
        }
    }

    /// A client knocks: taken if the server serves, refused otherwise. A server that stands still keeps it waiting.
    #[cold]
    pub(super) fn connect_request(&mut self, connection: ConnectionId) {
        let server = self.connections.get(connection).server;
        let slot = &self.service.servers[server.0 as usize];
        let taken = slot.up && slot.machine.is_serving();
        if slot.up && slot.hung {
            let knock = ZooKeeperEvent::ConnectRequest { connection };
            let _put_aside = self.deliver_to_server(server, knock);
            return;
        }
        let at = self.reaches_client(connection, self.now, 0);
        let mut news = Event::Service(ZooKeeperEvent::ConnectionReset { connection });
        if taken {
            let ends = self.connections.get_mut(connection);
            (ends.open_at_server, ends.was_opened) = (true, true);
            news = Event::Service(ZooKeeperEvent::ConnectionOpened { connection });
        }
        self.timeline.add(at, news);
    }

    #[cold]
    pub(super) fn gone(&mut self, connection: ConnectionId) {
        let server = self.connections.get(connection).server;
        let ends = self.connections.get_mut(connection);
        if std::mem::take(&mut ends.open_at_server) {
            self.trace(connection, (ToServer, Closed), &CONNECTION_GONE);
            self.record_client_gone(server, connection);
            self.server_input(server, Input::ClientGone { connection });
        }
    }

    #[inline(always)]
    pub(super) fn at_server(&mut self, connection: ConnectionId, message: ClientMessage) {
        let ends = self.connections.get(connection);
        let (process, client, server) = (ends.process, ends.client, ends.server);
        if !ends.open_at_server || ends.broken {
            self.trace(connection, (ToServer, Lost), &message);
            return;
        }
        self.trace(connection, (ToServer, Received), &message);
        if self.draining
            && let ClientMessage::Request { request, .. } = &message
            && self.tasks.are_in(process)
        {
            self.recorder.counts.requests += 1;
            self.recorder.counts.bytes += request.wire_bytes();
        }
        if let ClientMessage::Request { xid, request } = &message {
            let by = self.caller(client as usize, *xid);
            self.follow_lock_request(by, connection, (*xid, request));
        }
        self.server_input(
            server,
            Input::Client {
                connection,
                message,
            },
        );
    }

    #[inline(always)]
    pub(super) fn send_to_client(
        &mut self,
        server: ServerId,
        connection: ConnectionId,
        message: ServerMessage,
        own: bool,
    ) {
        let ends = self.connections.get(connection);
        let (process, client) = (ends.process, ends.client);
        if !ends.open_at_server || ends.broken {
            self.record_watch(server, process, &message, true);
            return;
        }
        self.trace(connection, (ToClient, Sent), &message);
        self.record_error(server, process, &message);
        let mut extra = 0;
        if let ServerMessage::Reply { xid, .. } = &message
            && self.watches_requests()
        {
            match self.fate_of_reply(connection, client as usize, *xid) {
                None => {}
                Some(MessageFate::Swallowed) => {
                    self.trace(connection, (ToClient, Lost), &message);
                    return;
                }
                Some(MessageFate::Late(by)) => extra = by,
                Some(MessageFate::Lost) => {
                    self.trace(connection, (ToClient, Lost), &message);
                    self.cut(connection);
                    return;
                }
            }
        }
        if let ServerMessage::Notification { .. } = &message {
            self.count_message(process, own);
            self.record_watch(server, process, &message, false);
        }
        self.count_bytes(process, bytes_of(&message));
        let departs = self.departs(server, &message);
        let at = self.reaches_client(connection, departs, extra);
        self.timeline.add_behind(
            TO_CLIENTS,
            at,
            Event::Service(ZooKeeperEvent::ToClient {
                connection,
                message,
            }),
        );
    }

    /// A server does one thing after the other, and each takes its time.
    fn departs(&mut self, server: ServerId, message: &ServerMessage) -> VirtualTime {
        let takes = match message {
            ServerMessage::Reply {
                reply: Ok(response),
                ..
            } if answers_write(response) => self.service.pace.write,
            ServerMessage::Reply { .. } => self.service.pace.read,
            ServerMessage::Notification { .. } => self.service.pace.notification,
            ServerMessage::Connected { .. }
            | ServerMessage::Expired
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong
            | ServerMessage::WatchesSet { .. } => 0,
        };
        let slot = &mut self.service.servers[server.0 as usize];
        slot.busy_until = later(slot.busy_until.max(self.now), takes);
        slot.busy_until
    }

    #[inline(never)]
    fn fate_of_reply(
        &mut self,
        connection: ConnectionId,
        client: usize,
        xid: Xid,
    ) -> Option<MessageFate> {
        let by = self.caller(client, xid).0;
        let number = xid.0;
        let request = RequestId { connection, number };
        match self.kind_of(client, xid) {
            Some(kind) => self.fate_of(by, Occasion::Answered(kind), request),
            None => self.planned_fate_of_reply(request),
        }
    }

    /// The server closes its end; the client learns of it when the news has travelled.
    #[cold]
    fn close_client(&mut self, connection: ConnectionId) {
        let ends = self.connections.get_mut(connection);
        if !ends.open_at_server {
            return;
        }
        ends.open_at_server = false;
        let at = self.reaches_client(connection, self.now, 0);
        self.timeline.add(
            at,
            Event::Service(ZooKeeperEvent::ConnectionReset { connection }),
        );
    }
}
