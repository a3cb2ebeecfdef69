//! A small world for tests: servers, connections, and a network with a fixed latency.

mod faults;
mod requests;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{EventType, Path, Reply, Request, SessionId, Zxid};
use picklock_machines::{Boring, Chance};

pub(super) use requests::{
    create, delete, exists, get_children, get_data, made, multi, refused, set_data, sync, tables,
};

use super::messages::{
    ClientMessage, ConnectionId, Password, ServerId, ServerMessage, Xid, notifications,
};
use super::quorum_messages::PeerMessage;
use super::state::{Input, OUTSTANDING_LIMIT, Output, QuorumPeerConfig, Server, later};
use super::txn::Txn;
use super::version::Version;

/// One way between any two, in microseconds.
pub(super) const LATENCY: u64 = 1_000;
pub(super) const SECOND: u64 = 1_000_000;

/// Servers, connections, and what is on its way.
pub(super) struct Cluster {
    pub(super) now: VirtualTime,
    pub(super) servers: Vec<Server>,
    pub(super) chance: Box<dyn Chance>,
    /// Every transaction that a leader has called committed, and every refused one that a server has applied.
    pub(super) committed: BTreeMap<Zxid, Rc<Txn>>,
    /// Outputs that are not messages, in order, with who said so.
    pub(super) said: Vec<(ServerId, Output)>,
    pub(super) connections: BTreeMap<ConnectionId, Connection>,
    /// From, to: what leaves waits.
    held: BTreeSet<(ServerId, ServerId)>,
    waiting: Vec<(ServerId, ServerId, PeerMessage)>,
    /// Proposals only, likewise.
    pub(super) held_acks: bool,
    events: BTreeMap<(VirtualTime, u64), Event>,
    serial: u64,
    lives: Vec<u32>,
    out: Vec<Output>,
}

/// The client's end of a connection.
pub(super) struct Connection {
    pub(super) server: ServerId,
    pub(super) open: bool,
    pub(super) session: SessionId,
    pub(super) password: Password,
    pub(super) inbox: Vec<ServerMessage>,
    xid: u32,
}

enum Event {
    Client(ServerId, u32, ConnectionId, ClientMessage),
    Gone(ServerId, ConnectionId),
    Answer(ConnectionId, ServerMessage),
    Closed(ConnectionId),
    Depart(ServerId, u32, ServerId, PeerMessage),
    Arrive(ServerId, u32, ServerId, PeerMessage),
}

pub(super) fn settings(servers: u8) -> Rc<QuorumPeerConfig> {
    Rc::new(QuorumPeerConfig {
        servers,
        observers: 0,
        tick: 2 * SECOND,
        least_timeout: 4 * SECOND,
        most_timeout: 40 * SECOND,
        sync_limit: 5,
        init_limit: 10,
        reap_interval: 60 * SECOND,
        fsync: 500,
        version: Version::default(),
        read_only: false,
        enforce_quota: false,
        outstanding_limit: OUTSTANDING_LIMIT,
        jute_max_buffer: crate::settings::JUTE_MAX_BUFFER,
    })
}

impl Cluster {
    pub(super) fn formed(servers: u8, nodes: &[&str]) -> Self {
        Self::of(settings(servers), nodes)
    }

    /// With settings of its own.
    pub(super) fn of(settings: Rc<QuorumPeerConfig>, nodes: &[&str]) -> Self {
        let nodes: Vec<Path> = nodes.iter().map(|path| Rc::from(*path)).collect();
        Self {
            now: VirtualTime::ZERO,
            lives: vec![0; usize::from(settings.machines())],
            servers: Server::formed(&settings, &nodes),
            chance: Box::new(Boring),
            committed: BTreeMap::new(),
            said: Vec::new(),
            connections: BTreeMap::new(),
            held: BTreeSet::new(),
            waiting: Vec::new(),
            held_acks: false,
            events: BTreeMap::new(),
            serial: 0,
            out: Vec::new(),
        }
    }

    fn at(&mut self, time: VirtualTime, event: Event) {
        self.serial += 1;
        self.events.insert((time, self.serial), event);
    }

    fn soon(&mut self, event: Event) {
        self.at(later(self.now, LATENCY), event);
    }

    pub(super) fn server(&self, id: u8) -> &Server {
        &self.servers[usize::from(id)]
    }

