//! Servers and Sentinels, and everything that they say to each other.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::clients::redis::{Command, Value};
use picklock_checker::VirtualTime;
use picklock_redis::sentinel::{CallId, Event, Sentinel};
use picklock_redis::{
    Address, ConnectionId, End, Input, LinkId, Now, Output, PeerMessage, Server, Settings, sentinel,
};

/// A message takes this long, in microseconds.
const LATENCY: u64 = 300;
/// Connections of Sentinels have numbers from here on.
const CALLS: u32 = 1 << 31;

/// A machine: a server or a Sentinel, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    Server(usize),
    Sentinel(usize),
}
use Machine::{Sentinel as S, Server as R};

/// What comes to a machine.
enum What {
    Server(Input),
    /// Somebody wants a link, or a connection.
    Knock(LinkId),
    Hello(ConnectionId),
    Sentinel(sentinel::Input),
    Look,
}

/// Who is paused, dead, and cut off, and what the clocks show.
#[derive(Default)]
struct State {
    dead: bool,
    stopped: bool,
    backlog: Vec<(Machine, What)>,
    jump: i64,
    /// When it looks at the clock next, if that is known.
    armed: Option<u64>,
}

/// Servers, of which the first is the primary, and Sentinels.
pub struct Town {
    pub now: u64,
    servers: Vec<Server>,
    sentinels: Vec<Sentinel>,
    states: Vec<State>,
    queue: BTreeMap<(u64, u64), (Machine, Machine, What)>,
    number: u64,
    /// Replica, primary, and whether it is open.
    links: Vec<(usize, usize, bool)>,
    /// The ends of open calls at their callees.
    calls: BTreeMap<ConnectionId, Machine>,
    /// Nothing gets from one of these to the other, either way.
    pub cut: Vec<(Machine, Machine)>,
    /// What the Sentinels have written into their logs: when, who, what, about which port.
    pub log: Vec<(u64, usize, Event, u16)>,
    answers: Vec<(ConnectionId, Value)>,
    closed: Vec<ConnectionId>,
    chance: u32,
}

fn address(machine: Machine) -> Address {
    let (host, port) = match machine {
        R(place) => ("server", place),
        S(place) => ("sentinel", place),
    };
    Address {
        host: host.into(),
        port: port as u16,
    }
}

impl Town {
    /// A primary, replicas, and Sentinels that know everybody.
    pub fn of(replicas: usize, sentinels: usize, set: impl Fn(&mut sentinel::Settings)) -> Self {
        let mut town = Self {
            now: 0,
            servers: (0..=replicas).map(server).collect(),
            sentinels: Vec::new(),
            states: (0..=replicas + sentinels)
                .map(|_| State::default())
                .collect(),
            queue: BTreeMap::new(),
            number: 0,
            links: Vec::new(),
            calls: BTreeMap::new(),
            cut: Vec::new(),
            log: Vec::new(),
            answers: Vec::new(),
            closed: Vec::new(),
            chance: 1,
        };
        for place in 0..sentinels {
            let mut settings = sentinel::Settings::new(
                place as u32,
                address(S(place)),
                address(R(0)),
                sentinels / 2 + 1,
            );
            settings.replicas = (1..=replicas).map(|place| address(R(place))).collect();
            let others = (0..sentinels).filter(|other| *other != place);
            settings.sentinels = others.map(|it| (it as u32, address(S(it)))).collect();
            settings.down_after = Duration::from_secs(1);
            settings.failover_timeout = Duration::from_secs(6);
            set(&mut settings);
            let now = town.clock(S(place));
            town.sentinels.push(Sentinel::new(Rc::new(settings), now));
        }
        for place in 0..=replicas {
            town.arm(place);
        }
        for place in 0..sentinels {
            town.add(place as u64 * 37_000, S(place), S(place), What::Look);
        }
        town.run(3_000);
        town
    }

    fn state(&mut self, machine: Machine) -> &mut State {
        let place = match machine {
            R(place) => place,
            S(place) => self.servers.len() + place,
        };
        &mut self.states[place]
    }

    fn clock(&mut self, machine: Machine) -> Now {
        let jump = self.state(machine).jump;
        Now {
            monotonic: VirtualTime::from_micros(self.now),
            wall_micros: 1_700_000_000_000_000 + self.now as i64 + jump,
        }
    }

    fn add(&mut self, at: u64, from: Machine, to: Machine, what: What) {
        self.number += 1;
        self.queue.insert((at, self.number), (from, to, what));
    }

    fn send(&mut self, from: Machine, to: Machine, what: What) {
        let pair = [(from, to), (to, from)];
        if !self.cut.iter().any(|cut| pair.contains(cut)) {
            self.add(self.now + LATENCY, from, to, what);
        }
    }

    /// So many milliseconds pass.
    pub fn run(&mut self, millis: u64) {
        let end = self.now + millis * 1_000;
        while let Some(entry) = self.queue.first_entry() {
            if entry.key().0 > end {
                break;
            }
            self.now = self.now.max(entry.key().0);
            let (from, to, what) = entry.remove();
            self.deliver(from, to, what);
        }
        self.now = end;
    }

