//! Real servers and Sentinels on loopback.

use std::io::ErrorKind;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use picklock_clients::redis::Value;
use picklock_redis::{Fsync, Persistence};

use super::relay::Relay;
use super::sentinel_log::{is_about, since};
use super::{Flow, LOOK, Setup, full_disk};
use crate::harness::clock::{self, Clock, until};
use crate::harness::comparison::Answer as _;
use crate::harness::error::{Result, VerifyError, unless_stopped};
use crate::harness::network::free_port;
use crate::redis::real::{Connection, Installed, RealServer};
use crate::redis::step::command;

/// How long all may take to know each other.
const START: Duration = Duration::from_secs(20);
/// How long a server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How long one listens before one looks to the relay again.
const TURN: Duration = Duration::from_millis(1);
/// How long they are left alone before anything happens.
const REST: Duration = Duration::from_secs(1);

/// Servers, Sentinels, and a connection to each server.
pub(super) struct RealBackend<'a> {
    servers: Vec<RealServer>,
    sentinels: Vec<RealServer>,
    reads_slowly: bool,
    /// They keep a log of what is done.
    logs: bool,
    relay: Option<Relay>,
    connections: Vec<Option<Connection>>,
    start: Instant,
    /// What the clock on the wall showed then, since midnight.
    time_of_day: Duration,
    stop: &'a AtomicBool,
}

/// How long a server takes for a key that is to take a while, in microseconds. It serves clients after each kibibyte.
const SLOWLY: [&str; 6] = [
    "--key-load-delay",
    "60000",
    "--loading-process-events-interval-bytes",
    "1024",
    "--rdbcompression",
    "no",
];

fn options(setup: &Setup) -> Vec<String> {
    let words: Vec<String> = match &setup.persistence {
        Persistence::None => Vec::new(),
        Persistence::Snapshots(points) => {
            let points = points.iter();
            let points = points.map(|point| format!("{} {}", point.after.as_secs(), point.changes));
            vec!["--save".to_owned(), points.collect::<Vec<_>>().join(" ")]
        }
        Persistence::Log(fsync) => {
            let fsync = match fsync {
                Fsync::Never => "no",
                Fsync::EverySecond => "everysec",
                Fsync::Always => "always",
            };
            let words = ["--appendonly", "yes", "--appendfsync", fsync];
            words.map(str::to_owned).to_vec()
        }
    };
    let always = ["--repl-diskless-sync-delay", "0"];
    let slowly = SLOWLY.iter().filter(|_| setup.reads_slowly);
    let more = always.iter().chain(slowly).map(|word| (*word).to_owned());
    more.chain(words).collect()
}

impl<'a> RealBackend<'a> {
    /// Starts them, and waits until they know each other.
    pub(super) fn start(
        installed: &Installed,
        setup: &Setup,
        stop: &'a AtomicBool,
    ) -> Result<Self> {
        let own = options(setup);
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let primary = RealServer::start(installed, free_port()?, &own)?;
        let mut backend = Self {
            relay: match setup.relayed {
                true => Some(Relay::to(primary.port)?),
                false => None,
            },
            servers: vec![primary],
            sentinels: Vec::new(),
            reads_slowly: setup.reads_slowly,
            logs: matches!(setup.persistence, Persistence::Log(_)),
            connections: Vec::new(),
            start: clock::now(),
            time_of_day: clock::time_of_day(),
            stop,
        };
        backend.await_server(0)?;
        let port = backend.relay.as_ref().map(|relay| relay.port);
        let port = port.unwrap_or(backend.servers[0].port).to_string();
        for index in 1..=setup.replicas {
            let follow = ["--replicaof", "127.0.0.1", &port];
            let own: Vec<&str> = own.iter().copied().chain(follow).collect();
            backend
                .servers
                .push(RealServer::start(installed, free_port()?, &own)?);
            backend.await_server(index)?;
            backend.await_info(index, "master_link_status:up")?;
        }
        backend.start_sentinels(installed, setup)?;
        Ok(backend)
    }