    pub(super) fn leader(&self) -> Option<ServerId> {
        let leader = self.servers.iter().rev().find(|server| server.is_leader());
        leader.map(Server::id)
    }

    fn input(&mut self, to: ServerId, input: Input) {
        let mut out = std::mem::take(&mut self.out);
        let server = &mut self.servers[usize::from(to.0)];
        server.handle(self.now, input, &mut *self.chance, &mut out);
        self.outputs(to, &mut out);
        self.out = out;
    }

    /// Nothing is said of what was refused, but it is logged.
    fn note_refused(&mut self, server: ServerId) {
        let server = &self.servers[usize::from(server.0)];
        let applied = server
            .logged()
            .filter(|txn| txn.zxid <= server.last_applied());
        for txn in applied.filter(|txn| !txn.change.is_done()) {
            let known = self
                .committed
                .entry(txn.zxid)
                .or_insert_with(|| Rc::new(txn.clone()));
            assert_eq!(**known, *txn);
        }
    }

    fn outputs(&mut self, from: ServerId, out: &mut Vec<Output>) {
        self.note_refused(from);
        for output in out.drain(..) {
            match output {
                Output::ToClient {
                    connection,
                    message,
                    ..
                } => self.soon(Event::Answer(connection, message)),
                Output::Notify {
                    connections,
                    kind,
                    path,
                    ..
                } => {
                    for (connection, message) in notifications(connections, kind, path) {
                        self.soon(Event::Answer(connection, message));
                    }
                }
                Output::CloseClient { connection } => self.soon(Event::Closed(connection)),
                Output::ToPeer { to, message, at } => {
                    let life = self.lives[usize::from(from.0)];
                    self.at(at, Event::Depart(from, life, to, message));
                }
                Output::Committed(txn) => {
                    let known = self.committed.insert(txn.zxid, Rc::clone(&txn));
                    assert!(
                        known.is_none_or(|known| known == txn),
                        "two of {}",
                        txn.zxid
                    );
                }
                said @ (Output::Proposed { .. }
                | Output::SessionExpired { .. }
                | Output::BecameLeader
                | Output::StartedServing
                | Output::StoppedServing) => self.said.push((from, said)),
            }
        }
    }

