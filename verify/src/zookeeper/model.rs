//! The model: simulated servers, and a network that takes a fixed time.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_checker::time::whole_micros;
use picklock_clients::zookeeper::SessionId;
use picklock_machines::Boring;
use picklock_zookeeper::messages::{
    ClientMessage, ConnectionId, Password, ServerId, ServerMessage, notifications,
};
use picklock_zookeeper::quorum_messages::PeerMessage;
use picklock_zookeeper::state::{Input, Output, QuorumPeerConfig, Server};

use crate::harness::clock::Clock;
use crate::harness::error::VerifyError;
use crate::zookeeper::backend::{ConnectRequest, EnsembleBackend, Handle, Incoming, ServerIndex};

/// One way between any two, in microseconds.
const LATENCY: u64 = 100;

/// Simulated servers, and what is on its way.
pub struct Model {
    now: VirtualTime,
    servers: Vec<Server>,
    /// How often each was started: what was sent to an earlier life is lost.
    lives: Vec<u32>,
    links: Vec<ModelLink>,
    passwords: BTreeMap<SessionId, Password>,
    events: BTreeMap<(VirtualTime, u64), Event>,
    serial: u64,
    out: Vec<Output>,
}

struct ModelLink {
    server: ServerId,
    life: u32,
    open: bool,
    inbox: VecDeque<Incoming>,
}

enum Event {
    Client(ConnectionId, ClientMessage),
    Gone(ConnectionId),
    Answer(ConnectionId, ServerMessage),
    Closed(ConnectionId),
    Depart(ServerId, u32, ServerId, PeerMessage),
    Arrive(ServerId, u32, ServerId, PeerMessage),
}

impl Model {
    /// Servers that have formed an ensemble and serve; or one that stands alone.
    pub fn formed(settings: QuorumPeerConfig) -> Self {
        let servers = Server::formed(&Rc::new(settings), &[]);
        Self {
            now: VirtualTime::ZERO,
            lives: vec![0; servers.len()],
            servers,
            links: Vec::new(),
            passwords: BTreeMap::new(),
            events: BTreeMap::new(),
            serial: 0,
            out: Vec::new(),
        }
    }

    fn at(&mut self, time: VirtualTime, event: Event) {
        self.serial += 1;
        self.events.insert((time, self.serial), event);
    }

    fn soon(&mut self, event: Event) {
        self.at(after(self.now, LATENCY), event);
    }

    fn input(&mut self, to: ServerId, input: Input) {
        let mut out = std::mem::take(&mut self.out);
        let server = &mut self.servers[usize::from(to.0)];
        server.handle(self.now, input, &mut Boring, &mut out);
        self.outputs(to, &mut out);
        self.out = out;
    }

    fn outputs(&mut self, from: ServerId, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            match output {
                Output::ToClient {
                    connection,
                    message,
                    ..
                } => self.soon(Event::Answer(connection, message)),
                Output::Notify {
                    connections,
                    kind,
                    path,
                    ..
                } => {
                    for (connection, message) in notifications(connections, kind, path) {
                        self.soon(Event::Answer(connection, message));
                    }
                }
                Output::CloseClient { connection } => self.soon(Event::Closed(connection)),
                Output::ToPeer { to, message, at } => {
                    let life = self.lives[usize::from(from.0)];
                    self.at(at, Event::Depart(from, life, to, message));
                }
                Output::Committed(_)
                | Output::Proposed { .. }
                | Output::SessionExpired { .. }
                | Output::BecameLeader
                | Output::StartedServing
                | Output::StoppedServing => {}
            }
        }
    }

    /// Handles whatever comes next, if it comes until then.
    fn step(&mut self, until: VirtualTime) -> bool {
        let wakes = self.servers.iter().map(Server::next_wake);
        let (wake, sleeper) = wakes.zip(0..).min().unwrap_or((VirtualTime::NEVER, 0));
        let event = self
            .events
            .keys()
            .next()
            .map_or(VirtualTime::NEVER, |key| key.0);
        if wake.min(event) > until {
            self.now = until;
            return false;
        }
        self.now = self.now.max(wake.min(event));
        if wake < event {
            self.input(ServerId(sleeper), Input::Wake);
        } else if let Some((_, event)) = self.events.pop_first() {
            self.happen(event);
        }
        true
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Client(connection, message) => {
                let link = &self.links[connection.0 as usize];
                let to = link.server;
                if link.open && self.lives[usize::from(to.0)] == link.life {
                    self.input(
                        to,
                        Input::Client {
                            connection,
                            message,
                        },
                    );
                }
            }
            Event::Gone(connection) => {
                let link = &self.links[connection.0 as usize];
                let to = link.server;
                if self.lives[usize::from(to.0)] == link.life {
                    self.input(to, Input::ClientGone { connection });
                }
            }
            Event::Answer(connection, message) => {
                if let ServerMessage::Connected {
                    session, password, ..
                } = &message
                {
                    self.passwords.insert(*session, *password);
                }
                let link = &mut self.links[connection.0 as usize];
                if link.open {
                    link.inbox.push_back(Incoming::Message(message));
                }
            }
            Event::Closed(connection) => self.links[connection.0 as usize].close(),
            Event::Depart(from, life, to, message) => {
                if self.lives[usize::from(from.0)] == life {
                    let life = self.lives[usize::from(to.0)];
                    self.soon(Event::Arrive(from, life, to, message));
                }
            }
            Event::Arrive(from, life, to, message) => {
                if self.lives[usize::from(to.0)] == life {
                    self.input(to, Input::Peer { from, message });
                }
            }
        }
    }

    fn server(&mut self, place: ServerIndex) -> &mut Server {
        &mut self.servers[place.0]
    }
}

