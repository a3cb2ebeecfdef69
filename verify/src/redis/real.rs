//! A real server on loopback, and what it tells its clients and a replica.

mod found;
mod install;
mod server;

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use picklock_clients::redis::{Command, Value};

pub use found::Found;
pub use install::{HOW, Installed};
pub(super) use server::{Connection, RealServer};

use super::backend::{CLIENTS, Incoming, ServerBackend};
use crate::harness::clock::{self, Clock, until};
use crate::harness::error::{Result, VerifyError, unless_stopped};
use crate::harness::network::free_port;

/// How long a server may take to start, and to answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often one looks whether it has started.
const LOOK: Duration = Duration::from_millis(5);

/// How a replica says that it is there.
const ACK: &[u8] = b"*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$1\r\n0\r\n";

/// A real server, and connections to it.
pub(super) struct Real<'a> {
    connections: [Option<Connection>; CLIENTS],
    /// As a replica sees it.
    replica: Option<Connection>,
    server: RealServer,
    /// What it says that it is.
    pub(super) found: Found,
    began: Instant,
    stop: &'a AtomicBool,
}

impl<'a> Real<'a> {
    /// Starts a server, and waits until it answers.
    pub(super) fn start(installed: &Installed, stop: &'a AtomicBool) -> Result<Self> {
        let server = RealServer::start(installed, free_port()?, &[])?;
        let mut real = Self {
            connections: [const { None }; CLIENTS],
            replica: None,
            server,
            found: Found::default(),
            began: clock::now(),
            stop,
        };
        real.await_start()?;
        // An expired key stays until a command asks for it: otherwise it would depend on the moment.
        for command in ["DEBUG SET-ACTIVE-EXPIRE 0", "CLIENT ID"] {
            if let Some(command) = Command::of(command.split(' ')) {
                real.send(0, &command)?;
                real.receive(0)?;
            }
        }
        real.send(0, &Command::new("INFO").arg("server"))?;
        let Incoming::Value(info) = real.receive(0)? else {
            return Err(real
                .server
                .process
                .not_started("it closes connections".to_owned()));
        };
        real.found = Found::read(&String::from_utf8_lossy(info.bytes().unwrap_or_default()))?;
        real.connections[0] = None;
        let attached = real.attach();
        attached.map_err(VerifyError::io("cannot become a replica of redis-server"))?;
        Ok(real)
    }

    /// Becomes a replica, which throws the keys away and listens to what comes after.
    fn attach(&mut self) -> io::Result<()> {
        let mut replica = Connection::open(self.server.port, TIMEOUT)?;
        replica.write(b"PSYNC ? -1\r\n")?;
        let mut line = Vec::new();
        while !line.starts_with(b"$") {
            line.clear();
            if replica.0.read_until(b'\n', &mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let length = String::from_utf8_lossy(&line[1..]).trim().parse();
        let mut keys = vec![0; length.unwrap_or(0)];
        replica.0.read_exact(&mut keys)?;
        replica.write(ACK)?;
        self.replica = Some(replica);
        Ok(())
    }

    fn await_start(&mut self) -> Result<()> {
        let mut why = String::new();
        let started = until(self, (TIMEOUT, LOOK), |real| {
            match Connection::open(real.server.port, TIMEOUT) {
                Ok(connection) => real.connections[0] = Some(connection),
                Err(error) => {
                    why = error.to_string();
                    real.server.process.check_starting()?;
                }
            }
            Ok(real.connections[0].is_some())
        })?;
        match started {
            Some(_) => Ok(()),
            None => Err(self.server.process.not_started(why)),
        }
    }
}

impl Clock for Real<'_> {
    fn pass(&mut self, time: Duration) -> Result<()> {
        unless_stopped(self.stop)?;
        clock::sleep(time);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        clock::now() - self.began
    }
}

impl ServerBackend for Real<'_> {
    fn connect(&mut self, connection: usize) -> Result<()> {
        self.connections[connection] = None;
        let opened = Connection::open(self.server.port, TIMEOUT);
        let opened = opened.map_err(VerifyError::io("cannot connect to redis-server"))?;
        self.connections[connection] = Some(opened);
        Ok(())
    }

    fn send(&mut self, connection: usize, command: &Command) -> Result<()> {
        unless_stopped(self.stop)?;
        if let Some(connection) = &mut self.connections[connection] {
            // A connection that the server has closed takes nothing; what it has sent before can still be read.
            let _ = connection.send(command);
        }
        Ok(())
    }

    fn receive(&mut self, connection: usize) -> Result<Incoming> {
        let Some(open) = &mut self.connections[connection] else {
            return Ok(Incoming::Closed);
        };
        let error = match open.receive() {
            Ok(value) => return Ok(Incoming::Value(value)),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                self.server.process.check_alive()?;
                self.connections[connection] = None;
                Ok(Incoming::Closed)
            }
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                Ok(Incoming::Value(Value::error("nothing, for ever")))
            }
            _ => Err(VerifyError::io("cannot read an answer of redis-server")(
                error,
            )),
        }
    }

    fn streamed(&mut self, channel: &str, text: &str) -> Result<Vec<Command>> {
        let mut commands = Vec::new();
        let Some(replica) = &mut self.replica else {
            return Ok(commands);
        };
        // So that it is not taken for dead.
        let _ = replica.write(ACK);
        loop {
            let value = replica.receive();
            let value = value.map_err(VerifyError::io("cannot read what replicas are told"))?;
            let words = value.values().unwrap_or_default();
            let words = words.iter().filter_map(Value::bytes);
            let Some(command) = Command::of(words) else {
                continue;
            };
            let is_last = command.is("PUBLISH")
                && command.word(1) == Some(channel.as_bytes())
                && command.word(2) == Some(text.as_bytes());
            commands.push(command);
            if is_last {
                return Ok(commands);
            }
        }
    }
}
