//! A cluster of real servers on loopback.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use picklock_clients::redis::{Command, Value};
use picklock_redis::Address;

use super::{PRIMARIES, TIMEOUT, command};
use crate::harness::clock;
use crate::harness::error::{VerifyError, unless_stopped};
use crate::redis::real::{Installed, Process, free_port};
use crate::redis::resp;

/// How long a cluster may take to stand.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a node may take to answer.
const ANSWER: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(20);

/// The nodes, and a connection to each.
pub(super) struct Nodes<'a> {
    processes: Vec<Process>,
    connections: Vec<Option<BufReader<TcpStream>>>,
    start: Instant,
    stop: &'a AtomicBool,
}

impl<'a> Nodes<'a> {
    /// Starts nodes, makes a cluster of them, and waits until it stands.
    pub(super) fn start(installed: &Installed, stop: &'a AtomicBool) -> Result<Self, VerifyError> {
        let timeout = TIMEOUT.as_millis().to_string();
        let mut processes = Vec::new();
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
            processes.push(Process::start(installed, free_port()?, &options)?);
            buses.push(bus);
        }
        let mut nodes = Self {
            connections: processes.iter().map(|_| None).collect(),
            processes,
            start: clock::now(),
            stop,
        };
        nodes.await_answer(
            |_, node| (node, vec!["PING".to_owned()]),
            |_, value| matches!(value, Some(Value::Status(_))),
        )?;
        nodes.form(&buses)?;
        Ok(nodes)
    }

    /// Tells the nodes of each other, and which slots are whose, as `redis-cli --cluster create` does.
    fn form(&mut self, buses: &[String]) -> Result<(), VerifyError> {
        let ports: Vec<String> = self
            .processes
            .iter()
            .map(|it| it.port.to_string())
            .collect();
        for (place, (first, last)) in [(0, 5_460), (5_461, 10_922), (10_923, 16_383)]
            .into_iter()
            .enumerate()
        {
            let (first, last) = (first.to_string(), last.to_string());
            self.must(place, &["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
        }
        for place in 0..ports.len() {
            let epoch = (place + 1).to_string();
            self.must(place, &["CLUSTER", "SET-CONFIG-EPOCH", &epoch])?;
        }
        for place in 1..ports.len() {
            let words = ["CLUSTER", "MEET", "127.0.0.1", &ports[place], &buses[place]];
            self.must(0, &words)?;
        }
        let knows_all =
            |_: usize, value: Option<Value>| says(value.as_ref(), "cluster_known_nodes:6");
        let info = |_: &mut Self, node| (node, vec!["CLUSTER".to_owned(), "INFO".to_owned()]);
        self.await_answer(info, knows_all)?;
        for place in 0..PRIMARIES {
            let id = self.ask_real(place, &command(&["CLUSTER", "MYID"]))?;
            let id = id.as_ref().and_then(Value::bytes).unwrap_or_default();
            let id = String::from_utf8_lossy(id).into_owned();
            self.must(PRIMARIES + place, &["CLUSTER", "REPLICATE", &id])?;
        }
        self.await_answer(info, |_, value| says(value.as_ref(), "cluster_state:ok"))?;
        let nodes = |_: &mut Self, node| (node, vec!["CLUSTER".to_owned(), "NODES".to_owned()]);
        self.await_answer(nodes, |_, value| {
            let text = value.as_ref().and_then(Value::bytes).unwrap_or_default();
            String::from_utf8_lossy(text).matches("slave").count() == PRIMARIES
        })?;
        let replication =
            |_: &mut Self, node| (node, vec!["INFO".to_owned(), "replication".to_owned()]);
        self.await_answer(replication, |node, value| {
            node < PRIMARIES || says(value.as_ref(), "master_link_status:up")
        })
    }

    fn must(&mut self, node: usize, words: &[&str]) -> Result<(), VerifyError> {
        match self.ask_real(node, &command(words))? {
            Some(Value::Error(error)) => {
                let why = format!("{}: {error}", words.join(" "));
                Err(self.processes[node].not_started(why))
            }
            _ => Ok(()),
        }
    }

    /// Asks every node until each answers as it should.
    fn await_answer(
        &mut self,
        question: impl Fn(&mut Self, usize) -> (usize, Vec<String>),
        fine: impl Fn(usize, Option<Value>) -> bool,
    ) -> Result<(), VerifyError> {
        let deadline = clock::now() + PATIENCE;
        for node in 0..self.processes.len() {
            loop {
                unless_stopped(self.stop)?;
                let (node, words) = question(self, node);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let value = self.ask_real(node, &command(&words))?;
                if fine(node, value) {
                    break;
                }
                if clock::now() > deadline {
                    let why = format!("no fine answer to {}", words.join(" "));
                    return Err(self.processes[node].not_started(why));
                }
                clock::sleep(LOOK);
            }
        }
        Ok(())
    }

    /// Where the nodes are.
    pub(super) fn addresses(&self) -> Vec<Address> {
        let address = |process: &Process| Address {
            host: "127.0.0.1".into(),
            port: process.port,
        };
        self.processes.iter().map(address).collect()
    }

    fn ask_real(&mut self, node: usize, command: &Command) -> Result<Option<Value>, VerifyError> {
        unless_stopped(self.stop)?;
        let connection = &mut self.connections[node];
        if connection.is_none() {
            *connection = self.processes[node].open().ok();
        }
        let Some(stream) = connection else {
            return Ok(None);
        };
        let set = stream.get_ref().set_read_timeout(Some(ANSWER));
        let sent = set.and_then(|()| stream.get_mut().write_all(&resp::encode(command)));
        let answer = sent.and_then(|()| resp::decode(stream));
        if answer.is_err() {
            // What comes later would be taken for the answer to something else.
            *connection = None;
        }
        Ok(answer.ok())
    }
}

/// Whether a text has this in it.
fn says(value: Option<&Value>, what: &str) -> bool {
    let text = value.and_then(Value::bytes).unwrap_or_default();
    String::from_utf8_lossy(text).contains(what)
}

impl super::Nodes for Nodes<'_> {
    fn ask(&mut self, node: usize, command: &Command) -> Result<Option<Value>, VerifyError> {
        self.ask_real(node, command)
    }

    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        unless_stopped(self.stop)?;
        clock::sleep(time);
        Ok(())
    }

    fn passed(&self) -> Duration {
        clock::now() - self.start
    }

    fn kill(&mut self, node: usize) {
        self.processes[node].kill();
    }

    fn stop(&mut self, node: usize) -> Result<(), VerifyError> {
        self.processes[node].signal("-STOP")
    }

    fn go_on(&mut self, node: usize) -> Result<(), VerifyError> {
        self.processes[node].signal("-CONT")
    }
}