    fn deliver(&mut self, from: Machine, to: Machine, what: What) {
        let state = self.state(to);
        let kernel = matches!(what, What::Knock(_) | What::Hello(_));
        if state.dead && !kernel {
            state.armed = None;
            return;
        }
        if state.stopped && !kernel {
            if matches!(what, What::Look) {
                state.armed = None;
            }
            state.backlog.push((from, what));
            return;
        }
        let dead = state.dead;
        match (to, what) {
            (R(place), What::Server(input)) => self.tell(place, input),
            (R(place), What::Look) => {
                self.state(to).armed = None;
                self.tell(place, Input::Wake);
            }
            (S(place), What::Sentinel(input)) => self.ask(place, input),
            (S(place), What::Look) => {
                self.ask(place, sentinel::Input::Wake);
                let next = self.sentinels[place].next_wake().micros();
                self.add(next, to, to, What::Look);
            }
            (R(place), What::Knock(link)) => {
                self.links[link.0 as usize].2 = !dead;
                let input = if dead {
                    Input::LinkGone { link: None }
                } else {
                    Input::Linked { link }
                };
                self.send(R(place), from, What::Server(input));
            }
            (_, What::Hello(connection)) if dead => self.refuse(to, connection),
            (_, What::Hello(connection)) => {
                self.calls.insert(connection, to);
            }
            _ => {}
        }
    }

    fn refuse(&mut self, by: Machine, connection: ConnectionId) {
        let (sentinel, call) = caller(connection);
        let closed = sentinel::Input::Closed { call };
        self.send(by, S(sentinel), What::Sentinel(closed));
    }

    fn arm(&mut self, place: usize) {
        let wake = self.servers[place].next_wake();
        let at = wake.micros().max(self.now + 1);
        let state = self.state(R(place));
        if wake != VirtualTime::NEVER && state.armed.is_none_or(|armed| at < armed) {
            state.armed = Some(at);
            self.add(at, R(place), R(place), What::Look);
        }
    }

    fn tell(&mut self, place: usize, input: Input) {
        let now = self.clock(R(place));
        let mut out = Vec::new();
        self.servers[place].handle(now, input, &mut out);
        self.does(place, out);
    }

    fn does(&mut self, place: usize, out: Vec<Output>) {
        for output in out {
            match output {
                Output::ToClient { connection, value } if connection.0 < CALLS => {
                    self.answers.push((connection, value));
                }
                Output::ToClient { connection, value } => self.answer(R(place), connection, value),
                Output::Close { connection } if connection.0 < CALLS => {
                    self.closed.push(connection)
                }
                Output::Close { connection } => {
                    self.calls.remove(&connection);
                    self.refuse(R(place), connection);
                }
                Output::ReachPrimary { to } => {
                    let link = LinkId(self.links.len() as u32);
                    self.links.push((place, to.port.into(), true));
                    self.send(R(place), R(to.port.into()), What::Knock(link));
                }
                Output::ToPeer { link, message } => self.tell_peer(place, link, message),
                Output::CloseLink { link } => self.close_link(place, link),
                other => panic!("{other:?}"),
            }
        }
        self.arm(place);
    }

    fn tell_peer(&mut self, from: usize, link: LinkId, message: PeerMessage) {
        let (replica, primary, open) = self.links[link.0 as usize];
        if open {
            let to = if from == replica { primary } else { replica };
            let input = Input::FromPeer { link, message };
            self.send(R(from), R(to), What::Server(input));
        }
    }

    fn close_link(&mut self, from: usize, link: LinkId) {
        let (replica, primary, open) = self.links[link.0 as usize];
        if open {
            self.links[link.0 as usize].2 = false;
            let to = if from == replica { primary } else { replica };
            let gone = Input::LinkGone { link: Some(link) };
            self.send(R(from), R(to), What::Server(gone));
        }
    }

    fn answer(&mut self, from: Machine, connection: ConnectionId, value: Value) {
        let (sentinel, call) = caller(connection);
        let input = sentinel::Input::Answered { call, value };
        self.send(from, S(sentinel), What::Sentinel(input));
    }

    fn ask(&mut self, place: usize, input: sentinel::Input) {
        let now = self.clock(S(place));
        let mut out = Vec::new();
        let chance = &mut self.chance;
        let mut choose = |below: u32| {
            *chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (*chance >> 8) % below
        };
        self.sentinels[place].handle(now, input, &mut choose, &mut out);
        for output in out {
            self.sentinel_does(place, output);
        }
    }

