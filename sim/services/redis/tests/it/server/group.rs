//! Several servers, and clients that type at them.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use picklock_clients::redis::Command;
use picklock_redis::test_cluster::{Machine, TestCluster};
use picklock_redis::{Address, ConnectionId, ProcessEnd, ServerConfig};
use picklock_testkit::Cluster;

use crate::server::bench::{line, words};

/// Servers that know each other by their numbers, which are their ports, too; no message between them takes any time.
pub struct Group {
    cluster: TestCluster,
    /// The connections of clients, by the server and a number.
    pub connections: BTreeMap<(usize, u32), ConnectionId>,
}

impl Deref for Group {
    type Target = TestCluster;

    fn deref(&self) -> &TestCluster {
        &self.cluster
    }
}

impl DerefMut for Group {
    fn deref_mut(&mut self) -> &mut TestCluster {
        &mut self.cluster
    }
}

pub fn address(number: usize) -> Address {
    Address {
        host: "server".into(),
        port: number as u16,
    }
}

/// The settings of this server, which begins as the replica of the first unless it is the first.
pub fn settings(number: usize) -> ServerConfig {
    ServerConfig {
        number: number as u32,
        address: Some(address(number)),
        primary: (number > 0).then(|| address(0)),
        ..ServerConfig::default()
    }
}

impl Group {
    /// A primary and so many replicas, all in step.
    pub fn of(replicas: usize) -> Self {
        Self::with((0..=replicas).map(settings).collect())
    }

    pub fn with(settings: Vec<ServerConfig>) -> Self {
        let mut group = Self {
            cluster: TestCluster::of_servers(settings, Duration::ZERO, 0),
            connections: BTreeMap::new(),
        };
        group.pass(1_000);
        group
    }

    /// Sends a command, and lets everything that comes of it arrive, but what is held.
    pub fn on(&mut self, server: usize, client: u32, text: &str) -> String {
        self.send(server, client, words(text))
    }

    pub fn send<W: AsRef<[u8]>>(&mut self, server: usize, client: u32, words: Vec<W>) -> String {
        let known = self.connections.get(&(server, client)).copied();
        let open = known.filter(|connection| self.is_open(*connection));
        let connection = open.unwrap_or_else(|| self.connect(Machine::Server(server)));
        self.connections.insert((server, client), connection);
        let command = Command::of(words).expect("a command");
        self.cluster.send(connection, command);
        self.settle();
        self.read(server, client)
    }

    /// What has come for a client of a server.
    pub fn read(&mut self, server: usize, client: u32) -> String {
        let incoming = self.cluster.read(self.connections[&(server, client)]);
        line(&incoming)
    }

    /// Time passes everywhere.
    pub fn pass(&mut self, millis: u64) {
        self.run_for(Duration::from_millis(millis));
    }

    /// What is due now happens.
    pub fn settle(&mut self) {
        let now = self.now();
        self.run_until(now);
    }

    /// The process of a server dies and comes back.
    pub fn restart(&mut self, server: usize, end: ProcessEnd) {
        self.kill(Machine::Server(server));
        self.restart_after(Machine::Server(server), end);
        self.settle();
    }

    /// What was held goes on.
    pub fn release(&mut self) {
        self.network_mut().release();
    }
}
