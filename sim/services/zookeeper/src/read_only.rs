//! Read-only mode: a server that has looked for a leader for a while answers reads, to clients that put up with that.
//!
//! # Source
//!
//! ZooKeeper 3.8: `QuorumPeer.run`, `ReadOnlyZooKeeperServer`, `ReadOnlyRequestProcessor`; and a real 3.8.0 with
//! `readonlymode.enabled` and `localSessionsEnabled`.

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{Request, Response, SessionId, ZkError, Zxid};

use super::clients::Local;
use super::log::TxnLog;
use super::messages::{ClientMessage, ConnectionId, Password, Xid};
use super::session_tracker::{SessionTracker, password_of};
use super::state::{Output, Server, Turn, later};
use super::tree::DataTree;

/// For how long at least a server looks for a leader before it answers reads, in microseconds.
const GRACE: u64 = 2_000_000;

/// What a server keeps that answers reads alone.
#[derive(Clone, Debug)]
pub(super) struct ReadOnly {
    /// What it has logged, all of it, committed or not.
    tree: DataTree,
    /// The sessions that have begun here. No other server knows of them.
    sessions: SessionTracker,
}

/// What a client says first.
pub(super) struct Hello {
    pub(super) session: SessionId,
    pub(super) password: Password,
    pub(super) timeout: u64,
    pub(super) last_zxid: Zxid,
    pub(super) read_only: bool,
}

impl ReadOnly {
    fn new(tree: &DataTree, log: &TxnLog, tick: u64) -> Self {
        let mut tree = tree.clone();
        for txn in log.after(tree.last_zxid()) {
            tree.fast_forward(txn);
        }
        Self {
            tree,
            sessions: SessionTracker::new(tick),
        }
    }

    /// The tree that clients of a server read: its own if it answers reads alone, or `tree`, what it has applied.
    pub(super) fn readable<'a>(alone: &'a Option<Box<Self>>, tree: &'a DataTree) -> &'a DataTree {
        alone.as_ref().map_or(tree, |alone| &alone.tree)
    }

    /// When sessions may expire here.
    pub(super) fn next_wake(&self) -> VirtualTime {
        self.sessions.next_due()
    }
}

impl Server {
    /// When a server that begins to look for a leader now begins to answer reads.
    pub(super) fn read_only_from(&self, now: VirtualTime) -> VirtualTime {
        if self.settings.read_only {
            later(now, GRACE.max(self.settings.tick))
        } else {
            VirtualTime::NEVER
        }
    }

    /// What its clients can read.
    pub(super) fn readable(&self) -> &DataTree {
        ReadOnly::readable(&self.read_only, &self.tree)
    }

    /// There is no leader to be found: answers reads until there is one.
    pub(super) fn serve_reads(&mut self, turn: &mut Turn) {
        let read_only = ReadOnly::new(&self.tree, &self.log, self.settings.tick);
        self.read_only = Some(Box::new(read_only));
        self.start_serving(turn.now);
        turn.out.push(Output::StartedServing);
    }

    /// Ends the sessions that began here and have been silent.
    pub(super) fn expire_local_sessions(&mut self, turn: &mut Turn) {
        while let Some(read_only) = &mut self.read_only
            && let Some(dead) = read_only.sessions.expire(turn.now)
        {
            for session in dead {
                self.end_local_session(turn, session);
            }
        }
    }

    fn end_local_session(&mut self, turn: &mut Turn, session: SessionId) {
        if let Some(read_only) = &mut self.read_only {
            read_only.sessions.remove(session);
        }
        if let Some(id) = self.clients.close(session) {
            self.close_connection(turn, id);
        }
    }

    /// What a server that answers reads alone does with what its clients send.
    #[cold]
    pub(super) fn client_of_read_only(
        &mut self,
        turn: &mut Turn,
        id: ConnectionId,
        message: ClientMessage,
    ) {
        match message {
            ClientMessage::Connect {
                session,
                password,
                timeout,
                last_zxid,
                read_only,
            } => {
                let hello = Hello {
                    session,
                    password,
                    timeout,
                    last_zxid,
                    read_only,
                };
                self.connect_to_read_only(turn, id, &hello);
            }
            ClientMessage::Authenticate { scheme, secret } => {
                self.authenticate(turn, id, &scheme, &secret);
            }
            ClientMessage::Request { request, .. }
                if request.is_too_long(self.settings.jute_max_buffer) =>
            {
                self.close_connection(turn, id);
            }
            ClientMessage::Request { xid, request } => {
                if self.touch_local(turn, id).is_some() {
                    self.request_of_read_only(turn, id, xid, request);
                }
            }
            ClientMessage::Ping => {
                if self.touch_local(turn, id).is_some() {
                    self.do_local(turn, id, Local::Ping);
                }
            }
            ClientMessage::SetWatches(tables) => {
                if self.touch_local(turn, id).is_some() {
                    self.do_local(turn, id, Local::SetWatches(tables));
                }
            }
            ClientMessage::Close { xid } => {
                if let Some(session) = self.touch_local(turn, id) {
                    self.reply(turn, id, xid, Ok(Response::Closed));
                    self.end_local_session(turn, session);
                }
            }
        }
    }

    /// Whatever a leader would have to decide is refused, `sync` too.
    fn request_of_read_only(
        &mut self,
        turn: &mut Turn,
        id: ConnectionId,
        xid: Xid,
        request: Request,
    ) {
        if request.is_write() || matches!(request, Request::Sync { .. }) {
            self.reply(turn, id, xid, Err(ZkError::NotReadOnly));
        } else {
            self.do_local(turn, id, Local::Read { xid, request });
        }
    }

    /// Notes a sign of life of a connection's session.
    fn touch_local(&mut self, turn: &Turn, id: ConnectionId) -> Option<SessionId> {
        let connection = self.clients.connections.get_mut(id)?;
        connection.last_heard = turn.now;
        let (session, timeout) = (connection.session, connection.timeout);
        let sessions = &mut self.read_only.as_mut()?.sessions;
        sessions
            .touch(turn.now, session, timeout)
            .then_some(session)
    }

    fn connect_to_read_only(&mut self, turn: &mut Turn, id: ConnectionId, hello: &Hello) {
        if self.clients.connections.contains(id) {
            return;
        }
        // Sessions of the ensemble do not go on here: their clients look for another server.
        let is_global = self.readable().has_session(hello.session);
        if !hello.read_only || hello.last_zxid > self.newest() || is_global {
            turn.out.push(Output::CloseClient { connection: id });
            return;
        }
        let timeout = self.settings.grant(hello.timeout);
        self.finish_session_init(turn, id, timeout);
        let session = if hello.session == SessionId(0) {
            self.new_session()
        } else {
            if let Some(old) = self.clients.connection_of(hello.session) {
                self.close_connection(turn, old);
            }
            hello.session
        };
        let is_new = hello.session == SessionId(0);
        let is_known = is_new || hello.password == password_of(session);
        let Some(read_only) = &mut self.read_only else {
            return;
        };
        if is_new {
            read_only.sessions.track(turn.now, session, timeout);
        }
        if is_known && read_only.sessions.touch(turn.now, session, timeout) {
            self.clients.attach(id, session);
            self.establish(turn, id);
        } else {
            self.refuse(turn, id);
        }
    }
}
