//! Dispatches the requests of clients: answers them, or forwards them to the leader.

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{Reply, Request, SessionId, ZkError, Zxid};

use super::clients::{Awaited, Decision, Local};
use super::messages::{ClientMessage, ConnectionId, Password, ServerMessage, Xid};
use super::proposals::Writer;
use super::quorum_messages::{Forwarded, PeerBody, Submission};
use super::session_tracker::password_of;
use super::state::{Output, Role, Server, Turn};

/// Silent connections are looked for this often, in microseconds.
const IDLE_INTERVAL: u64 = 10_000_000;

impl Server {
    pub(super) fn client(&mut self, turn: &mut Turn, id: ConnectionId, message: ClientMessage) {
        if !self.serving {
            return;
        }
        if self.clients.is_throttled(id) {
            self.clients.unread.entry(id).or_default().push(message);
            return;
        }
        if self.read_only.is_some() {
            self.client_of_read_only(turn, id, message);
            return;
        }
        match message {
            ClientMessage::Connect {
                session,
                password,
                timeout,
                last_zxid,
                ..
            } => {
                self.connect(turn, id, session, password, timeout, last_zxid);
            }
            // No server reads so much: the connection goes.
            ClientMessage::Request { request, .. }
                if request.is_too_long(self.settings.jute_max_buffer) =>
            {
                self.close_connection(turn, id);
            }
            ClientMessage::Request { xid, request } => {
                if let Some(session) = self.touch(turn, id) {
                    self.request(turn, session, id, xid, request);
                }
            }
            ClientMessage::Authenticate { scheme, secret } => {
                self.authenticate(turn, id, &scheme, &secret);
            }
            ClientMessage::Ping => self.in_turn(turn, id, Local::Ping),
            ClientMessage::SetWatches(tables) => self.in_turn(turn, id, Local::SetWatches(tables)),
            ClientMessage::Close { xid } => self.close_session(turn, id, xid),
        }
    }

    #[cold]
    fn close_session(&mut self, turn: &mut Turn, id: ConnectionId, xid: Xid) {
        if let Some(session) = self.touch(turn, id) {
            self.clients
                .await_decision(session, id, Decision::Close { xid });
            self.forward(turn, session, xid, Submission::Close);
        }
    }

    /// A client says who it is. It is answered at once, before what it asked for earlier.
    #[cold]
    pub(super) fn authenticate(
        &mut self,
        turn: &mut Turn,
        id: ConnectionId,
        scheme: &str,
        secret: &[u8],
    ) {
        let Some(connection) = self.clients.connections.get_mut(id) else {
            return;
        };
        match connection.who.authenticate(scheme, secret) {
            Ok(()) => turn.send_to_client(id, ServerMessage::Authenticated),
            Err(_) => {
                turn.send_to_client(id, ServerMessage::AuthFailed);
                self.close_connection(turn, id);
            }
        }
    }

    fn request(
        &mut self,
        turn: &mut Turn,
        session: SessionId,
        id: ConnectionId,
        xid: Xid,
        request: Request,
    ) {
        if request.is_write() {
            self.write(turn, session, id, xid, request);
        } else if matches!(request, Request::Sync { .. }) && !matches!(self.role, Role::Leading(_))
        {
            // On the leader's own port `sync` is a read like any other.
            self.clients
                .await_decision(session, id, Decision::Sync { xid });
            self.forward(turn, session, xid, Submission::Sync);
        } else if self.clients.is_waiting(session) {
            let read = Awaited::Local(Box::new(Local::Read { xid, request }));
            self.clients.queue(session, id, read);
        } else {
            self.do_read(turn, id, xid, &request);
        }
    }

    /// Has the leader decide about a request.
    fn write(
        &mut self,
        turn: &mut Turn,
        session: SessionId,
        id: ConnectionId,
        xid: Xid,
        request: Request,
    ) {
        let with_stat = matches!(&request, Request::Create(node) if node.with_stat());
        let write = Decision::Write { xid, with_stat };
        self.clients.await_decision(session, id, write);
        self.clients.throttle(id, self.settings.outstanding_limit);
        let Some(connection) = self.clients.connections.get(id) else {
            return;
        };
        let who = connection.who.clone();
        if matches!(self.role, Role::Leading(_)) {
            let by = Writer {
                session,
                who,
                through: self.id,
                tracked: connection.tracked,
            };
            self.submit_write(turn, by, xid, &request);
        } else {
            self.forward(turn, session, xid, Submission::Write(request, who));
        }
    }

