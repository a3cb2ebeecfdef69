//! A small world for tests: servers, connections, and a network with a fixed latency.

mod faults;
mod requests;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::{EventType, Path, Reply, Request, SessionId, Zxid};
use picklock_testkit::Cluster as _;

pub(super) use requests::{
    create, delete, exists, get_children, get_data, made, multi, refused, set_data, sync, tables,
};

use super::messages::{ClientMessage, ConnectionId, Password, ServerId, ServerMessage, Xid};
use super::state::{OUTSTANDING_LIMIT, Output, QuorumPeerConfig, Server, later};
use super::test_ensemble::{Ensemble, Observer};
use super::txn::Txn;
use super::version::Version;

/// One way between any two, in microseconds.
pub(super) const LATENCY: u64 = 1_000;
pub(super) const SECOND: u64 = 1_000_000;

/// Servers, connections, and what is on its way.
pub(super) type Cluster = Ensemble<Seen>;

/// What servers have said that is not for clients or each other, and what clients have asked.
#[derive(Default)]
pub(super) struct Seen {
    /// Every transaction that a leader has called committed, and every refused one that a server has applied.
    pub(super) committed: BTreeMap<Zxid, Rc<Txn>>,
    /// What else servers have said, in order, with who said so.
    pub(super) said: Vec<(ServerId, Output)>,
    /// How many requests were sent on each connection, with those of its session on earlier ones.
    requests: BTreeMap<ConnectionId, u32>,
}

impl Observer for Seen {
    /// Nothing is said of what was refused, but it is logged.
    fn handled(&mut self, server: &Server) {
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

    fn said(&mut self, server: ServerId, output: Output) {
        if let Output::Committed(txn) = output {
            let known = self.committed.insert(txn.zxid, Rc::clone(&txn));
            assert!(
                known.is_none_or(|known| known == txn),
                "two of {}",
                txn.zxid
            );
        } else {
            self.said.push((server, output));
        }
    }
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
        extended_types: true,
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
        Self::new(&settings, &nodes, Duration::from_micros(LATENCY))
    }

    pub(super) fn server(&self, id: u8) -> &Server {
        &self.servers[usize::from(id)]
    }

    pub(super) fn leader(&self) -> Option<ServerId> {
        let leader = self.servers.iter().rev().find(|server| server.is_leader());
        leader.map(Server::id)
    }

    pub(super) fn run_until(&mut self, micros: u64) {
        picklock_testkit::Cluster::run_until(self, VirtualTime::from_micros(micros));
    }

    pub(super) fn run_for(&mut self, micros: u64) {
        self.run_until(self.now().micros() + micros);
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
        let requests = self.observer.requests.get(&old).copied();
        let old = &self.connections[&old];
        let (session, password) = (old.session, old.password);
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
        connection.session = session;
        connection.password = password;
        let requests = requests.unwrap_or_default();
        self.observer.requests.insert(id, requests);
        id
    }

    /// Sends a request; answers its number.
    pub(super) fn request(&mut self, id: ConnectionId, request: Request) -> Xid {
        let requests = self.observer.requests.entry(id).or_default();
        *requests += 1;
        let xid = Xid(*requests);
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
        let patience = later(self.now(), 5 * SECOND);
        let answered = self.run_until_met(patience, |cluster| cluster.reply_to(id, xid).is_some());
        assert!(answered, "request {xid:?} was not answered");
        self.reply_to(id, xid).unwrap()
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
