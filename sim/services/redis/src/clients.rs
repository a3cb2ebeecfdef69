//! Connections, as the server knows them.

use std::collections::VecDeque;
use std::rc::Rc;

use indexmap::IndexMap;
use picklock_clients::redis::{Bytes, Command, Value};
use rustc_hash::FxBuildHasher;

use crate::ConnectionId;
use crate::blocking_keys::KeysWanted;

/// Connections, in an order that depends on nothing but what was done here.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    clients: IndexMap<ConnectionId, ClientConnection, FxBuildHasher>,
    next_id: i64,
    /// Clients that wait for something, in the order in which they began to.
    waiting: Vec<ConnectionId>,
}

/// A connection, as the server knows it.
#[derive(Clone, Debug)]
pub(crate) struct ClientConnection {
    pub(crate) id: i64,
    /// The database that it has selected.
    pub(crate) db: u8,
    pub(crate) name: Bytes,
    /// Whether it speaks RESP3.
    pub(crate) resp3: bool,
    /// The commands of the transaction that it has begun.
    pub(crate) queue: Option<Vec<Command>>,
    /// A command of its transaction was refused.
    pub(crate) dirty_exec: bool,
    /// To how many channels and patterns it listens.
    pub(crate) listens: usize,
    /// The end of what it has written, in the stream to replicas.
    pub(crate) written: u64,
    /// How many changes the server had made when its last command was executed.
    pub(crate) changes: u64,
    /// What it waits for.
    pub(crate) blocked: Option<Blocked>,
    /// What it waits to take, if it waits for keys.
    pub(crate) wanted: Option<Rc<KeysWanted>>,
    /// Commands that came meanwhile.
    pub(crate) pending: VecDeque<Command>,
    /// It is to be closed after the answer.
    pub(crate) closing: bool,
    /// How it wants to be served by a node of a cluster.
    pub(crate) flags: ConnectionFlags,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// That clients are not paused any more.
    Paused,
    /// That so many replicas have what it wrote, or that it is too late: a time in milliseconds, never if `None`.
    Replicas { count: i64, until: Option<i64> },
    /// That what it wrote is on the disk, if `local`, and on those of so many replicas (`WAITAOF`), or that it is too
    /// late: a time in milliseconds, never if `None`.
    Fsync {
        local: bool,
        replicas: i64,
        until: Option<i64>,
    },
    /// That its script ends.
    Script,
    /// That one of the keys that it has named has something, or that it is too late.
    Keys { until: Option<i64> },
}

/// What a connection has said of how it wants to be served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionFlags {
    /// It knows that the slot is on its way (`ASKING`), for this command only.
    pub(crate) asking: bool,
    /// What a replica has is good enough (`READONLY`).
    pub(crate) readonly: bool,
}

/// A transaction that is being run.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    /// What its commands have answered so far.
    pub(crate) answers: Vec<Value>,
    /// Those that have not been run.
    pub(crate) left: VecDeque<Command>,
}

/// Clients are paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// Until when, in milliseconds of the wall clock.
    pub(crate) until: i64,
    /// Only clients that write.
    pub(crate) writes_only: bool,
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientType {
    /// For commands.
    Normal,
    /// For listening.
    Listening,
    /// By a replica, or to the primary.
    Replication,
}

impl ClientType {
    /// The kind that `CLIENT KILL TYPE` calls so.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if is("normal") {
            Some(Self::Normal)
        } else if is("pubsub") {
            Some(Self::Listening)
        } else if is("master") || is("replica") || is("slave") {
            Some(Self::Replication)
        } else {
            None
        }
    }
}

impl ClientConnection {
    fn new(id: i64) -> Self {
        Self {
            id,
            db: 0,
            name: [].into(),
            resp3: false,
            queue: None,
            dirty_exec: false,
            listens: 0,
            written: 0,
            changes: 0,
            blocked: None,
            wanted: None,
            pending: VecDeque::new(),
            closing: false,
            flags: ConnectionFlags::default(),
        }
    }

    pub(crate) fn kind(&self) -> ClientType {
        if self.listens > 0 {
            ClientType::Listening
        } else {
            ClientType::Normal
        }
    }

    /// Ends the transaction that it has begun: what it was to do, and whether something of it was refused.
    pub(crate) fn end_transaction(&mut self) -> Option<(Vec<Command>, bool)> {
        let dirty_exec = std::mem::take(&mut self.dirty_exec);
        self.queue.take().map(|queue| (queue, dirty_exec))
    }
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            clients: IndexMap::default(),
            next_id: 1,
            waiting: Vec::new(),
        }
    }
}

impl Clients {
    /// A connection; an unknown one is new. Asked several times with every command: one copy of it, with the map's own
    /// steps in it, is the quickest.
    #[inline(never)]
    pub(crate) fn get_mut(&mut self, connection: ConnectionId) -> &mut ClientConnection {
        let next_id = &mut self.next_id;
        self.clients.entry(connection).or_insert_with(|| {
            let id = *next_id;
            *next_id += 1;
            ClientConnection::new(id)
        })
    }

    /// A connection, if there is one.
    pub(crate) fn get(&self, connection: ConnectionId) -> Option<&ClientConnection> {
        self.clients.get(&connection)
    }

    /// Where a connection is, until one goes.
    pub(crate) fn index_of(&self, connection: ConnectionId) -> Option<usize> {
        self.clients.get_index_of(&connection)
    }

    /// The connection at a place, if there is one.
    pub(crate) fn at(&mut self, index: Option<usize>) -> Option<&mut ClientConnection> {
        let (_, client) = self.clients.get_index_mut(index?)?;
        Some(client)
    }

    pub(crate) fn remove(&mut self, connection: ConnectionId) {
        // In order, because they are killed in the order in which they came.
        self.clients.shift_remove(&connection);
        self.waiting.retain(|other| *other != connection);
    }

    /// Lets a connection wait.
    pub(crate) fn block(&mut self, connection: ConnectionId, blocked: Blocked) {
        self.get_mut(connection).blocked = Some(blocked);
        self.waiting.push(connection);
    }

    /// Ends what it waits for.
    pub(crate) fn unblock(&mut self, connection: ConnectionId) -> Option<Blocked> {
        self.waiting.retain(|other| *other != connection);
        self.get_mut(connection).blocked.take()
    }

    /// The clients that wait, and for what, in the order in which they began to.
    pub(crate) fn blocked(
        &self,
    ) -> impl Iterator<Item = (ConnectionId, &ClientConnection, Blocked)> {
        self.waiting.iter().filter_map(|id| {
            let client = self.clients.get(id)?;
            Some((*id, client, client.blocked?))
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &ClientConnection)> {
        self.clients.iter().map(|(id, client)| (*id, client))
    }
}
