//! The life of servers in the world: their connections, their links, and what they have to say.

use picklock_checker::{ServerChange, VirtualTime, time::whole_micros};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage, Xid};
use picklock_zookeeper::state::{Input, Output};

use super::SimulatedZooKeeper;
use super::message_size::answers_write;
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::plan::Ensemble;
use crate::world::moment::Occasion;
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
    /// Lets a server handle an input.
    #[inline(always)]
    pub(super) fn handle_at(&mut self, server: ServerId, input: Input) {
        let minds = self.watches_requests();
        let slot = &mut self.host.servers[server.0 as usize];
        let out = &mut self.host.server_outputs;
        slot.machine.report_proposals(minds);
        slot.machine.handle(self.now, input, &mut self.tape, out);
        if !self.pending_writes.is_empty() {
            let mark = slot.machine.last_applied().0;
            self.replicated_up_to(server, None, mark);
        }
    }

    #[inline(always)]
    pub(super) fn apply_server_output(&mut self, server: ServerId, output: Output) {
        match output {
            Output::ToClient {
                connection,
                message,
                own,
            } => self.send_to_client(server, connection, message, own),
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

    /// A message of a client has come to a server that runs.
    #[inline(always)]
    pub(super) fn client_message_arrives(
        &mut self,
        server: ServerId,
        connection: ConnectionId,
        message: ClientMessage,
    ) {
        if let ClientMessage::Request { xid, request } = &message {
            self.count_request(connection, || request.wire_bytes());
            let by = self.caller(self.client_of(connection).0 as usize, *xid);
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

    /// What becomes of a message that a server sends: faults know of answers alone.
    #[inline(always)]
    pub(super) fn fate_of_message(
        &mut self,
        server: ServerId,
        (connection, own): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<MessageFate> {
        self.record_error(server, connection, message);
        match message {
            ServerMessage::Reply { xid, .. } if self.watches_requests() => {
                return self.fate_of_reply(connection, *xid);
            }
            ServerMessage::Notification { .. } => {
                self.count_message(self.process_of(connection), own);
                self.record_watch(connection, message);
            }
            ServerMessage::Reply { .. }
            | ServerMessage::Connected { .. }
            | ServerMessage::Expired
            | ServerMessage::Authenticated
            | ServerMessage::AuthFailed
            | ServerMessage::Pong
            | ServerMessage::WatchesSet { .. } => {}
        }
        None
    }

    /// A server does one thing after the other, and each takes its time.
    #[inline(always)]
    pub(super) fn departs(&mut self, server: ServerId, message: &ServerMessage) -> VirtualTime {
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
        self.host.servers[server.0 as usize].occupy(self.now, takes)
    }

    #[inline(never)]
    fn fate_of_reply(&mut self, connection: ConnectionId, xid: Xid) -> Option<MessageFate> {
        let client = self.client_of(connection).0 as usize;
        let by = self.caller(client, xid).0;
        let number = xid.0;
        let request = RequestId { connection, number };
        match self.kind_of(client, xid) {
            Some(kind) => self.fate_of(by, Occasion::Answered(kind), request),
            None => self.planned_fate_of_reply(request),
        }
    }
}
