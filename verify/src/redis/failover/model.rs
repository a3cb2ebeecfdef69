//! Servers and Sentinels of the model, in a time of their own.

mod links;
mod sentinels;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::clients::redis::Value;
use picklock_checker::VirtualTime;
use picklock_redis::sentinel::{self, Event, Sentinel};
use picklock_redis::{Address, ConnectionId, End, Input, LinkId, Now, Output, Server, Settings};

use super::{Flow, Setup, command};
use crate::error::VerifyError;
use links::Link;

/// A message takes this long, in microseconds.
const LATENCY: u64 = 300;
/// What the wall clock shows at first, in microseconds.
const WALL: i64 = 1_700_000_000_000_000;
/// How long a server may take to answer, in microseconds.
const ANSWER: u64 = 5_000_000;
/// Connections of Sentinels have numbers from here on.
const CALLS: u32 = 1 << 31;

/// A machine: a server or a Sentinel, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    Server(usize),
    Sentinel(usize),
}

/// What comes to a machine.
enum What {
    Server(Input),
    /// A replica wants a link.
    Knock(LinkId),
    /// A Sentinel wants a connection.
    Hello(ConnectionId),
    Sentinel(sentinel::Input),
    Look,
}

/// How a machine fares.
#[derive(Default)]
struct State {
    dead: bool,
    stopped: bool,
    /// What has come meanwhile.
    waits: Vec<(Machine, What)>,
    /// When it looks at the clock next, if that is known.
    armed: Option<u64>,
}

/// Servers, Sentinels, and what is on its way between them.
pub(super) struct Town {
    now: u64,
    servers: Vec<Server>,
    sentinels: Vec<Sentinel>,
    states: Vec<State>,
    queue: BTreeMap<(u64, u64), (Machine, Machine, What)>,
    number: u64,
    links: Vec<Link>,
    flow: Flow,
    /// The connections of Sentinels, and to whom they go.
    calls: BTreeMap<ConnectionId, Machine>,
    /// The client's connection to each server; none if it was closed.
    clients: Vec<Option<ConnectionId>>,
    next_client: u32,
    answer: Option<Value>,
    /// How often each server has sent all its keys, and how often it went on where a replica was.
    copies: Vec<(u64, u64)>,
    log: Vec<(u64, Event, bool)>,
    chance: u32,
}

fn address(machine: Machine) -> Address {
    let (host, place) = match machine {
        Machine::Server(place) => ("server", place),
        Machine::Sentinel(place) => ("sentinel", place),
    };
    Address {
        host: host.into(),
        port: place as u16 + 1,
    }
}

fn machine(address: &Address) -> Machine {
    let place = usize::from(address.port) - 1;
    match &*address.host {
        "server" => Machine::Server(place),
        _ => Machine::Sentinel(place),
    }
}

impl Town {
    /// Servers and Sentinels that have known each other for a while.
    pub(super) fn of(setup: &Setup, seed: u64) -> Self {
        let servers = 0..=setup.replicas;
        let server = |place: usize| {
            Server::new(Rc::new(Settings {
                number: place as u32,
                address: Some(address(Machine::Server(place))),
                primary: (place > 0).then(|| address(Machine::Server(0))),
                persistence: setup.persistence.clone(),
                active_expiry: false,
                ..Settings::default()
            }))
        };
        let mut town = Self {
            now: 0,
            servers: servers.clone().map(server).collect(),
            sentinels: Vec::new(),
            states: (0..=setup.replicas + setup.sentinels)
                .map(|_| State::default())
                .collect(),
            queue: BTreeMap::new(),
            number: 0,
            links: Vec::new(),
            flow: Flow::Free,
            calls: BTreeMap::new(),
            clients: servers.clone().map(|_| None).collect(),
            next_client: 0,
            answer: None,
            copies: servers.clone().map(|_| (0, 0)).collect(),
            log: Vec::new(),
            chance: seed as u32 + 1,
        };
        town.hire_sentinels(setup);
        for place in servers {
            town.arm(place);
            town.welcome(place);
        }
        // Where in its second everybody is depends on nothing but chance.
        let more = u64::from(town.choose(2_000));
        town.run(4_000_000 + more * 1_000);
        town
    }

