//! Servers and Sentinels, and how these tests speak of them.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_clients::redis::{Command, Value};
use picklock_redis::ConnectionId;
use picklock_redis::sentinel::Event;
pub use picklock_redis::test_cluster::Machine;
use picklock_redis::test_cluster::{self, TestClusterConfig};
use picklock_testkit::Cluster;

/// A primary, its replicas, and Sentinels; times are in milliseconds.
pub struct TestCluster {
    town: test_cluster::TestCluster,
    /// The connections that clients keep, by their numbers.
    kept: BTreeMap<u32, ConnectionId>,
}

impl TestCluster {
    /// Servers and Sentinels that have known each other for a while.
    pub fn of(replicas: usize, sentinels: usize, set: impl Fn(&mut TestClusterConfig)) -> Self {
        let mut plan = TestClusterConfig::of(replicas, sentinels);
        set(&mut plan);
        let mut town = Self {
            town: test_cluster::TestCluster::of(&plan),
            kept: BTreeMap::new(),
        };
        town.run(3_000);
        town
    }

    pub fn now(&self) -> u64 {
        self.town.now().since_start().as_millis() as u64
    }

    pub fn run(&mut self, millis: u64) {
        self.town.run_for(Duration::from_millis(millis));
    }

    /// A client asks a server, by a connection that it keeps; `None` if no answer comes, or it was closed.
    pub fn on(&mut self, server: usize, kept: u32, text: &str) -> Option<Value> {
        let town = &mut self.town;
        let connect = || town.connect(Machine::Server(server));
        let connection = *self.kept.entry(kept).or_insert_with(connect);
        self.town.ask(connection, command(text))
    }

    /// A new client asks a Sentinel.
    pub fn ask_sentinel(&mut self, sentinel: usize, text: &str) -> Option<Value> {
        let connection = self.town.connect(Machine::Sentinel(sentinel));
        self.town.ask(connection, command(text))
    }

    /// The primary, as a Sentinel tells clients.
    pub fn primary_of(&self, sentinel: usize) -> Machine {
        Machine::at(self.town.sentinel(sentinel).primary()).expect("a machine")
    }

    pub fn is_primary(&self, server: usize) -> bool {
        self.town.server(server).is_primary()
    }

    pub fn slow_script(&mut self, server: usize, millis: u64) {
        self.town.slow_script(server, Duration::from_millis(millis));
    }

    pub fn stop(&mut self, machine: Machine) {
        self.town.stop(machine);
    }

    pub fn go_on(&mut self, machine: Machine) {
        self.town.go_on(machine);
    }

    pub fn kill(&mut self, machine: Machine) {
        self.town.kill(machine);
    }

    pub fn restart(&mut self, machine: Machine) {
        self.town.restart(machine);
    }

    pub fn cut(&mut self, one: Machine, other: Machine) {
        self.town.cut(one, other);
    }

    pub fn jump(&mut self, machine: Machine, seconds: u64) {
        self.town.jump(machine, Duration::from_secs(seconds));
    }

    /// When any Sentinels wrote this into their logs.
    pub fn times(&self, event: Event) -> Vec<u64> {
        let log = self.town.log().iter();
        let its = log.filter(|noted| noted.event == event);
        its.map(|noted| noted.at.as_millis() as u64).collect()
    }

    /// When one first did so at a time or later, counted from that time.
    pub fn first(&self, event: Event, after: u64) -> Option<u64> {
        let times = self.times(event);
        let found = times.iter().find(|at| **at >= after);
        found.map(|at| at - after)
    }

    pub fn count(&self, event: Event) -> usize {
        self.times(event).len()
    }
}

fn command(text: &str) -> Command {
    Command::of(text.split(' ')).expect("a command")
}
