//! Servers and Sentinels in one place, with all that they say to each other, in a time of their own.
//!
//! It is for tests of this crate, and for `picklock verify`, which breaks real servers in the same ways. There is no
//! network of the simulator here, no process, and no history: a message takes as long as any other, and arrives unless
//! a fault of the test stops it.

mod calls;
mod clients;
mod faults;
mod links;
mod machine;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Chance, Machine as _};
use picklock_testkit::{Cluster, Network};

use crate::replication_protocol::Address;
use crate::sentinel::{self, Event, Sentinel};
use crate::{ConnectionId, Input, Now, Output, Server, ServerConfig};
pub use clients::Incoming;
use clients::TestClient;
pub use links::Flow;
use links::Link;
pub use machine::Machine;
use machine::Message;

/// A message takes this long, unless something else is said.
pub const LATENCY: Duration = Duration::from_micros(300);
/// What the wall clocks show at first, in microseconds.
const WALL: i64 = 1_700_000_000_000_000;
/// Sentinels are started within this time, in microseconds.
const STARTS: u32 = 100_000;

/// The machines at first.
#[derive(Clone, Debug)]
pub struct TestClusterConfig {
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

impl TestClusterConfig {
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

    fn server(&self, index: usize) -> ServerConfig {
        ServerConfig {
            number: index as u32,
            address: Some(Machine::Server(index).address()),
            primary: (index > 0).then(|| Machine::Server(0).address()),
            ..self.server.clone()
        }
    }

    /// A Sentinel that knows all servers and Sentinels.
    fn sentinel(&self, index: usize, now: Now) -> Sentinel {
        let replicas = (1..=self.replicas).map(|server| Machine::Server(server).address());
        let others = (0..self.sentinels).filter(|other| *other != index);
        let settings = sentinel::SentinelConfig {
            replicas: replicas.collect(),
            sentinels: others
                .map(|other| (other as u32, Machine::Sentinel(other).address()))
                .collect(),
            down_after: self.down_after,
            failover_timeout: self.failover_timeout,
            ..sentinel::SentinelConfig::new(
                index as u32,
                Machine::Sentinel(index).address(),
                Machine::Server(0).address(),
                self.quorum,
            )
        };
        Sentinel::new(Rc::new(settings), now)
    }
}

/// What a Sentinel has written into its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentinelLogEntry {
    /// The time.
    pub at: Duration,
    /// The event.
    pub event: Event,
    /// It is about the server that this Sentinel takes for the primary.
    pub of_primary: bool,
}

/// Servers, of which the first is the primary at first, Sentinels, and what is in flight between them.
pub struct TestCluster {
    network: Network<Machine, Message>,
    servers: Vec<Server>,
    /// The Sentinels, and when each is started.
    sentinels: Vec<(Sentinel, VirtualTime)>,
    /// The addresses of all machines.
    addresses: Vec<(Address, Machine)>,
    /// How far wall clocks are ahead, in microseconds.
    jumps: BTreeMap<Machine, i64>,
    links: Vec<Link>,
    flow: Flow,
    /// Nodes of a cluster that hear nothing of the others by its bus, and that no other hears.
    off_the_bus: Vec<usize>,
    /// How often each server has sent all its keys, and how often it went on where a replica was.
    copies: Vec<(u64, u64)>,
    /// The connections of Sentinels, and where they lead.
    calls: BTreeMap<ConnectionId, Machine>,
    clients: BTreeMap<ConnectionId, TestClient>,
    next_client: u32,
    log: Vec<SentinelLogEntry>,
    chance: Sequence,
}

impl TestCluster {
    /// Servers and Sentinels that have just been started.
    pub fn of(plan: &TestClusterConfig) -> Self {
        let servers = (0..=plan.replicas).map(|index| plan.server(index));
        let mut cluster = Self::of_servers(servers.collect(), LATENCY, plan.seed);
        for index in 0..plan.sentinels {
            let own = Machine::Sentinel(index);
            let sentinel = plan.sentinel(index, cluster.clock(own));
            let start = VirtualTime::from_micros(cluster.choose(STARTS).into());
            cluster.sentinels.push((sentinel, start));
            cluster.addresses.push((own.address(), own));
        }
        cluster
    }

    /// Servers alone, in the order of their numbers, and how long a message between them takes.
    pub fn of_servers(servers: Vec<ServerConfig>, latency: Duration, seed: u32) -> Self {
        let addresses = servers.iter().zip(0..).filter_map(|(settings, index)| {
            let address = settings.address.clone()?;
            Some((address, Machine::Server(index)))
        });
        Self {
            network: Network::new(latency),
            addresses: addresses.collect(),
            copies: vec![(0, 0); servers.len()],
            servers: servers
                .into_iter()
                .map(|settings| Server::new(Rc::new(settings)))
                .collect(),
            sentinels: Vec::new(),
            jumps: BTreeMap::new(),
            links: Vec::new(),
            flow: Flow::Free,
            off_the_bus: Vec::new(),
            calls: BTreeMap::new(),
            clients: BTreeMap::new(),
            next_client: 0,
            log: Vec::new(),
            chance: Sequence(seed.wrapping_add(1)),
        }
    }

