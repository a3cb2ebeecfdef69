//! The connections of a server, and the order of requests within each session.

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{Path, Request, SessionId};
use picklock_machines::collections::{FxIndexMap, SmallQueue};

use super::acl::Identities;
use super::messages::{ClientMessage, ConnectionId, WatchTables, Xid};

/// Which of a node's sides is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Table {
    /// Its data, and its making and deletion.
    Data,
    /// Its children, and its deletion.
    Child,
}

/// The connections of a server, and the sessions that it serves.
#[derive(Clone, Debug, Default)]
pub(super) struct Clients {
    pub(super) connections: Connections,
    pub(super) sessions: FxIndexMap<SessionId, LocalSession>,
    /// How many requests wait, over all sessions.
    waiting: usize,
    /// Whether a connection was ever throttled.
    pub(super) throttles: bool,
    /// What throttled connections have sent meanwhile.
    pub(super) unread: FxIndexMap<ConnectionId, Vec<ClientMessage>>,
}

/// A connection. It has a cache line to itself: there may be thousands, each of which is heard of now and then.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Connection {
    /// The session that it speaks for; zero until there is one.
    pub(super) session: SessionId,
    /// Where the leader's tracker was last seen to keep the session.
    pub(super) tracked: u32,
    /// Whether the client was told that it is connected.
    pub(super) established: bool,
    /// The session's timeout in microseconds.
    pub(super) timeout: u64,
    pub(super) last_heard: VirtualTime,
    /// The last turn of the touch table that it is in, so that it is entered only once. A client that is silent until
    /// the numbers of turns begin again is long gone.
    pub(super) touched: u16,
    /// Whether it is not read from, because too many requests wait.
    pub(super) throttled: bool,
    /// Its watches: tables, and paths as the tables share them.
    pub(super) watches: SmallQueue<(Table, Path)>,
    /// The identities that the client has claimed.
    pub(super) who: Identities,
}

const _: () = assert!(size_of::<Connection>() == 64);

/// A session as the server that its client is connected to knows it. It outlives the connection as long as requests
/// are pending: the next connection's requests queue up behind them.
/// With its key, it is one line of the cache.
#[derive(Clone, Debug, Default)]
#[repr(align(32))]
pub(super) struct LocalSession {
    pub(super) connection: Option<ConnectionId>,
    /// What waits: a write first, and whatever came after it.
    pub(super) queue: SmallQueue<Pending>,
}

const _: () = assert!(size_of::<LocalSession>() == 32);

/// A request that waits for its turn.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) connection: ConnectionId,
    pub(super) what: Awaited,
}

/// What is to be done when it is a request's turn.
#[derive(Clone, Debug)]
pub(super) enum Awaited {
    /// Answer when the leader has decided.
    Decision(Decision),
    /// Do and answer what needs no leader. That seldom has to wait.
    Local(Box<Local>),
}

/// What the leader decides.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decision {
    /// Answer when the session is there.
    Open,
    /// Answer when the write is applied.
    Write { xid: Xid, with_stat: bool },
    /// Answer when the session is closed.
    Close { xid: Xid },
    /// Answer when the leader has.
    Sync { xid: Xid },
}

/// What the end of a transaction means to its session, which is served here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    /// The request that it answers, and over which connection.
    pub(super) request: Option<(ConnectionId, Decision)>,
    /// Whether requests wait behind it, or the session has no connection here.
    pub(super) goes_on: bool,
}

/// A request that a server answers by itself.
#[derive(Clone, Debug)]
pub(super) enum Local {
    Read { xid: Xid, request: Request },
    Ping,
    SetWatches(Box<WatchTables>),
}

/// Connections by their ids, which are small numbers. The order of all of them means nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    /// By id: the place in the list, plus one.
    indices: Vec<u32>,
    ids: Vec<ConnectionId>,
    list: Vec<Connection>,
}

impl Connections {
    #[inline]
    fn index_of(&self, id: ConnectionId) -> Option<usize> {
        let index = self.indices.get(id.0 as usize)?;
        (*index as usize).checked_sub(1)
    }

    #[inline]
    pub(super) fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.index_of(id).map(|index| &self.list[index])
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.index_of(id).map(|index| &mut self.list[index])
    }

    #[inline]
    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.index_of(id).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        self.keys().zip(&self.list)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = ConnectionId> {
        self.ids.iter().copied()
    }

    fn insert(&mut self, id: ConnectionId, connection: Connection) {
        self.remove(id);
        if self.indices.len() <= id.0 as usize {
            self.indices.resize(id.0 as usize + 1, 0);
        }
        self.ids.push(id);
        self.list.push(connection);
        self.indices[id.0 as usize] = self.list.len() as u32;
    }

    fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let index = self.index_of(id)?;
        self.indices[id.0 as usize] = 0;
        self.ids.swap_remove(index);
        if let Some(moved) = self.ids.get(index) {
            self.indices[moved.0 as usize] = index as u32 + 1;
        }
        Some(self.list.swap_remove(index))
    }
}

