//! Servers and Sentinels in one place, with all that they say to each other, in a time of their own.
//!
//! It is for tests of this crate, and for `picklock verify`, which breaks real servers in the same ways. There is no
//! network of the simulator here, no process, and no history: a message takes as long as any other, and arrives unless
//! somebody stands in its way.

mod calls;
mod clients;
mod faults;
mod links;
mod machine;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;

use crate::sentinel::{self, Event, Sentinel};
use crate::{ConnectionId, Input, Now, Output, Server, ServerConfig};
use clients::Client;
pub use links::Flow;
use links::Link;
pub use machine::Machine;
use machine::{State, What};

/// A message takes this long, in microseconds.
const LATENCY: u64 = 300;
/// What the wall clocks show at first, in microseconds.
const WALL: i64 = 1_700_000_000_000_000;
/// Sentinels are started within this time, in microseconds.
const STARTS: u32 = 100_000;

/// Who is there at first.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many replicas the first server has.
    pub replicas: usize,
    /// How many Sentinels watch it.
    pub sentinels: usize,
    /// What the servers have in common; their numbers, addresses, and primaries are set.
    pub server: ServerConfig,
    /// How many Sentinels must find the primary down before it is.
    pub quorum: usize,
    /// How long a server must not answer before a Sentinel finds it down.
    pub down_after: Duration,
    /// How long the steps of a failover may take.
    pub failover_timeout: Duration,
    /// What chance begins with.
    pub seed: u32,
}

impl Plan {
    /// A primary, its replicas, and Sentinels of which more than half must find it down, after a second.
    pub fn of(replicas: usize, sentinels: usize) -> Self {
        Self {
            replicas,
            sentinels,
            server: ServerConfig::default(),
            quorum: sentinels / 2 + 1,
            down_after: Duration::from_secs(1),
            failover_timeout: Duration::from_secs(6),
            seed: 0,
        }
    }

    fn server(&self, place: usize) -> Server {
        Server::new(Rc::new(ServerConfig {
            number: place as u32,
            address: Some(Machine::Server(place).address()),
            primary: (place > 0).then(|| Machine::Server(0).address()),
            ..self.server.clone()
        }))
    }

    /// One who knows everybody.
    fn sentinel(&self, place: usize, now: Now) -> Sentinel {
        let replicas = (1..=self.replicas).map(|it| Machine::Server(it).address());
        let others = (0..self.sentinels).filter(|other| *other != place);
        let settings = sentinel::SentinelConfig {
            replicas: replicas.collect(),
            sentinels: others
                .map(|other| (other as u32, Machine::Sentinel(other).address()))
                .collect(),
            down_after: self.down_after,
            failover_timeout: self.failover_timeout,
            ..sentinel::SentinelConfig::new(
                place as u32,
                Machine::Sentinel(place).address(),
                Machine::Server(0).address(),
                self.quorum,
            )
        };
        Sentinel::new(Rc::new(settings), now)
    }
}

/// What a Sentinel has written into its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// When.
    pub at: Duration,
    /// What.
    pub event: Event,
    /// It is about the server that this Sentinel takes for the primary.
    pub of_primary: bool,
}

/// Servers, of which the first is the primary at first, Sentinels, and what is on its way between them.
pub struct TestCluster {
    /// How much time has passed, in microseconds.
    now: u64,
    servers: Vec<Server>,
    sentinels: Vec<Sentinel>,
    /// How they fare: first the servers, then the Sentinels.
    states: Vec<State>,
    /// What comes when, from whom, and to whom; in the order in which it was sent where it comes at the same time.
    queue: BTreeMap<(u64, u64), (Machine, Machine, What)>,
    number: u64,
    /// Nothing gets from one of these to the other, either way.
    cut: Vec<(Machine, Machine)>,
    links: Vec<Link>,
    flow: Flow,
    /// How often each server has sent all its keys, and how often it went on where a replica was.
    copies: Vec<(u64, u64)>,
    /// The connections of Sentinels, and to whom they go.
    calls: BTreeMap<ConnectionId, Machine>,
    clients: BTreeMap<ConnectionId, Client>,
    next_client: u32,
    log: Vec<Noted>,
    chance: u32,
}

impl TestCluster {
    /// Servers and Sentinels that have just been started.
    pub fn of(plan: &Plan) -> Self {
        let servers = 0..=plan.replicas;
        let mut town = Self {
            now: 0,
            servers: servers.clone().map(|place| plan.server(place)).collect(),
            sentinels: Vec::new(),
            states: (0..=plan.replicas + plan.sentinels)
                .map(|_| State::default())
                .collect(),
            queue: BTreeMap::new(),
            number: 0,
            cut: Vec::new(),
            links: Vec::new(),
            flow: Flow::Free,
            copies: servers.clone().map(|_| (0, 0)).collect(),
            calls: BTreeMap::new(),
            clients: BTreeMap::new(),
            next_client: 0,
            log: Vec::new(),
            chance: plan.seed.wrapping_add(1),
        };
        for place in 0..plan.sentinels {
            let own = Machine::Sentinel(place);
            let now = town.clock(own);
            town.sentinels.push(plan.sentinel(place, now));
            let start = town.choose(STARTS).into();
            town.look_at(own, start);
        }
        for place in servers {
            town.arm(Machine::Server(place));
        }
        town
    }

