//! A cell and clients on a network in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_chubby::client::{self, Client, ClientSettings};
use picklock_chubby::{Cell, Departure, Input, Output, Replica, Settings};
use picklock_clients::chubby::{
    ChubbyResult, ClientMessage, HandleId, LockMode, OpenOptions, Request, Response, Sequencer,
    SessionId, SessionState,
};
use picklock_machines::{Boring, ConnectionId, Machine, Now, ServerId};

/// How long each message takes.
const LATENCY: Duration = Duration::from_millis(1);

enum Event {
    ToReplica(ServerId, Input),
    ToClient(usize, client::Input),
    Request(ConnectionId, ClientMessage),
    Wake,
}

/// What has become of a lock, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    Acquired(SessionId),
    Released(SessionId, Departure),
    Expired(SessionId),
    Master(ServerId),
}

pub struct World {
    pub now: VirtualTime,
    replicas: Vec<Replica>,
    is_up: Vec<bool>,
    pub clients: Vec<Client>,
    /// How fast the clock of each client runs, in parts of a hundred.
    pub pace: Vec<u32>,
    /// Clients of which nothing gets through.
    pub cut_off: Vec<bool>,
    connections: BTreeMap<ConnectionId, (usize, ServerId)>,
    events: BTreeMap<(VirtualTime, u64), Event>,
    count: u64,
    pub facts: Vec<(Duration, Fact)>,
    pub answers: BTreeMap<(usize, u32), ChubbyResult<Response>>,
    pub states: Vec<(Duration, usize, SessionState)>,
}

/// Settings of the paper: a lease of twelve seconds, and elections of four.
pub fn settings(replicas: u8) -> Settings {
    Settings {
        replicas,
        session_lease: Duration::from_secs(12),
        master_lease: Duration::from_secs(3),
        election_time: Duration::from_secs(4),
    }
}

impl World {
    pub fn new(replicas: u8, clients: usize) -> Self {
        let (cell, settings) = (Cell::default(), settings(replicas));
        let replica = |id| Replica::new(ServerId(id), ServerId(0), &cell, &settings);
        let client = |_| {
            Client::new(ClientSettings {
                replicas,
                first: ServerId(0),
                grace_period: Duration::from_secs(45),
            })
        };
        Self {
            now: VirtualTime::ZERO,
            replicas: (0..replicas).map(replica).collect(),
            is_up: vec![true; usize::from(replicas)],
            clients: (0..clients).map(client).collect(),
            pace: vec![100; clients],
            cut_off: vec![false; clients],
            connections: BTreeMap::new(),
            events: BTreeMap::new(),
            count: 0,
            facts: Vec::new(),
            answers: BTreeMap::new(),
            states: Vec::new(),
        }
    }

    fn schedule(&mut self, after: Duration, event: Event) {
        self.count += 1;
        self.events.insert((self.now + after, self.count), event);
    }

    fn clock(&self, client: usize) -> Now {
        let micros = self.now.micros() * u64::from(self.pace[client]) / 100;
        Now {
            monotonic: VirtualTime::from_micros(micros),
            wall_micros: 0,
        }
    }

    fn replica_input(&mut self, id: ServerId, input: Input) {
        let index = usize::from(id.0);
        if !self.is_up[index] {
            return;
        }
        let now = Now {
            monotonic: self.now,
            wall_micros: 0,
        };
        let mut out = Vec::new();
        self.replicas[index].handle(now, input, &mut Boring, &mut out);
        let at = self.now.since_start();
        for output in out {
            match output {
                Output::ToClient(connection, message) => {
                    let client = self.connections[&connection].0;
                    if !self.cut_off[client] {
                        let input = client::Input::Received(connection, message);
                        self.schedule(LATENCY, Event::ToClient(client, input));
                    }
                }
                Output::ToPeer(to, message) => {
                    self.schedule(LATENCY, Event::ToReplica(to, Input::Peer(id, message)));
                }
                Output::BecameMaster(_) => self.facts.push((at, Fact::Master(id))),
                Output::SessionExpired(session) => self.facts.push((at, Fact::Expired(session))),
                Output::Acquired(_, session, ..) => self.facts.push((at, Fact::Acquired(session))),
                Output::Released(_, session, _, departure) => {
                    self.facts.push((at, Fact::Released(session, departure)));
                }
                Output::SteppedDown | Output::SessionBegan(..) | Output::Done(..) => {}
            }
        }
    }

    pub fn client_input(&mut self, client: usize, input: client::Input) {
        let now = self.clock(client);
        let mut out = Vec::new();
        self.clients[client].handle(now, input, &mut Boring, &mut out);
        for output in out {
            match output {
                client::Output::Dial(replica) => {
                    let connection = ConnectionId(self.connections.len() as u32);
                    self.connections.insert(connection, (client, replica));
                    self.client_input(client, client::Input::Dialled(connection));
                    let opened = match self.is_up[usize::from(replica.0)] {
                        true => client::Input::Opened(connection),
                        false => client::Input::Broken(connection),
                    };
                    if !self.cut_off[client] {
                        self.schedule(LATENCY, Event::ToClient(client, opened));
                    }
                }
                client::Output::Send(connection, message) if !self.cut_off[client] => {
                    self.schedule(LATENCY, Event::Request(connection, message));
                }
                client::Output::Send(..) => {}
                client::Output::HangUp(connection) => {
                    let replica = self.connections[&connection].1;
                    let gone = Input::ClientGone(connection);
                    self.schedule(LATENCY, Event::ToReplica(replica, gone));
                }
                client::Output::Answered(call, answer) => {
                    self.answers.insert((client, call), answer);
                }
                client::Output::Session(state) => {
                    self.states.push((self.now.since_start(), client, state));
                }
            }
        }
    }