    fn sentinel_does(&mut self, place: usize, output: sentinel::Output) {
        match output {
            sentinel::Output::Call { call, to } => {
                let connection = connection(place, call);
                let callee = machine(&to);
                self.calls.insert(connection, callee);
                self.send(S(place), callee, What::Hello(connection));
            }
            sentinel::Output::Send { call, command } => {
                let connection = connection(place, call);
                if let Some(callee) = self.calls.get(&connection).copied() {
                    let what = asked(callee, connection, command);
                    self.send(S(place), callee, what);
                }
            }
            sentinel::Output::HangUp { call } => {
                let connection = connection(place, call);
                if let Some(R(callee)) = self.calls.remove(&connection) {
                    let gone = Input::Gone { connection };
                    self.send(S(place), R(callee), What::Server(gone));
                }
            }
            sentinel::Output::ToClient { connection, value } if connection.0 < CALLS => {
                self.answers.push((connection, value));
            }
            sentinel::Output::ToClient { connection, value } => {
                self.answer(S(place), connection, value);
            }
            sentinel::Output::Noted { event, about } => {
                self.log.push((self.now, place, event, about.port));
            }
        }
    }

    /// A client asks a server, by a connection that it keeps; `None` if nobody answers, or it was closed.
    pub fn on(&mut self, server: usize, connection: u32, text: &str) -> Option<Value> {
        let connection = ConnectionId(connection);
        if self.closed.contains(&connection) || self.state(R(server)).dead {
            return None;
        }
        let command = Command::of(text.split(' ')).expect("a command");
        let input = Input::Received {
            connection,
            command,
        };
        self.answers.clear();
        self.deliver(R(server), R(server), What::Server(input));
        self.taken(connection)
    }

    fn taken(&mut self, connection: ConnectionId) -> Option<Value> {
        let answers = std::mem::take(&mut self.answers).into_iter();
        let mut own = answers.filter(|(to, _)| *to == connection);
        own.next().map(|(_, value)| value)
    }

    /// A client asks a Sentinel.
    pub fn ask_sentinel(&mut self, sentinel: usize, text: &str) -> Option<Value> {
        let connection = ConnectionId(7);
        let command = Command::of(text.split(' ')).expect("a command");
        self.answers.clear();
        self.ask(
            sentinel,
            sentinel::Input::Received {
                connection,
                command,
            },
        );
        self.taken(connection)
    }

    /// The port of the primary, as a Sentinel tells clients.
    pub fn primary_of(&self, sentinel: usize) -> u16 {
        self.sentinels[sentinel].primary().port
    }

    pub fn is_primary(&self, server: usize) -> bool {
        self.servers[server].is_primary()
    }

    pub fn stop(&mut self, machine: Machine) {
        self.state(machine).stopped = true;
    }

    pub fn go_on(&mut self, machine: Machine) {
        let state = self.state(machine);
        state.stopped = false;
        state.armed = None;
        for (from, what) in std::mem::take(&mut state.backlog) {
            self.deliver(from, machine, what);
        }
    }

    pub fn jump(&mut self, machine: Machine, seconds: i64) {
        self.state(machine).jump += seconds * 1_000_000;
    }

    pub fn kill(&mut self, machine: Machine) {
        self.state(machine).dead = true;
        if let R(place) = machine {
            for number in 0..self.links.len() {
                if self.links[number].0 == place || self.links[number].1 == place {
                    self.close_link(place, LinkId(number as u32));
                }
            }
        }
        let all = self.calls.iter();
        let its: Vec<_> = all
            .filter(|(_, to)| **to == machine)
            .map(|(id, _)| *id)
            .collect();
        for connection in its {
            self.calls.remove(&connection);
            self.refuse(machine, connection);
        }
    }

    pub fn restart(&mut self, machine: Machine) {
        let now = self.clock(machine);
        let state = self.state(machine);
        state.dead = false;
        match machine {
            R(place) => {
                let mut out = Vec::new();
                self.servers[place].restart(now, End::Kill, &mut out);
                self.does(place, out);
            }
            S(place) => {
                self.sentinels[place].restart(now);
                self.add(self.now, machine, machine, What::Look);
            }
        }
    }

    /// When a Sentinel, any, first wrote this into its log after a time, in milliseconds after that.
    pub fn first(&self, event: Event, after: u64) -> Option<u64> {
        let found = self
            .log
            .iter()
            .find(|(at, _, what, _)| *what == event && *at >= after);
        found.map(|(at, ..)| (at - after) / 1_000)
    }

    pub fn count(&self, event: Event) -> usize {
        self.log
            .iter()
            .filter(|(_, _, what, _)| *what == event)
            .count()
    }
}

fn server(place: usize) -> Server {
    Server::new(Rc::new(Settings {
        number: place as u32,
        address: Some(address(R(place))),
        primary: (place > 0).then(|| address(R(0))),
        ..Settings::default()
    }))
}

fn machine(address: &Address) -> Machine {
    match &*address.host {
        "server" => R(address.port.into()),
        _ => S(address.port.into()),
    }
}

fn connection(sentinel: usize, call: CallId) -> ConnectionId {
    ConnectionId(CALLS | (sentinel as u32) << 24 | call.0)
}

fn caller(connection: ConnectionId) -> (usize, CallId) {
    let number = connection.0 & !CALLS;
    ((number >> 24) as usize, CallId(number & 0xff_ffff))
}

fn asked(callee: Machine, connection: ConnectionId, command: Command) -> What {
    match callee {
        R(_) => What::Server(Input::Received {
            connection,
            command,
        }),
        S(_) => What::Sentinel(sentinel::Input::Received {
            connection,
            command,
        }),
    }
}
