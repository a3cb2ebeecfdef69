//! The model, by the clock of the machine.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Value};
use picklock_machines::{Boring, Machine};
use picklock_redis::{
    Address, ConnectionId, Input, LinkId, Now, Output, PeerMessage, Server, ServerConfig,
};

use super::backend::{CLIENTS, Incoming, ServerBackend};
use crate::harness::error::VerifyError;

/// After how many instructions a script is one that goes on for ever: no other of the comparison has as many.
const SCRIPT_BUDGET: u64 = 5_000_000;

/// The model, and what has come out of it that nobody has read.
pub(super) struct Model {
    server: Server,
    now: Now,
    out: Vec<Output>,
    /// The connection that each wire is at the moment, and what has come over it.
    wires: [(ConnectionId, VecDeque<Incoming>); CLIENTS],
    next: u32,
    /// What its replica was told.
    stream: Vec<Command>,
    /// What it has said it does not model.
    pub(super) not_modelled: Vec<String>,
}

impl Model {
    pub(super) fn new() -> Self {
        let settings = ServerConfig {
            active_expiry: false,
            script_budget: SCRIPT_BUDGET,
            ..ServerConfig::default()
        };
        Self {
            server: Server::new(Rc::new(settings)),
            now: Now {
                monotonic: VirtualTime::ZERO,
                wall_micros: 0,
            },
            out: Vec::new(),
            wires: std::array::from_fn(|_| (ConnectionId(u32::MAX), VecDeque::new())),
            next: 0,
            stream: Vec::new(),
            not_modelled: Vec::new(),
        }
    }

    /// Time goes on to this moment, if it is not there already.
    pub(super) fn pass_to(&mut self, wall_micros: i64) {
        let end = wall_micros.max(self.now.wall_micros);
        loop {
            let wait = self.server.next_wake().since(self.now.monotonic);
            let wait = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
            let wake = self.now.wall_micros.saturating_add(wait);
            if self.server.next_wake() == VirtualTime::NEVER || wake > end {
                break;
            }
            self.move_to(wake);
            self.handle(Input::Wake);
        }
        self.move_to(end);
    }

    fn move_to(&mut self, wall_micros: i64) {
        let more = (wall_micros - self.now.wall_micros).max(0).unsigned_abs();
        // The first move is from the beginning of all time: the monotonic clock does not go with it.
        let more = if self.now.wall_micros == 0 { 0 } else { more };
        self.now.monotonic = VirtualTime::from_micros(self.now.monotonic.micros() + more);
        self.now.wall_micros = wall_micros;
    }

    /// Attaches a replica that says nothing but that it is there.
    pub(super) fn attach(&mut self) {
        let link = LinkId(0);
        let sync = PeerMessage::Sync {
            id: None,
            wanted: 0,
            address: Some(Address {
                host: "127.0.0.1".into(),
                port: 0,
            }),
        };
        for message in [sync, PeerMessage::Ack { offset: 0 }] {
            self.handle(Input::FromPeer { link, message });
        }
    }

    fn handle(&mut self, input: Input) {
        self.server
            .handle(self.now, input, &mut Boring, &mut self.out);
        for output in self.out.drain(..) {
            let (connection, incoming) = match output {
                Output::ToClient { connection, value } => (connection, Incoming::Value(value)),
                Output::Close { connection } => (connection, Incoming::Closed),
                Output::NotModelled { what } => {
                    self.not_modelled.push(what);
                    continue;
                }
                Output::ToPeer {
                    message: PeerMessage::Stream(part),
                    ..
                } => {
                    self.stream.extend(part.commands.iter().cloned());
                    continue;
                }
                Output::ReachPrimary { .. }
                | Output::ToPeer { .. }
                | Output::ToNode { .. }
                | Output::CloseLink { .. }
                // It goes on until it is killed, as a real one would.
                | Output::ScriptCut { .. } => {
                    continue;
                }
            };
            let wire = self.wires.iter_mut().find(|(id, _)| *id == connection);
            if let Some((_, incoming_of)) = wire {
                incoming_of.push_back(incoming);
            }
        }
    }
}

impl ServerBackend for Model {
    fn connect(&mut self, wire: usize) -> Result<(), VerifyError> {
        let old = self.wires[wire].0;
        self.handle(Input::Gone { connection: old });
        let connection = ConnectionId(self.next);
        self.next += 1;
        self.wires[wire] = (connection, VecDeque::new());
        self.handle(Input::Connected { connection });
        Ok(())
    }

    fn send(&mut self, wire: usize, command: &Command) -> Result<(), VerifyError> {
        let connection = self.wires[wire].0;
        let command = command.clone();
        self.handle(Input::Received {
            connection,
            command,
        });
        Ok(())
    }

    fn receive(&mut self, wire: usize) -> Result<Incoming, VerifyError> {
        loop {
            if let Some(incoming) = self.wires[wire].1.pop_front() {
                return Ok(incoming);
            }
            let wake = self.server.next_wake();
            if wake == VirtualTime::NEVER {
                return Ok(Incoming::Value(Value::error("nothing, for ever")));
            }
            let wait = wake.since(self.now.monotonic).as_micros() as i64;
            self.move_to(self.now.wall_micros + wait);
            self.handle(Input::Wake);
        }
    }

    fn streamed(&mut self, _: &str, _: &str) -> Result<Vec<Command>, VerifyError> {
        let link = LinkId(0);
        let message = PeerMessage::Ack { offset: 0 };
        self.handle(Input::FromPeer { link, message });
        Ok(std::mem::take(&mut self.stream))
    }
}
