//! The model, by the clock of the machine.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use picklock_clients::redis::{Command, Value};
use picklock_machines::Boring;
use picklock_redis::{
    Address, ConnectionId, Input, LinkId, Output, PeerMessage, Server, ServerConfig, ServerVersion,
};
use picklock_testkit::Harness;

use super::backend::{CLIENTS, Incoming, ServerBackend};
use crate::harness::error::VerifyError;

/// After how many instructions a script is one that goes on for ever: no other of the comparison has as many.
const SCRIPT_BUDGET: u64 = 5_000_000;

/// The model, and its output that was not read yet.
pub(super) struct Model {
    server: Harness<Server, Boring>,
    /// The connection that each wire is at the moment, and what has come over it.
    wires: [(ConnectionId, VecDeque<Incoming>); CLIENTS],
    next: u32,
    /// The commands that its replica got.
    stream: Vec<Command>,
    /// The version of its server.
    pub(super) version: ServerVersion,
    /// What it has said it does not model.
    pub(super) not_modelled: Vec<String>,
}

impl Model {
    pub(super) fn new(version: ServerVersion) -> Self {
        let settings = ServerConfig {
            version,
            active_expiry: false,
            script_budget: SCRIPT_BUDGET,
            ..ServerConfig::default()
        };
        Self {
            server: Harness::new(Server::new(Rc::new(settings)), 0, Boring),
            wires: std::array::from_fn(|_| (ConnectionId(u32::MAX), VecDeque::new())),
            next: 0,
            stream: Vec::new(),
            version,
            not_modelled: Vec::new(),
        }
    }

    /// Time goes on to this moment, if it is not there already.
    pub(super) fn pass_to(&mut self, wall_micros: i64) {
        let now = &mut self.server.now.wall_micros;
        if *now == 0 {
            // From the beginning of all time: the monotonic clock does not go with it.
            *now = wall_micros;
        }
        let more = (wall_micros - *now).max(0).unsigned_abs();
        self.server.pass(Duration::from_micros(more));
        self.hand_out();
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
        for message in [
            sync,
            PeerMessage::Ack {
                offset: 0,
                synced: None,
            },
        ] {
            self.handle(Input::FromPeer { link, message });
        }
    }

    fn handle(&mut self, input: Input) {
        self.server.input(input);
        self.hand_out();
    }

    /// What the server has wanted done goes where it belongs.
    fn hand_out(&mut self) {
        for output in self.server.out.drain(..) {
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
            if !self.server.wake() {
                return Ok(Incoming::Value(Value::error("nothing, for ever")));
            }
            self.hand_out();
        }
    }

    fn streamed(&mut self, _: &str, _: &str) -> Result<Vec<Command>, VerifyError> {
        let link = LinkId(0);
        let message = PeerMessage::Ack {
            offset: 0,
            synced: None,
        };
        self.handle(Input::FromPeer { link, message });
        Ok(std::mem::take(&mut self.stream))
    }
}