    fn start_sentinels(&mut self, installed: &Installed, setup: &Setup) -> Result<()> {
        let configuration = format!(
            "sentinel monitor mymaster 127.0.0.1 {} {}\n\
             sentinel down-after-milliseconds mymaster {}\n\
             sentinel failover-timeout mymaster {}\n\
             sentinel parallel-syncs mymaster 1\n",
            self.servers[0].port,
            setup.sentinels / 2 + 1,
            setup.down_after.as_millis(),
            setup.failover_timeout.as_millis(),
        );
        for _ in 0..setup.sentinels {
            let sentinel = RealServer::start_sentinel(installed, free_port()?, &configuration)?;
            self.sentinels.push(sentinel);
        }
        let replicas = format!("\"num-slaves\" \"{}\"", setup.replicas);
        let others = setup.sentinels.saturating_sub(1);
        let others = format!("\"num-other-sentinels\" \"{others}\"");
        for index in 0..setup.sentinels {
            let port = self.sentinels[index].port;
            let knows = |said: &str| said.contains(&replicas) && said.contains(&others);
            let said = self.await_answer(port, &["SENTINEL", "MASTER", "mymaster"], knows)?;
            said.map_err(|said| self.sentinels[index].process.not_started(said))?;
        }
        if setup.sentinels > 0 {
            self.turn(REST)?;
        }
        Ok(())
    }

    /// Waits until a server takes connections.
    fn await_port(&mut self, index: usize) -> Result<()> {
        let port = self.servers[index].port;
        let listens = until(self, (START, LOOK), |_| {
            Ok(Connection::open(port, ANSWER).is_ok())
        })?;
        match listens {
            Some(_) => Ok(()),
            None => Err(self.not_started(index, "the port is closed".to_owned())),
        }
    }

    /// Waits until a server serves, and makes a connection to it.
    fn await_server(&mut self, index: usize) -> Result<()> {
        let port = self.servers[index].port;
        let said = self.await_answer(port, &["PING"], |said| said == "status PONG")?;
        said.map_err(|said| self.not_started(index, said))?;
        // An expired key stays until a command asks for it: otherwise it would depend on the moment.
        ask_port(port, &["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
        self.connections.resize_with(self.servers.len(), || None);
        self.connections[index] = Connection::open(port, ANSWER).ok();
        Ok(())
    }

    fn await_info(&mut self, index: usize, wanted: &str) -> Result<()> {
        let port = self.servers[index].port;
        let has = |said: &str| said.contains(wanted);
        let said = self.await_answer(port, &["INFO", "replication"], has)?;
        said.map_err(|said| self.not_started(index, said))
    }

    /// Waits until a server or a Sentinel answers as it should. An error is what it said last.
    fn await_answer(
        &mut self,
        port: u16,
        words: &[&str],
        fine: impl Fn(&str) -> bool,
    ) -> Result<Result<(), String>> {
        let mut said = String::new();
        let answered = until(self, (START, LOOK), |_| {
            said = ask_port(port, words).text();
            Ok(fine(&said))
        })?;
        Ok(answered.map(|_| ()).ok_or(said))
    }

    fn not_started(&self, index: usize, why: String) -> VerifyError {
        self.servers[index].process.not_started(why)
    }

    /// Time passes, and the relay does its work.
    fn turn(&mut self, time: Duration) -> Result<()> {
        let end = clock::now() + time;
        loop {
            unless_stopped(self.stop)?;
            if let Some(relay) = &mut self.relay {
                relay.pump();
            }
            let left = end.saturating_duration_since(clock::now());
            if left.is_zero() {
                return Ok(());
            }
            clock::sleep(left.min(TURN));
        }
    }

    /// Waits until something has come over a connection, or it is closed.
    fn await_bytes(&mut self, server: usize) -> Result<bool> {
        let deadline = clock::now() + ANSWER;
        let mut byte = [0];
        while clock::now() < deadline {
            self.turn(Duration::ZERO)?;
            let Some(connection) = &self.connections[server] else {
                return Ok(false);
            };
            let stream = connection.socket();
            let set = stream.set_read_timeout(Some(TURN));
            match set.and_then(|()| stream.peek(&mut byte)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(stream.set_read_timeout(Some(ANSWER)).is_ok()),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                    _ => return Ok(false),
                },
            }
        }
        Ok(false)
    }
}

/// Asks by a connection that is made for it.
fn ask_port(port: u16, words: &[&str]) -> Option<Value> {
    let mut connection = Connection::open(port, ANSWER).ok()?;
    connection.ask(&command(words)).ok()
}

impl Clock for RealBackend<'_> {
    fn pass(&mut self, time: Duration) -> Result<()> {
        self.turn(time)
    }

