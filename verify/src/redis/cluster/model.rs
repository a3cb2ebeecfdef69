//! A cluster of the model, in a time of its own.

use std::time::Duration;

use picklock_clients::redis::{Command, Value};
use picklock_redis::test_cluster::{LATENCY, Machine, TestCluster};
use picklock_redis::{Address, ClusterConfig, ConnectionId, ServerConfig};
use picklock_testkit::Cluster;

use super::{PRIMARIES, TIMEOUT};
use crate::harness::clock::Clock;
use crate::harness::error::VerifyError;

/// So long an answer is waited for at most.
const ANSWER: Duration = Duration::from_millis(500);
/// So long everything that comes of a command takes to arrive.
const REST: Duration = Duration::from_millis(1);

/// The nodes, with one client at each.
pub(super) struct Nodes {
    cluster: TestCluster,
    clients: Vec<ConnectionId>,
}

/// Addresses without servers.
pub(super) fn some_addresses() -> Vec<Address> {
    let address = |port| Address {
        host: "127.0.0.1".into(),
        port,
    };
    (1..=2 * PRIMARIES as u16).map(address).collect()
}

impl Nodes {
    /// A cluster that has stood for a while.
    pub(super) fn new(addresses: &[Address], seed: u64) -> Self {
        let settings = |index: usize| {
            let primary = index.checked_sub(PRIMARIES);
            ServerConfig {
                number: index as u32,
                address: Some(addresses[index].clone()),
                primary: primary.map(|primary| addresses[primary].clone()),
                cluster: Some(ClusterConfig {
                    nodes: addresses.to_vec(),
                    primaries: PRIMARIES as u8,
                    node_timeout: TIMEOUT,
                    seed: seed * 100 + index as u64,
                    ..ClusterConfig::default()
                }),
                ..ServerConfig::default()
            }
        };
        let nodes = 0..addresses.len();
        let mut cluster =
            TestCluster::of_servers(nodes.clone().map(settings).collect(), LATENCY, 0);
        let connect = |node| cluster.connect(Machine::Server(node));
        let clients = nodes.map(connect).collect();
        // Where in its second each node is depends on nothing but chance.
        cluster.run_for(Duration::from_millis(5_000 + seed * 7 % 1_000));
        Self { cluster, clients }
    }
}

impl Clock for Nodes {
    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        self.cluster.run_for(time);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.cluster.now().since_start()
    }
}

impl super::ClusterBackend for Nodes {
    fn ask(&mut self, node: usize, command: &Command) -> Result<Option<Value>, VerifyError> {
        let client = self.clients[node];
        let answer = self.cluster.ask_within(ANSWER, client, command.clone());
        self.cluster.run_for(REST);
        Ok(answer)
    }

    fn kill(&mut self, node: usize) {
        self.cluster.kill(Machine::Server(node));
    }

    fn stop(&mut self, node: usize) -> Result<(), VerifyError> {
        self.cluster.stop(Machine::Server(node));
        Ok(())
    }

    fn go_on(&mut self, node: usize) -> Result<(), VerifyError> {
        self.cluster.go_on(Machine::Server(node));
        Ok(())
    }
}