    /// Notes a sign of life of a connection's session. Answers the session, or `None` if it is not to be served.
    #[inline(never)]
    fn touch(&mut self, turn: &Turn, id: ConnectionId) -> Option<SessionId> {
        let connection = self.clients.connections.get_mut(id)?;
        if !connection.established {
            return None;
        }
        connection.last_heard = turn.now;
        let session = connection.session;
        match &mut self.role {
            Role::Leading(leading) => {
                let index = &mut connection.tracked;
                let tracker = &mut leading.tracker;
                let alive = tracker.touch_at(index, turn.now, session, connection.timeout);
                alive.then_some(session)
            }
            Role::Following(_) => {
                if connection.touched != self.touch_turn {
                    connection.touched = self.touch_turn;
                    self.touched.push((session, connection.timeout));
                }
                Some(session)
            }
            Role::Down | Role::Looking(_) => None,
        }
    }

    /// Hands a request to the leader, which may be this server.
    fn forward(&mut self, turn: &mut Turn, session: SessionId, xid: Xid, what: Submission) {
        let forwarded = Forwarded { session, xid, what };
        match &self.role {
            Role::Leading(_) => self.submit(turn, self.id, forwarded),
            Role::Following(_) => self.send_to_leader(turn, PeerBody::Forward(Box::new(forwarded))),
            Role::Down | Role::Looking(_) => {}
        }
    }

    #[cold]
    fn connect(
        &mut self,
        turn: &mut Turn,
        id: ConnectionId,
        session: SessionId,
        password: Password,
        timeout: u64,
        last_zxid: Zxid,
    ) {
        if self.clients.connections.contains(id) {
            return;
        }
        // A client that has seen what we have not would go back in time here.
        if last_zxid > self.newest() {
            turn.out.push(Output::CloseClient { connection: id });
            return;
        }
        let timeout = self.settings.grant(timeout);
        self.finish_session_init(turn, id, timeout);
        if session == SessionId(0) {
            let session = self.new_session();
            self.clients.attach(id, session);
            self.clients.await_decision(session, id, Decision::Open);
            self.forward(turn, session, Xid(0), Submission::Open { timeout });
            return;
        }
        // Whatever the password says, the old connection goes.
        if let Some(old) = self.clients.connection_of(session) {
            self.close_connection(turn, old);
        }
        if password != password_of(session) {
            self.refuse(turn, id);
            return;
        }
        self.clients.attach(id, session);
        match &mut self.role {
            Role::Leading(leading) => {
                let valid = leading.tracker.touch(turn.now, session, timeout);
                if valid {
                    leading.tracker.set_owner(session, self.id);
                }
                self.resumed(turn, id, valid);
            }
            Role::Following(_) => self.send_to_leader(
                turn,
                PeerBody::Revalidate {
                    connection: id,
                    session,
                    timeout,
                },
            ),
            Role::Down | Role::Looking(_) => {}
        }
    }

    /// Begins to look after a connection.
    pub(super) fn finish_session_init(&mut self, turn: &Turn, id: ConnectionId, timeout: u64) {
        self.clients.connect(id, turn.now, timeout);
        if self.idle_check == VirtualTime::NEVER {
            self.idle_check = idle_due(turn.now.micros());
        }
    }

    /// An id that no session has.
    pub(super) fn new_session(&mut self) -> SessionId {
        let session = self.next_session;
        self.next_session.0 += 1;
        session
    }

    /// The leader has decided whether a connection may speak for its session.
    #[cold]
    pub(super) fn resumed(&mut self, turn: &mut Turn, id: ConnectionId, valid: bool) {
        if valid {
            self.establish(turn, id);
        } else if self.clients.connections.contains(id) {
            self.refuse(turn, id);
        }
    }

    pub(super) fn refuse(&mut self, turn: &mut Turn, id: ConnectionId) {
        turn.send_to_client(id, ServerMessage::Expired);
        self.close_connection(turn, id);
    }