    /// Chance: a number below this one.
    pub fn choose(&mut self, below: u32) -> u32 {
        choose(&mut self.chance, below)
    }

    /// How much time has passed.
    pub fn passed(&self) -> Duration {
        Duration::from_micros(self.now)
    }

    /// The server of this place.
    pub fn server(&self, place: usize) -> &Server {
        &self.servers[place]
    }

    /// The Sentinel of this place.
    pub fn sentinel(&self, place: usize) -> &Sentinel {
        &self.sentinels[place]
    }

    /// How often a server has sent all its keys since it was started, and how often it went on where a replica was.
    pub fn copies(&self, server: usize) -> (u64, u64) {
        self.copies[server]
    }

    /// What the Sentinels have written into their logs, in the order of time.
    pub fn log(&self) -> &[Noted] {
        &self.log
    }

    /// Time passes, and what happens in it happens.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time.as_micros() as u64;
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

    fn state(&mut self, machine: Machine) -> &mut State {
        let place = match machine {
            Machine::Server(place) => place,
            Machine::Sentinel(place) => self.servers.len() + place,
        };
        &mut self.states[place]
    }

    fn clock(&mut self, machine: Machine) -> Now {
        let jump = self.state(machine).jump;
        Now {
            monotonic: VirtualTime::from_micros(self.now),
            wall_micros: WALL + self.now as i64 + jump,
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

    fn deliver(&mut self, from: Machine, to: Machine, what: What) {
        let now = self.now;
        let state = self.state(to);
        if matches!(what, What::Look) && state.armed.take_if(|at| *at <= now).is_none() {
            // It has looked earlier, and will look later.
            return;
        }
        // Who stands still, or is dead, has a kernel that goes on.
        let kernel = matches!(what, What::Knock(_) | What::Hello(_));
        if !kernel && (state.dead || state.stopped) {
            if !state.dead && !matches!(what, What::Look) {
                state.backlog.push((from, what));
            }
            return;
        }
        let dead = state.dead;
        match (to, what) {
            (Machine::Server(place), What::Server(input)) => self.tell(place, input),
            (Machine::Server(place), What::Look) => self.tell(place, Input::Wake),
            (Machine::Server(place), What::Knock(link)) => self.knock(place, link, dead),
            (Machine::Sentinel(place), What::Sentinel(input)) => self.tell_sentinel(place, input),
            (Machine::Sentinel(place), What::Look) => {
                self.tell_sentinel(place, sentinel::Input::Wake);
                self.arm(to);
            }
            (_, What::Hello(connection)) if dead => self.refuse(to, connection),
            (_, What::Hello(connection)) => drop(self.calls.insert(connection, to)),
            (_, What::Server(_) | What::Sentinel(_) | What::Knock(_)) => {}
        }
    }

    /// Has a machine look at its clock when it wants to.
    fn arm(&mut self, machine: Machine) {
        let wake = match machine {
            Machine::Server(place) => self.servers[place].next_wake(),
            Machine::Sentinel(place) => self.sentinels[place].next_wake(),
        };
        if wake != VirtualTime::NEVER {
            self.look_at(machine, wake.micros().max(self.now + 1));
        }
    }

    fn look_at(&mut self, machine: Machine, at: u64) {
        let state = self.state(machine);
        if state.armed.is_none_or(|armed| at < armed) {
            state.armed = Some(at);
            self.add(at, machine, machine, What::Look);
        }
    }

    fn tell(&mut self, place: usize, input: Input) {
        let now = self.clock(Machine::Server(place));
        let mut out = Vec::new();
        self.servers[place].handle(now, input, &mut out);
        self.does(place, out);
    }

    fn does(&mut self, place: usize, out: Vec<Output>) {
        let own = Machine::Server(place);
        for output in out {
            match output {
                Output::ToClient { connection, value } => self.answer(own, connection, value),
                Output::Close { connection } => self.close(own, connection),
                Output::ReachPrimary { to } => self.reach(place, &to),
                Output::ToPeer { link, message } => self.tell_peer(place, link, message),
                Output::CloseLink { link } => self.close_link(place, link),
                // Nobody here is a node of a cluster. Who asks for what is not modelled is answered with an error.
                Output::ToNode { .. } | Output::NotModelled { .. } | Output::ScriptCut { .. } => {}
            }
        }
        self.arm(own);
    }
}

fn choose(chance: &mut u32, below: u32) -> u32 {
    *chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*chance >> 8) % below
}
