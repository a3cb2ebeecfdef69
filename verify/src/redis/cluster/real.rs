//! A cluster of real servers on loopback.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use picklock_clients::redis::{Command, Value};
use picklock_redis::Address;

use super::{ClusterBackend, PRIMARIES, TIMEOUT};
use crate::harness::clock::{self, Clock, until};
use crate::harness::error::{Result, unless_stopped};
use crate::harness::network::free_port;
use crate::redis::real::{Connection, Installed, RealServer};
use crate::redis::step::command;

/// How long a cluster may take to stand.
const START: Duration = Duration::from_secs(20);
/// How long a node may take to answer.
const ANSWER: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(20);

/// The nodes, and a connection to each.
pub(super) struct Nodes<'a> {
    servers: Vec<RealServer>,
    connections: Vec<Option<Connection>>,
    start: Instant,
    stop: &'a AtomicBool,
}

impl<'a> Nodes<'a> {
    /// Starts nodes, makes a cluster of them, and waits until it stands.
    pub(super) fn start(installed: &Installed, stop: &'a AtomicBool) -> Result<Self> {
        let timeout = TIMEOUT.as_millis().to_string();
        let mut servers = Vec::new();
        let mut buses = Vec::new();
        for _ in 0..2 * PRIMARIES {
            let bus = free_port()?.to_string();
            let options = [
                "--cluster-enabled",
                "yes",
                "--cluster-node-timeout",
                &timeout,
                "--cluster-port",
                &bus,
            ];
            servers.push(RealServer::start(installed, free_port()?, &options)?);
            buses.push(bus);
        }
        let mut nodes = Self {
            connections: servers.iter().map(|_| None).collect(),
            servers,
            start: clock::now(),
            stop,
        };
        nodes.await_answer(&["PING"], |_, value| {
            matches!(value, Some(Value::Status(_)))
        })?;
        nodes.form(&buses)?;
        Ok(nodes)
    }

    /// Tells the nodes of each other, and which slots are whose, as `redis-cli --cluster create` does.
    fn form(&mut self, buses: &[String]) -> Result<()> {
        let ports = self.servers.iter().map(|server| server.port);
        let ports: Vec<String> = ports.map(|port| port.to_string()).collect();
        for (index, (first, last)) in [(0, 5_460), (5_461, 10_922), (10_923, 16_383)]
            .into_iter()
            .enumerate()
        {
            let (first, last) = (first.to_string(), last.to_string());
            self.expect_ok(index, &["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
        }
        for index in 0..ports.len() {
            let epoch = (index + 1).to_string();
            self.expect_ok(index, &["CLUSTER", "SET-CONFIG-EPOCH", &epoch])?;
        }
        for index in 1..ports.len() {
            let words = ["CLUSTER", "MEET", "127.0.0.1", &ports[index], &buses[index]];
            self.expect_ok(0, &words)?;
        }
        let info = ["CLUSTER", "INFO"];
        self.await_answer(&info, |_, value| {
            contains_text(value, "cluster_known_nodes:6")
        })?;
        for index in 0..PRIMARIES {
            let id = self.ask(index, &command(&["CLUSTER", "MYID"]))?;
            let id = id.as_ref().and_then(Value::bytes).unwrap_or_default();
            let id = String::from_utf8_lossy(id).into_owned();
            self.expect_ok(PRIMARIES + index, &["CLUSTER", "REPLICATE", &id])?;
        }
        self.await_answer(&info, |_, value| contains_text(value, "cluster_state:ok"))?;
        self.await_answer(&["CLUSTER", "NODES"], |_, value| {
            let text = value.and_then(Value::bytes).unwrap_or_default();
            String::from_utf8_lossy(text).matches("slave").count() == PRIMARIES
        })?;
        self.await_answer(&["INFO", "replication"], |node, value| {
            node < PRIMARIES || contains_text(value, "master_link_status:up")
        })
    }

    fn expect_ok(&mut self, node: usize, words: &[&str]) -> Result<()> {
        match self.ask(node, &command(words))? {
            Some(Value::Error(error)) => {
                let why = format!("{}: {error}", words.join(" "));
                Err(self.servers[node].process.not_started(why))
            }
            _ => Ok(()),
        }
    }

    /// Asks one node after the other until each answers as it should.
    fn await_answer(
        &mut self,
        words: &[&str],
        fine: impl Fn(usize, Option<&Value>) -> bool,
    ) -> Result<()> {
        let mut node = 0;
        let all = until(self, (START, LOOK), |nodes| {
            while node < nodes.servers.len() {
                if !fine(node, nodes.ask(node, &command(words))?.as_ref()) {
                    return Ok(false);
                }
                node += 1;
            }
            Ok(true)
        })?;
        if all.is_none() {
            let why = format!("no fine answer to {}", words.join(" "));
            return Err(self.servers[node].process.not_started(why));
        }
        Ok(())
    }

    /// Where the nodes are.
    pub(super) fn addresses(&self) -> Vec<Address> {
        let address = |server: &RealServer| Address {
            host: "127.0.0.1".into(),
            port: server.port,
        };
        self.servers.iter().map(address).collect()
    }
}

/// Whether a text has this in it.
fn contains_text(value: Option<&Value>, what: &str) -> bool {
    let text = value.and_then(Value::bytes).unwrap_or_default();
    String::from_utf8_lossy(text).contains(what)
}

impl Clock for Nodes<'_> {
    fn pass(&mut self, time: Duration) -> Result<()> {
        unless_stopped(self.stop)?;
        clock::sleep(time);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        clock::now() - self.start
    }
}

impl ClusterBackend for Nodes<'_> {
    fn ask(&mut self, node: usize, command: &Command) -> Result<Option<Value>> {
        unless_stopped(self.stop)?;
        let connection = &mut self.connections[node];
        if connection.is_none() {
            *connection = Connection::open(self.servers[node].port, ANSWER).ok();
        }
        let answer = connection.as_mut().and_then(|open| open.ask(command).ok());
        if answer.is_none() {
            // What comes later would be taken for the answer to something else.
            *connection = None;
        }
        Ok(answer)
    }

    fn kill(&mut self, node: usize) {
        self.servers[node].process.kill();
    }

    fn stop(&mut self, node: usize) -> Result<()> {
        self.servers[node].process.signal("-STOP")
    }

    fn go_on(&mut self, node: usize) -> Result<()> {
        self.servers[node].process.signal("-CONT")
    }
}