impl Clients {
    pub(super) fn connect(&mut self, id: ConnectionId, now: VirtualTime, timeout: u64) {
        self.connections.insert(
            id,
            Connection {
                session: SessionId(0),
                tracked: 0,
                established: false,
                timeout,
                last_heard: now,
                touched: 0,
                throttled: false,
                watches: SmallQueue::Empty,
                who: Identities::default(),
            },
        );
    }

    /// Ties a connection to a session.
    pub(super) fn attach(&mut self, id: ConnectionId, session: SessionId) {
        if let Some(connection) = self.connections.get_mut(id) {
            connection.session = session;
            self.session(session).connection = Some(id);
        }
    }

    /// A session that is served here from now on, if it was not before.
    #[inline]
    fn session(&mut self, session: SessionId) -> &mut LocalSession {
        self.sessions.entry(session).or_default()
    }

    /// How many requests wait, over all sessions.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The live connection of a session.
    pub(super) fn connection_of(&self, session: SessionId) -> Option<ConnectionId> {
        self.sessions.get(&session)?.connection
    }

    /// Queues a request of a session.
    pub(super) fn queue(&mut self, session: SessionId, connection: ConnectionId, what: Awaited) {
        self.waiting += 1;
        self.session(session)
            .queue
            .push(Pending { connection, what });
    }

    /// Queues a request of a session that the leader decides.
    pub(super) fn await_decision(&mut self, session: SessionId, id: ConnectionId, what: Decision) {
        self.queue(session, id, Awaited::Decision(what));
    }

    /// Whether requests of a session have to wait.
    pub(super) fn is_waiting(&self, session: SessionId) -> bool {
        self.waiting > 0
            && self
                .sessions
                .get(&session)
                .is_some_and(|local| !local.queue.is_empty())
    }

    /// Takes the request of a session that waits first, if that is answered now. `None`: nothing of it waits here.
    pub(super) fn take_answered(
        &mut self,
        session: SessionId,
        is_answered: impl FnOnce(Decision) -> bool,
    ) -> Option<Answered> {
        // A session that nothing waits for has a connection.
        if self.waiting == 0 {
            return None;
        }
        let local = self.sessions.get_mut(&session)?;
        let request = match local.queue.first() {
            Some(&Pending {
                connection,
                what: Awaited::Decision(what),
            }) if is_answered(what) => {
                // There is nothing there to be dropped.
                std::mem::forget(local.queue.pop_first());
                self.waiting -= 1;
                Some((connection, what))
            }
            Some(_) | None => None,
        };
        Some(Answered {
            request,
            goes_on: !local.queue.is_empty() || local.connection.is_none(),
        })
    }

    /// The request of a session that waits first.
    pub(super) fn first(&self, session: SessionId) -> Option<&Pending> {
        self.sessions.get(&session)?.queue.first()
    }

    /// Takes the request of a session that waits first.
    pub(super) fn take_first(&mut self, session: SessionId) -> Option<Pending> {
        let first = self.sessions.get_mut(&session)?.queue.pop_first()?;
        self.waiting -= 1;
        Some(first)
    }

    /// Takes the request of a session that waits first, if it waits for nothing but its turn. A session that has
    /// neither a connection nor anything pending is forgotten.
    pub(super) fn take_local(&mut self, session: SessionId) -> Option<(ConnectionId, Local)> {
        let local = self.sessions.get_mut(&session)?;
        if let Some(Pending {
            what: Awaited::Local(_),
            ..
        }) = local.queue.first()
        {
            self.waiting -= 1;
            return match local.queue.pop_first()? {
                Pending {
                    connection,
                    what: Awaited::Local(what),
                } => Some((connection, *what)),
                Pending { .. } => None,
            };
        }
        if local.connection.is_none() && local.queue.is_empty() {
            self.sessions.swap_remove(&session);
        }
        None
    }

    /// Forgets a session that is closed, and what it still waited for. Answers its connection, if there is one.
    pub(super) fn close(&mut self, session: SessionId) -> Option<ConnectionId> {
        let local = self.sessions.swap_remove(&session)?;
        self.waiting -= local.queue.len();
        local.connection
    }

    /// Removes a connection; its session is forgotten too if nothing is pending.
    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let connection = self.connections.remove(id)?;
        if !self.unread.is_empty() {
            self.unread.swap_remove(&id);
        }
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
