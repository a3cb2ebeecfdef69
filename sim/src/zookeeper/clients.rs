//! The connections of a server, and the order of requests within each session.

use std::collections::VecDeque;

use picklock_algorithms::clients::zookeeper::{Path, Request, SessionId};
use picklock_checker::VirtualTime;

use super::messages::{ConnectionId, WatchTables, Xid};
use super::tree::FastMap;
use super::watches::Table;

/// The connections of a server, and the sessions that it serves.
#[derive(Clone, Debug, Default)]
pub(super) struct Clients {
    pub(super) connections: FastMap<ConnectionId, Connection>,
    pub(super) sessions: FastMap<SessionId, LocalSession>,
}

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The session that it speaks for; zero until there is one.
    pub(super) session: SessionId,
    /// Whether the client was told that it is connected.
    pub(super) established: bool,
    /// The session's timeout in microseconds.
    pub(super) timeout: u64,
    pub(super) last_heard: VirtualTime,
    /// The last turn of the touch table that it is in, so that it is entered only once.
    pub(super) touched: u64,
    /// Its watches: tables, and paths as the tables share them.
    pub(super) watches: Vec<(Table, Path)>,
    /// The last deletion that it was told of, so that it is told once.
    pub(super) told: u64,
}

/// A session as the server that its client is connected to knows it. It outlives the connection as long as requests
/// are pending: the next connection's requests queue up behind them.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalSession {
    pub(super) connection: Option<ConnectionId>,
    /// What waits: a write first, and whatever came after it.
    pub(super) queue: VecDeque<Pending>,
}

/// A request that waits for its turn.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) connection: ConnectionId,
    pub(super) what: Awaited,
}

/// What is to be done when it is a request's turn.
#[derive(Clone, Debug)]
pub(super) enum Awaited {
    /// Answer when the session is there.
    Open,
    /// Answer when the write is applied.
    Write { xid: Xid, with_stat: bool },
    /// Answer when the session is closed.
    Close { xid: Xid },
    /// Answer when the leader has.
    Sync { xid: Xid },
    /// Do and answer what needs no leader.
    Local(Local),
}

/// A request that a server answers by itself.
#[derive(Clone, Debug)]
pub(super) enum Local {
    Read { xid: Xid, request: Request },
    Ping,
    SetWatches(Box<WatchTables>),
}

impl Clients {
    pub(super) fn connect(&mut self, id: ConnectionId, now: VirtualTime, timeout: u64) {
        self.connections.insert(
            id,
            Connection {
                session: SessionId(0),
                established: false,
                timeout,
                last_heard: now,
                touched: 0,
                watches: Vec::new(),
                told: 0,
            },
        );
    }

    /// Ties a connection to a session.
    pub(super) fn attach(&mut self, id: ConnectionId, session: SessionId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.session = session;
            self.sessions.entry(session).or_default().connection = Some(id);
        }
    }

    /// The live connection of a session.
    pub(super) fn connection_of(&self, session: SessionId) -> Option<ConnectionId> {
        self.sessions.get(&session)?.connection
    }

    /// Queues a request of a session.
    pub(super) fn queue(&mut self, session: SessionId, connection: ConnectionId, what: Awaited) {
        self.sessions
            .entry(session)
            .or_default()
            .queue
            .push_back(Pending { connection, what });
    }

    /// Whether requests of a session have to wait.
    pub(super) fn is_waiting(&self, session: SessionId) -> bool {
        self.sessions
            .get(&session)
            .is_some_and(|local| !local.queue.is_empty())
    }

    /// The request of a session that waits first.
    pub(super) fn first(&self, session: SessionId) -> Option<&Pending> {
        self.sessions.get(&session)?.queue.front()
    }

    /// Takes the request of a session that waits first.
    pub(super) fn take_first(&mut self, session: SessionId) -> Option<Pending> {
        self.sessions.get_mut(&session)?.queue.pop_front()
    }

    /// Takes the request of a session that waits first, if it waits for nothing but its turn.
    pub(super) fn take_local(&mut self, session: SessionId) -> Option<(ConnectionId, Local)> {
        let queue = &mut self.sessions.get_mut(&session)?.queue;
        if !matches!(queue.front()?.what, Awaited::Local(_)) {
            return None;
        }
        match queue.pop_front()? {
            Pending {
                connection,
                what: Awaited::Local(local),
            } => Some((connection, local)),
            Pending { .. } => None,
        }
    }

    /// Removes a connection; its session is forgotten too if nothing is pending.
    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let connection = self.connections.swap_remove(&id)?;
        if let Some(local) = self.sessions.get_mut(&connection.session) {
            if local.connection == Some(id) {
                local.connection = None;
            }
            self.forget_if_idle(connection.session);
        }
        Some(connection)
    }

    /// Forgets a session that has neither a connection nor anything pending.
    pub(super) fn forget_if_idle(&mut self, session: SessionId) {
        if self
            .sessions
            .get(&session)
            .is_some_and(|local| local.connection.is_none() && local.queue.is_empty())
        {
            self.sessions.swap_remove(&session);
        }
    }
}
