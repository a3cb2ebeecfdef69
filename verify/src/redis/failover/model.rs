//! Servers and Sentinels of the model, as the stories see them.

use std::time::Duration;

use picklock_clients::redis::Value;
use picklock_redis::test_cluster::{self, Machine, TestClusterConfig};
use picklock_redis::{Address, ConnectionId, ServerConfig};
use picklock_testkit::Cluster;

use super::{Flow, Setup};
use crate::harness::clock::Clock;
use crate::harness::error::VerifyError;
use crate::redis::step::command;

/// How long a server reads its keys that is to take a while for each.
const LOADS: Duration = Duration::from_secs(9);

/// A town of the model, with one client at each server.
pub(super) struct ModelBackend {
    town: test_cluster::TestCluster,
    clients: Vec<ConnectionId>,
}

impl ModelBackend {
    /// Servers and Sentinels that have known each other for a while.
    pub(super) fn of(setup: &Setup, seed: u64) -> Self {
        let mut town = test_cluster::TestCluster::of(&TestClusterConfig {
            server: ServerConfig {
                persistence: setup.persistence.clone(),
                active_expiry: false,
                load_time: match setup.reads_slowly {
                    true => LOADS,
                    false => Duration::ZERO,
                },
                ..ServerConfig::default()
            },
            down_after: setup.down_after,
            failover_timeout: setup.failover_timeout,
            seed: seed as u32,
            ..TestClusterConfig::of(setup.replicas, setup.sentinels)
        });
        let servers = (0..=setup.replicas).map(Machine::Server);
        let clients = servers.map(|server| town.connect(server)).collect();
        // Where in its second each machine is depends on nothing but chance.
        let more = u64::from(town.choose(2_000));
        town.run_for(Duration::from_millis(4_000 + more));
        Self { town, clients }
    }
}

impl Clock for ModelBackend {
    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        self.town.run_for(time);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.town.now().since_start()
    }
}

impl super::FailoverBackend for ModelBackend {
    fn connect(&mut self, server: usize) -> Result<(), VerifyError> {
        self.town.disconnect(self.clients[server]);
        self.clients[server] = self.town.connect(Machine::Server(server));
        Ok(())
    }

    fn ask(&mut self, server: usize, words: &[&str]) -> Result<Option<Value>, VerifyError> {
        Ok(self.town.ask(self.clients[server], command(words)))
    }

    fn ask_sentinel(&mut self, words: &[&str]) -> Result<Option<Value>, VerifyError> {
        let client = self.town.connect(Machine::Sentinel(0));
        let answer = self.town.ask(client, command(words));
        self.town.disconnect(client);
        Ok(answer)
    }

    fn server_index(&self, host: &str, port: u16) -> Option<usize> {
        let host = host.into();
        match Machine::at(&Address { host, port })? {
            Machine::Server(index) => Some(index),
            Machine::Sentinel(_) => None,
        }
    }

    fn ask_once(&mut self, server: usize, words: &[&str]) -> Result<(), VerifyError> {
        let client = self.town.connect(Machine::Server(server));
        self.town.ask(client, command(words));
        self.town.disconnect(client);
        Ok(())
    }

    fn fill_disk(&mut self, server: usize, is_full: bool) -> Result<(), VerifyError> {
        self.town.fill_disk(server, is_full);
        Ok(())
    }

    fn flow(&mut self, flow: Flow) {
        self.town.flow(flow);
    }

    fn kill(&mut self, server: usize) {
        self.town.kill(Machine::Server(server));
    }

    fn restart(&mut self, server: usize) -> Result<(), VerifyError> {
        self.town.restart(Machine::Server(server));
        Ok(())
    }

    fn stop(&mut self, server: usize) -> Result<(), VerifyError> {
        self.town.stop(Machine::Server(server));
        Ok(())
    }

    fn go_on(&mut self, server: usize) -> Result<(), VerifyError> {
        self.town.go_on(Machine::Server(server));
        Ok(())
    }

    fn follow(&mut self, server: usize, primary: usize) -> Result<Option<Value>, VerifyError> {
        let to = Machine::Server(primary).address();
        self.ask(server, &["REPLICAOF", &to.host, &to.port.to_string()])
    }

    fn resynchronisations(&mut self, server: usize) -> Result<(u64, u64), VerifyError> {
        Ok(self.town.copies(server))
    }

    fn logged(&mut self, event: &str, from: Duration) -> Option<Duration> {
        let (name, about) = event.split_once(' ').unwrap_or((event, ""));
        let mut log = self.town.log().iter();
        let found = log.find(|noted| {
            let fits = about != "master" || noted.of_primary;
            fits && noted.event.name() == name && noted.at >= from
        });
        found.map(|noted| noted.at)
    }
}