    /// Handles whatever comes next, if it comes until then.
    fn step(&mut self, until: VirtualTime) -> bool {
        let wakes = self.servers.iter().map(Server::next_wake);
        let (wake, sleeper) = wakes.zip(0..).min().unwrap_or((VirtualTime::NEVER, 0));
        let event = self
            .events
            .keys()
            .next()
            .map_or(VirtualTime::NEVER, |key| key.0);
        if wake.min(event) > until {
            self.now = until;
            return false;
        }
        self.now = self.now.max(wake.min(event));
        if wake < event {
            self.input(ServerId(sleeper), Input::Wake);
        } else if let Some((_, event)) = self.events.pop_first() {
            self.happen(event);
        }
        true
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Client(to, life, connection, message) => {
                let open = self.connections[&connection].open;
                if open && self.lives[usize::from(to.0)] == life {
                    let input = Input::Client {
                        connection,
                        message,
                    };
                    self.input(to, input);
                }
            }
            Event::Gone(to, connection) => self.input(to, Input::ClientGone { connection }),
            Event::Answer(connection, message) => self.answer(connection, message),
            Event::Closed(connection) => {
                if let Some(connection) = self.connections.get_mut(&connection) {
                    connection.open = false;
                }
            }
            Event::Depart(from, life, to, message) => {
                if self.lives[usize::from(from.0)] != life {
                } else if self.held.contains(&(from, to)) || self.held_acks && message.is_ack() {
                    self.waiting.push((from, to, message));
                } else {
                    let life = self.lives[usize::from(to.0)];
                    self.soon(Event::Arrive(from, life, to, message));
                }
            }
            Event::Arrive(from, life, to, message) => {
                if self.lives[usize::from(to.0)] == life {
                    self.input(to, Input::Peer { from, message });
                }
            }
        }
    }

    fn answer(&mut self, connection: ConnectionId, message: ServerMessage) {
        let Some(connection) = self.connections.get_mut(&connection) else {
            return;
        };
        if !connection.open {
            return;
        }
        if let ServerMessage::Connected {
            session, password, ..
        } = message
        {
            connection.session = session;
            connection.password = password;
        }
        connection.inbox.push(message);
    }

    pub(super) fn run_until(&mut self, micros: u64) {
        while self.step(VirtualTime::from_micros(micros)) {}
    }

    pub(super) fn run_for(&mut self, micros: u64) {
        self.run_until(self.now.micros() + micros);
    }

    /// Opens a connection and sends its first message; runs nothing.
    pub(super) fn open(&mut self, server: u8, hello: ClientMessage) -> ConnectionId {
        let id = ConnectionId(self.connections.len() as u32 + 1);
        let connection = Connection {
            server: ServerId(server),
            open: self.server(server).is_serving(),
            session: SessionId(0),
            password: Password(0),
            inbox: Vec::new(),
            xid: 0,
        };
        self.connections.insert(id, connection);
        self.send(id, hello);
        id
    }

    /// A new session on a server, with a timeout of this many seconds.
    pub(super) fn connect_for(&mut self, server: u8, seconds: u64) -> ConnectionId {
        let id = self.open(
            server,
            ClientMessage::Connect {
                session: SessionId(0),
                password: Password(0),
                timeout: seconds * SECOND,
                last_zxid: Zxid(0),
                read_only: false,
            },
        );
        self.run_for(20 * LATENCY);
        id
    }

    /// A new session on a server.
    pub(super) fn connect(&mut self, server: u8) -> ConnectionId {
        self.connect_for(server, 6)
    }

    /// Resumes the session of a connection on a server; runs nothing. Its requests go on being counted.
    pub(super) fn resume(&mut self, old: ConnectionId, server: u8, last: Zxid) -> ConnectionId {
        let old = &self.connections[&old];
        let (session, password, xid) = (old.session, old.password, old.xid);
        let id = self.open(
            server,
            ClientMessage::Connect {
                session,
                password,
                timeout: 6 * SECOND,
                last_zxid: last,
                read_only: false,
            },
        );
        let connection = self.connections.get_mut(&id).unwrap();
        connection.xid = xid;
        connection.session = session;
        connection.password = password;
        id
    }

    pub(super) fn send(&mut self, id: ConnectionId, message: ClientMessage) {
        let server = self.connections[&id].server;
        let life = self.lives[usize::from(server.0)];
        self.soon(Event::Client(server, life, id, message));
    }

    /// Sends a request; answers its number.
    pub(super) fn request(&mut self, id: ConnectionId, request: Request) -> Xid {
        let connection = self.connections.get_mut(&id).unwrap();
        connection.xid += 1;
        let xid = Xid(connection.xid);
        self.send(id, ClientMessage::Request { xid, request });
        xid
    }

    pub(super) fn reply_to(&self, id: ConnectionId, wanted: Xid) -> Option<Reply> {
        self.connections[&id]
            .inbox
            .iter()
            .find_map(|message| match message {
                ServerMessage::Reply { xid, reply, .. } if *xid == wanted => Some(reply.clone()),
                _ => None,
            })
    }

    /// Sends a request and runs until it is answered.
    pub(super) fn ask(&mut self, id: ConnectionId, request: Request) -> Reply {
        let xid = self.request(id, request);
        let patience = later(self.now, 5 * SECOND);
        loop {
            if let Some(reply) = self.reply_to(id, xid) {
                return reply;
            }
            assert!(self.step(patience), "request {xid:?} was not answered");
        }
    }

    /// The inbox of a connection, which is then empty.
    pub(super) fn inbox(&mut self, id: ConnectionId) -> Vec<ServerMessage> {
        std::mem::take(&mut self.connections.get_mut(&id).unwrap().inbox)
    }

    /// The notifications in the inbox of a connection, which is then empty.
    pub(super) fn events(&mut self, id: ConnectionId) -> Vec<(EventType, String)> {
        let told = self.inbox(id).into_iter();
        told.filter_map(|message| match message {
            ServerMessage::Notification { kind, path } => Some((kind, path.to_string())),
            _ => None,
        })
        .collect()
    }

    /// The client goes on living: pings every second until then.
    pub(super) fn ping_for(&mut self, ids: &[ConnectionId], seconds: u64) {
        for _ in 0..seconds {
            for id in ids {
                self.send(*id, ClientMessage::Ping);
            }
            self.run_for(SECOND);
        }
    }
}