    fn choose(&mut self, below: u32) -> u32 {
        self.chance = self
            .chance
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        (self.chance >> 8) % below
    }

    fn state(&mut self, machine: Machine) -> &mut State {
        let place = match machine {
            Machine::Server(place) => place,
            Machine::Sentinel(place) => self.servers.len() + place,
        };
        &mut self.states[place]
    }

    fn clock(&self) -> Now {
        Now {
            monotonic: VirtualTime::from_micros(self.now),
            wall_micros: WALL + self.now as i64,
        }
    }

    fn add(&mut self, at: u64, from: Machine, to: Machine, what: What) {
        self.number += 1;
        self.queue.insert((at, self.number), (from, to, what));
    }

    fn send(&mut self, from: Machine, to: Machine, what: What) {
        self.add(self.now + LATENCY, from, to, what);
    }

    /// So many microseconds pass.
    fn run(&mut self, micros: u64) {
        let end = self.now + micros;
        self.run_until(end, |_| false);
        self.now = end;
    }

    /// Lets happen what happens until then, or until it is enough.
    fn run_until(&mut self, end: u64, enough: impl Fn(&Self) -> bool) {
        while !enough(self)
            && let Some(entry) = self.queue.first_entry()
            && entry.key().0 <= end
        {
            self.now = self.now.max(entry.key().0);
            let (from, to, what) = entry.remove();
            self.deliver(from, to, what);
        }
    }

    fn deliver(&mut self, from: Machine, to: Machine, what: What) {
        let state = self.state(to);
        // Who stands still has a kernel that goes on.
        let kernel = matches!(what, What::Knock(_) | What::Hello(_));
        if !kernel && (state.dead || state.stopped) {
            if matches!(what, What::Look) {
                state.armed = None;
            } else if !state.dead {
                state.waits.push((from, what));
            }
            return;
        }
        let dead = state.dead;
        match (to, what) {
            (Machine::Server(place), What::Server(input)) => self.tell(place, input),
            (Machine::Server(place), What::Look) => {
                self.state(to).armed = None;
                self.tell(place, Input::Wake);
            }
            (Machine::Server(place), What::Knock(link)) => self.knock(place, link, dead),
            (Machine::Sentinel(place), What::Sentinel(input)) => self.tell_sentinel(place, input),
            (Machine::Sentinel(place), What::Look) => self.sentinel_looks(place),
            (_, What::Hello(connection)) if dead => self.refuse(to, connection),
            (_, What::Hello(connection)) => drop(self.calls.insert(connection, to)),
            (_, What::Server(_) | What::Sentinel(_) | What::Knock(_)) => {}
        }
    }

    fn arm(&mut self, place: usize) {
        let wake = self.servers[place].next_wake();
        let at = wake.micros().max(self.now + 1);
        let state = self.state(Machine::Server(place));
        if wake != VirtualTime::NEVER && state.armed.is_none_or(|armed| at < armed) {
            state.armed = Some(at);
            let own = Machine::Server(place);
            self.add(at, own, own, What::Look);
        }
    }

    fn tell(&mut self, place: usize, input: Input) {
        let mut out = Vec::new();
        let now = self.clock();
        self.servers[place].handle(now, input, &mut out);
        self.does(place, out);
    }