    /// Chance: a number below this one.
    pub fn choose(&mut self, below: u32) -> u32 {
        self.chance.choose(below)
    }

    /// The server of this place.
    pub fn server(&self, index: usize) -> &Server {
        &self.servers[index]
    }

    /// The same, to look at it more closely.
    pub fn server_mut(&mut self, index: usize) -> &mut Server {
        &mut self.servers[index]
    }

    /// The Sentinel of this place.
    pub fn sentinel(&self, index: usize) -> &Sentinel {
        &self.sentinels[index].0
    }

    /// How often a server has sent all its keys since it was started, and how often it went on where a replica was.
    pub fn copies(&self, server: usize) -> (u64, u64) {
        self.copies[server]
    }

    /// What the Sentinels have written into their logs, in the order of time.
    pub fn log(&self) -> &[SentinelLogEntry] {
        &self.log
    }

    /// What the clocks of a machine show.
    pub fn clock(&self, machine: Machine) -> Now {
        let monotonic = self.now();
        let jump = self.jumps.get(&machine).copied().unwrap_or_default();
        Now {
            monotonic,
            wall_micros: WALL + monotonic.micros() as i64 + jump,
        }
    }

    /// Something happens to a server.
    pub fn tell(&mut self, index: usize, input: Input) {
        let now = self.clock(Machine::Server(index));
        let mut out = Vec::new();
        self.servers[index].handle(now, input, &mut self.chance, &mut out);
        self.does(index, out);
    }

    fn does(&mut self, index: usize, out: Vec<Output>) {
        let own = Machine::Server(index);
        for output in out {
            match output {
                Output::ToClient { connection, value } => self.answer(own, connection, value),
                Output::Close { connection } => self.close(own, connection),
                Output::ReachPrimary { to } => self.reach(index, &to),
                Output::ToPeer { link, message } => self.tell_peer(index, link, message),
                Output::ToNode { to, message } => {
                    let to = usize::from(to.0);
                    let input = Message::Server(Input::FromNode { message });
                    if ![index, to].iter().any(|end| self.off_the_bus.contains(end)) {
                        self.network.send(own, Machine::Server(to), input);
                    }
                }
                Output::CloseLink { link } => self.close_link(index, link),
                // A command that is not modelled is answered with an error.
                Output::NotModelled { .. } | Output::ScriptCut { .. } => {}
            }
        }
    }
}

impl Cluster for TestCluster {
    type Node = Machine;
    type Message = Message;

    fn network(&self) -> &Network<Machine, Message> {
        &self.network
    }

    fn network_mut(&mut self) -> &mut Network<Machine, Message> {
        &mut self.network
    }

    fn timers(&self) -> impl Iterator<Item = (VirtualTime, Machine)> {
        let servers = self.servers.iter().map(Server::next_wake);
        let sentinels = self.sentinels.iter();
        let sentinels = sentinels.map(|(sentinel, start)| sentinel.next_wake().max(*start));
        let servers = servers.zip((0..).map(Machine::Server));
        servers.chain(sentinels.zip((0..).map(Machine::Sentinel)))
    }

    fn on_message(&mut self, _from: Machine, to: Machine, message: Message) {
        match (to, message) {
            (Machine::Server(index), Message::Server(input)) => self.tell(index, input),
            (Machine::Server(index), Message::Reach(link)) => self.reached(index, link, false),
            (Machine::Sentinel(index), Message::Sentinel(input)) => {
                self.tell_sentinel(index, input);
            }
            (
                _,
                Message::Server(_) | Message::Sentinel(_) | Message::Reach(_) | Message::Call(_),
            ) => {}
        }
    }

    fn on_timer(&mut self, machine: Machine) {
        match machine {
            Machine::Server(index) => self.tell(index, Input::Wake),
            Machine::Sentinel(index) => self.tell_sentinel(index, sentinel::Input::Wake),
        }
    }

    fn on_refused(&mut self, _from: Machine, to: Machine, message: Message) {
        match (to, message) {
            (Machine::Server(index), Message::Reach(link)) => self.reached(index, link, true),
            (_, Message::Call(connection)) => self.refuse(to, connection),
            _ => {}
        }
    }

    fn is_for_kernel(message: &Message) -> bool {
        matches!(message, Message::Reach(_) | Message::Call(_))
    }
}

/// Chance as a sequence of numbers that follows from the first.
struct Sequence(u32);

impl Chance for Sequence {
    fn choose(&mut self, options: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % options
    }
}