    /// Tells a client that it is connected.
    #[cold]
    pub(super) fn establish(&mut self, turn: &mut Turn, id: ConnectionId) {
        let Some(connection) = self.clients.connections.get_mut(id) else {
            return;
        };
        connection.established = true;
        let (session, timeout) = (connection.session, connection.timeout);
        if matches!(self.role, Role::Following(_)) {
            connection.touched = self.touch_turn;
            self.touched.push((session, timeout));
        }
        turn.send_to_client(
            id,
            ServerMessage::Connected {
                session,
                password: password_of(session),
                timeout,
                read_only: self.read_only.is_some(),
            },
        );
    }

    /// Does what needs no leader: now, or when what the session asked before is done.
    #[inline(never)]
    fn in_turn(&mut self, turn: &mut Turn, id: ConnectionId, local: Local) {
        let Some(session) = self.touch(turn, id) else {
            return;
        };
        if self.clients.is_waiting(session) {
            let local = Awaited::Local(Box::new(local));
            self.clients.queue(session, id, local);
        } else {
            self.do_local(turn, id, local);
        }
    }

    /// Does what needs no leader.
    pub(super) fn do_local(&mut self, turn: &mut Turn, id: ConnectionId, local: Local) {
        if !self.clients.connections.contains(id) {
            return;
        }
        match local {
            Local::Ping => turn.send_to_client(id, ServerMessage::Pong),
            Local::SetWatches(tables) => {
                self.set_watches(turn, id, &tables);
                let zxid = self.newest();
                turn.send_to_client(id, ServerMessage::WatchesSet { zxid });
            }
            Local::Read { xid, request } => self.do_read(turn, id, xid, &request),
        }
    }

    /// Reads for a connection, if it is there.
    fn do_read(&mut self, turn: &mut Turn, id: ConnectionId, xid: Xid, request: &Request) {
        let Some(may_read) = self.may_read(id) else {
            return;
        };
        let reply = match may_read {
            Ok(()) => self.read(id, request),
            Err(ZkError::SessionMoved) => {
                self.close_connection(turn, id);
                return;
            }
            Err(error) => Err(error),
        };
        let is_unknown = matches!(reply, Err(ZkError::Unimplemented));
        self.reply(turn, id, xid, reply);
        if is_unknown {
            self.close_connection(turn, id);
        }
    }

    /// Whether a connection may read: leaders know whose session has moved or is dead; followers let all read.
    fn may_read(&mut self, id: ConnectionId) -> Option<Result<(), ZkError>> {
        let connection = self.clients.connections.get_mut(id)?;
        let Role::Leading(leading) = &mut self.role else {
            return Some(Ok(()));
        };
        let (session, index) = (connection.session, &mut connection.tracked);
        let tracked = leading.tracker.check_at(index, session, self.id);
        Some(tracked.map(|_| ()))
    }

    pub(super) fn reply(&self, turn: &mut Turn, id: ConnectionId, xid: Xid, reply: Reply) {
        let zxid = self.newest();
        turn.send_to_client(id, ServerMessage::Reply { xid, zxid, reply });
    }

    /// Closes a connection from our side.
    #[cold]
    pub(super) fn close_connection(&mut self, turn: &mut Turn, id: ConnectionId) {
        if self.clients.connections.contains(id) {
            turn.out.push(Output::CloseClient { connection: id });
            self.forget_connection(id);
        }
    }

    /// Forgets a connection and its watches.
    #[cold]
    pub(super) fn forget_connection(&mut self, id: ConnectionId) {
        if let Some(connection) = self.clients.remove(id) {
            self.watches.forget(id, &connection);
        }
    }

    /// Closes connections that have been silent for their session's timeout.
    #[cold]
    pub(super) fn close_idle(&mut self, turn: &mut Turn) {
        let silent: Vec<ConnectionId> = self
            .clients
            .connections
            .iter()
            .filter(|(_, one)| idle_due(one.last_heard.micros() + one.timeout) <= turn.now)
            .map(|(id, _)| id)
            .collect();
        for id in silent {
            self.close_connection(turn, id);
        }
        self.idle_check = if self.clients.connections.is_empty() {
            VirtualTime::NEVER
        } else {
            idle_due(turn.now.micros())
        };
    }
}

/// When a connection that is due at this time is looked at: strictly after it.
fn idle_due(micros: u64) -> VirtualTime {
    VirtualTime::from_micros((micros / IDLE_INTERVAL + 1) * IDLE_INTERVAL)
}