    /// The next moment at which something happens.
    fn next(&self) -> VirtualTime {
        let event = self.events.keys().next().map(|(at, _)| *at);
        let up = self.replicas.iter().zip(&self.is_up).filter(|(_, up)| **up);
        let replicas = up.map(|(replica, _)| replica.next_wake());
        let clients = self.clients.iter().zip(&self.pace).map(|(client, pace)| {
            let wake = client.next_wake();
            match wake == VirtualTime::NEVER {
                true => wake,
                false => VirtualTime::from_micros((wake.micros() * 100).div_ceil((*pace).into())),
            }
        });
        let all = replicas.chain(clients).chain(event);
        all.min().unwrap_or(VirtualTime::NEVER).max(self.now)
    }

    /// Lets time pass until so long after the beginning.
    pub fn run_until(&mut self, seconds: f64) {
        let until = VirtualTime::ZERO + Duration::from_secs_f64(seconds);
        while self.next() <= until {
            self.now = self.next();
            let due = self
                .events
                .first_entry()
                .filter(|event| event.key().0 <= self.now);
            match due.map(|event| event.remove()) {
                Some(Event::ToReplica(replica, input)) => self.replica_input(replica, input),
                Some(Event::ToClient(client, input)) => self.client_input(client, input),
                Some(Event::Request(connection, message)) => {
                    let replica = self.connections[&connection].1;
                    self.replica_input(replica, Input::Client(connection, message));
                }
                Some(Event::Wake) => {}
                None => {
                    for replica in 0..self.replicas.len() {
                        if self.replicas[replica].next_wake() <= self.now {
                            self.replica_input(ServerId(replica as u8), Input::Wake);
                        }
                    }
                    for client in 0..self.clients.len() {
                        if self.clients[client].next_wake() <= self.clock(client).monotonic {
                            self.client_input(client, client::Input::Wake);
                        }
                    }
                }
            }
        }
        self.now = until;
        self.schedule(Duration::ZERO, Event::Wake);
    }

    /// A message reaches the master, whatever client has sent it.
    pub fn deliver(&mut self, replica: u8, connection: ConnectionId, message: ClientMessage) {
        self.replica_input(ServerId(replica), Input::Client(connection, message));
    }

    pub fn crash(&mut self, replica: u8) {
        self.is_up[usize::from(replica)] = false;
        let broken = self
            .connections
            .iter()
            .filter(|(_, (_, of))| of.0 == replica);
        let broken: Vec<_> = broken
            .map(|(connection, (client, _))| (*connection, *client))
            .collect();
        for (connection, client) in broken {
            self.schedule(
                LATENCY,
                Event::ToClient(client, client::Input::Broken(connection)),
            );
        }
    }

    pub fn restart(&mut self, replica: u8) {
        self.is_up[usize::from(replica)] = true;
        self.replica_input(ServerId(replica), Input::Restart);
    }

    /// A client asks for something by a handle. Answers the number of the call.
    pub fn ask(&mut self, client: usize, handle: HandleId, request: Request) -> u32 {
        let call = self.clients[client].new_number();
        self.client_input(client, client::Input::Call(call, handle, request));
        call
    }

    /// The same, and lets 50 ms pass.
    pub fn call(
        &mut self,
        client: usize,
        handle: HandleId,
        request: Request,
    ) -> ChubbyResult<Response> {
        let call = self.ask(client, handle, request);
        self.run_until(self.now.since_start().as_secs_f64() + 0.05);
        self.answers[&(client, call)].clone()
    }

    /// A client opens a file with a lock-delay of so many seconds.
    pub fn open(&mut self, client: usize, name: &str, lock_delay: u64) -> HandleId {
        let handle = HandleId(self.clients[client].new_number());
        let options = OpenOptions {
            create: true,
            ephemeral: name.contains("ephemeral"),
            lock_delay: Duration::from_secs(lock_delay),
        };
        let opened = self.call(client, handle, Request::Open(name.into(), options));
        assert!(matches!(opened, Ok(Response::Opened(_))), "{opened:?}");
        handle
    }

    pub fn acquire(&mut self, client: usize, handle: HandleId) -> u32 {
        self.ask(client, handle, Request::Acquire(LockMode::Exclusive))
    }

    pub fn sequencer(&mut self, client: usize, handle: HandleId) -> Sequencer {
        match self.call(client, handle, Request::GetSequencer) {
            Ok(Response::Sequencer(sequencer)) => sequencer,
            other => panic!("{other:?}"),
        }
    }

    /// When something became of a lock or a cell, in seconds.
    pub fn when(&self, fact: &Fact) -> f64 {
        let found = self.facts.iter().find(|(_, known)| known == fact);
        let (at, _) = found.unwrap_or_else(|| panic!("{fact:?} is not among {:?}", self.facts));
        at.as_secs_f64()
    }

    pub fn states_of(&self, client: usize) -> Vec<SessionState> {
        let states = self.states.iter().filter(|(_, of, _)| *of == client);
        states.map(|(_, _, state)| *state).collect()
    }
}