    fn does(&mut self, place: usize, out: Vec<Output>) {
        for output in out {
            match output {
                Output::ToClient { connection, value } if connection.0 < CALLS => {
                    if self.clients[place] == Some(connection) {
                        self.answer = Some(value);
                    }
                }
                Output::ToClient { connection, value } => {
                    self.answer_call(Machine::Server(place), connection, value);
                }
                Output::Close { connection } if connection.0 < CALLS => {
                    self.clients[place].take_if(|own| *own == connection);
                }
                Output::Close { connection } => {
                    self.calls.remove(&connection);
                    self.refuse(Machine::Server(place), connection);
                }
                Output::ReachPrimary { to } => self.reach(place, &to),
                Output::ToPeer { link, message } => self.tell_peer(place, link, message),
                Output::CloseLink { link } => self.close_link(place, link),
                Output::ToNode { .. } | Output::NotModelled { .. } | Output::ScriptCut { .. } => {}
            }
        }
        self.arm(place);
    }

    /// The client connects.
    fn welcome(&mut self, server: usize) {
        if let Some(connection) = self.clients[server].take() {
            self.tell(server, Input::Gone { connection });
        }
        let connection = ConnectionId(self.next_client);
        self.next_client += 1;
        self.clients[server] = Some(connection);
        self.tell(server, Input::Connected { connection });
    }
}

impl super::Town for Town {
    fn connect(&mut self, server: usize) -> Result<(), VerifyError> {
        if !self.states[server].dead {
            self.welcome(server);
        }
        Ok(())
    }

    fn ask(&mut self, server: usize, words: &[&str]) -> Result<Option<Value>, VerifyError> {
        let Some(connection) = self.clients[server] else {
            return Ok(None);
        };
        self.answer = None;
        let command = command(words);
        let received = Input::Received {
            connection,
            command,
        };
        let own = Machine::Server(server);
        self.send(own, own, What::Server(received));
        self.run_until(self.now + ANSWER, |town| {
            town.answer.is_some() || town.clients[server].is_none()
        });
        Ok(self.answer.take())
    }

    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        self.run(time.as_micros() as u64);
        Ok(())
    }

    fn passed(&self) -> Duration {
        Duration::from_micros(self.now)
    }

    fn flow(&mut self, flow: Flow) {
        self.change_flow(flow);
    }

    fn kill(&mut self, server: usize) {
        self.states[server].dead = true;
        self.states[server].waits.clear();
        self.clients[server] = None;
        self.close_links_of(server);
        self.hang_up_on(Machine::Server(server));
    }

    fn restart(&mut self, server: usize) -> Result<(), VerifyError> {
        self.states[server] = State::default();
        self.copies[server] = (0, 0);
        let now = self.clock();
        let mut out = Vec::new();
        self.servers[server].restart(now, End::Kill, &mut out);
        self.does(server, out);
        Ok(())
    }

    fn stop(&mut self, server: usize) -> Result<(), VerifyError> {
        self.states[server].stopped = true;
        Ok(())
    }

    fn go_on(&mut self, server: usize) -> Result<(), VerifyError> {
        let state = &mut self.states[server];
        state.stopped = false;
        state.armed = None;
        for (from, what) in std::mem::take(&mut state.waits) {
            self.deliver(from, Machine::Server(server), what);
        }
        self.arm(server);
        Ok(())
    }

    fn follow(&mut self, server: usize, primary: usize) -> Result<Option<Value>, VerifyError> {
        let to = address(Machine::Server(primary));
        self.ask(server, &["REPLICAOF", &to.host, &to.port.to_string()])
    }

    fn copied(&mut self, server: usize) -> Result<(u64, u64), VerifyError> {
        Ok(self.copies[server])
    }

    fn noted(&mut self, event: &str, from: Duration) -> Option<Duration> {
        let (name, about) = event.split_once(' ').unwrap_or((event, ""));
        let mut log = self.log.iter();
        let found = log.find(|(at, event, of_primary)| {
            let fits = about != "master" || *of_primary;
            fits && event.name() == name && Duration::from_micros(*at) >= from
        });
        found.map(|(at, ..)| Duration::from_micros(*at))
    }
}