impl ModelLink {
    fn close(&mut self) {
        if self.open {
            self.open = false;
            self.inbox.push_back(Incoming::Closed);
        }
    }
}

impl Clock for Model {
    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        let until = after(self.now, whole_micros(time));
        while self.step(until) {}
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.now.micros())
    }
}

impl EnsembleBackend for Model {
    fn connect(
        &mut self,
        place: ServerIndex,
        hello: &ConnectRequest,
    ) -> Result<Handle, VerifyError> {
        let id = ConnectionId(self.links.len() as u32);
        let serving = self.server(place).is_serving();
        let mut link = ModelLink {
            server: self.server(place).id(),
            life: self.lives[place.0],
            open: true,
            inbox: VecDeque::new(),
        };
        if !serving {
            link.close();
        }
        self.links.push(link);
        let mut password = self.passwords.get(&hello.session).copied();
        if hello.wrong_password {
            password = password.map(|right| Password(!right.0));
        }
        let message = ClientMessage::Connect {
            session: hello.session,
            password: password.unwrap_or_default(),
            timeout: whole_micros(hello.timeout),
            last_zxid: hello.last_zxid,
            read_only: hello.read_only,
        };
        self.soon(Event::Client(id, message));
        Ok(Handle(id.0 as usize))
    }

    fn send(&mut self, link: Handle, message: &ClientMessage) -> Result<(), VerifyError> {
        let id = ConnectionId(link.0 as u32);
        self.soon(Event::Client(id, message.clone()));
        Ok(())
    }

    fn receive(&mut self, link: Handle, timeout: Duration) -> Result<Incoming, VerifyError> {
        let until = after(self.now, whole_micros(timeout));
        loop {
            if let Some(incoming) = self.links[link.0].inbox.pop_front() {
                return Ok(incoming);
            }
            if !self.links[link.0].open {
                return Ok(Incoming::Closed);
            }
            if !self.step(until) {
                return Ok(Incoming::Nothing);
            }
        }
    }

    fn cut(&mut self, link: Handle) {
        let id = ConnectionId(link.0 as u32);
        self.links[link.0].open = false;
        self.soon(Event::Gone(id));
    }

    fn kill(&mut self, place: ServerIndex) -> Result<(), VerifyError> {
        let now = self.now;
        self.server(place).crash(now);
        self.lives[place.0] += 1;
        let dead = self.server(place).id();
        for link in &mut self.links {
            if link.server == dead {
                link.close();
            }
        }
        for server in 0..self.servers.len() {
            let other = self.servers[server].id();
            if other != dead && self.servers[server].is_running() {
                self.input(other, Input::PeerLost { peer: dead });
            }
        }
        Ok(())
    }

    fn start(&mut self, place: ServerIndex) -> Result<(), VerifyError> {
        let mut out = std::mem::take(&mut self.out);
        let now = self.now;
        let server = self.server(place);
        let id = server.id();
        server.restart(now, &mut Boring, &mut out);
        self.outputs(id, &mut out);
        self.out = out;
        Ok(())
    }

    fn leader(&mut self) -> Result<Option<ServerIndex>, VerifyError> {
        let leads = |server: &Server| server.is_leader() && server.is_serving();
        Ok(self.servers.iter().position(leads).map(ServerIndex))
    }

    fn is_read_only(&mut self, place: ServerIndex) -> Result<bool, VerifyError> {
        let server = self.server(place);
        Ok(server.is_serving() && server.is_read_only())
    }

    fn serves(&mut self, place: ServerIndex) -> Result<bool, VerifyError> {
        let server = self.server(place);
        Ok(server.is_serving() && !server.is_read_only())
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// It is an answer like any other, and the real server will have another.
    fn silent(&mut self, _link: Handle, _asked: &str) -> Result<(), VerifyError> {
        Ok(())
    }
}

fn after(time: VirtualTime, micros: u64) -> VirtualTime {
    VirtualTime::from_micros(time.micros().saturating_add(micros))
}