    fn elapsed(&self) -> Duration {
        clock::now() - self.start
    }
}

impl super::FailoverBackend for RealBackend<'_> {
    fn connect(&mut self, server: usize) -> Result<()> {
        self.connections[server] = Connection::open(self.servers[server].port, ANSWER).ok();
        Ok(())
    }

    fn ask(&mut self, server: usize, words: &[&str]) -> Result<Option<Value>> {
        let Some(connection) = &mut self.connections[server] else {
            return Ok(None);
        };
        let sent = connection.send(&command(words)).is_ok();
        let has_come = sent && self.await_bytes(server)?;
        let connection = self.connections[server].as_mut().filter(|_| has_come);
        let answer = connection.and_then(|connection| connection.receive().ok());
        if answer.is_none() {
            self.connections[server] = None;
        }
        Ok(answer)
    }

    fn ask_sentinel(&mut self, words: &[&str]) -> Result<Option<Value>> {
        let port = self.sentinels.first().map(|sentinel| sentinel.port);
        Ok(port.and_then(|port| ask_port(port, words)))
    }

    fn server_index(&self, _: &str, port: u16) -> Option<usize> {
        self.servers.iter().position(|server| server.port == port)
    }

    fn ask_once(&mut self, server: usize, words: &[&str]) -> Result<()> {
        ask_port(self.servers[server].port, words);
        Ok(())
    }

    /// A new log is begun, where it can be written or where it cannot; an image finds something in its place.
    fn fill_disk(&mut self, server: usize, is_full: bool) -> Result<()> {
        let in_vain = VerifyError::io("cannot get into the way of redis-server");
        let home = self.servers[server].home();
        if !self.logs {
            return full_disk::fill_for_images(&home, is_full).map_err(in_vain);
        }
        self.ask_once(server, &["CONFIG", "SET", "appendonly", "no"])?;
        if is_full {
            full_disk::fill_for_log(&home).map_err(in_vain)?;
        }
        self.ask_once(server, &["CONFIG", "SET", "appendonly", "yes"])?;
        // All keys go to a new file first.
        self.turn(REST)
    }

    fn flow(&mut self, flow: Flow) {
        if let Some(relay) = &mut self.relay {
            // What has come before is on its way.
            relay.pump();
            relay.flow = flow;
            relay.pump();
        }
    }

    fn kill(&mut self, server: usize) {
        self.servers[server].process.kill();
        self.connections[server] = None;
    }

    fn restart(&mut self, server: usize) -> Result<()> {
        self.servers[server].process.restart()?;
        if self.reads_slowly {
            return self.await_port(server);
        }
        self.await_server(server)
    }

    fn stop(&mut self, server: usize) -> Result<()> {
        self.servers[server].process.signal("-STOP")
    }

    fn go_on(&mut self, server: usize) -> Result<()> {
        self.servers[server].process.signal("-CONT")
    }

    fn follow(&mut self, server: usize, primary: usize) -> Result<Option<Value>> {
        let port = self.servers[primary].port.to_string();
        self.ask(server, &["REPLICAOF", "127.0.0.1", &port])
    }

    fn resynchronisations(&mut self, server: usize) -> Result<(u64, u64)> {
        let said = ask_port(self.servers[server].port, &["INFO", "stats"]).text();
        let number = |name: &str| {
            let rest = said.split(name).nth(1).unwrap_or_default();
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
            digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
        };
        Ok((number("sync_full:"), number("sync_partial_ok:")))
    }

    fn logged(&mut self, event: &str, from: Duration) -> Option<Duration> {
        let logs = self.sentinels.iter().map(|sentinel| sentinel.process.log());
        let start = self.time_of_day;
        let times = logs.flat_map(|log| {
            let lines = log.lines().filter(|line| is_about(line, event));
            let times = lines.filter_map(|line| since(line, start));
            times.filter(|time| *time >= from).collect::<Vec<_>>()
        });
        times.min()
    }
}
