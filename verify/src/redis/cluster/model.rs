//! A cluster of the model, in a time of its own.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Value};
use picklock_redis::{
    Address, ClusterConfig, ConnectionId, Input, LinkId, Now, Output, Server, ServerConfig,
};

use super::{PRIMARIES, TIMEOUT};
use crate::harness::clock::Clock;
use crate::harness::error::VerifyError;

/// In milliseconds: so long takes a message to another node.
const LATENCY: u64 = 1;
/// So long an answer is waited for at most.
const ANSWER: u64 = 500;
/// What the wall clock shows at first, in milliseconds.
const WALL: i64 = 1_700_000_000_000;
/// The connection over which everything is asked.
const CONNECTION: ConnectionId = ConnectionId(1);

/// The nodes, and what is on its way between them.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    addresses: Vec<Address>,
    /// In milliseconds.
    now: u64,
    /// In order: when it arrives, at whom, and what.
    messages: VecDeque<(u64, usize, Input)>,
    /// Links of replicas: to whom each goes.
    links: Vec<(usize, usize)>,
    answer: Option<Value>,
}

struct Node {
    server: Server,
    dead: bool,
    stopped: bool,
    /// What has come meanwhile.
    waiting: Vec<Input>,
}

/// Addresses that nobody connects to.
pub(super) fn some_addresses() -> Vec<Address> {
    let address = |port| Address {
        host: "127.0.0.1".into(),
        port,
    };
    (1..=2 * PRIMARIES as u16).map(address).collect()
}

impl Nodes {
    /// A cluster that has stood for a while.
    pub(super) fn new(addresses: &[Address], seed: u64) -> Self {
        let node = |place: usize| {
            let primary = place.checked_sub(PRIMARIES);
            let settings = ServerConfig {
                number: place as u32,
                address: Some(addresses[place].clone()),
                primary: primary.map(|primary| addresses[primary].clone()),
                cluster: Some(ClusterConfig {
                    nodes: addresses.to_vec(),
                    primaries: PRIMARIES as u8,
                    node_timeout: TIMEOUT,
                    seed: seed * 100 + place as u64,
                    ..ClusterConfig::default()
                }),
                ..ServerConfig::default()
            };
            Node {
                server: Server::new(Rc::new(settings)),
                dead: false,
                stopped: false,
                waiting: Vec::new(),
            }
        };
        let mut nodes = Self {
            nodes: (0..addresses.len()).map(node).collect(),
            addresses: addresses.to_vec(),
            now: 0,
            messages: VecDeque::new(),
            links: Vec::new(),
            answer: None,
        };
        // Where in its second each node is depends on nothing but chance.
        nodes.run(5_000 + seed * 7 % 1_000);
        nodes
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += 1;
            while self.messages.front().is_some_and(|it| it.0 <= self.now) {
                if let Some((_, to, input)) = self.messages.pop_front() {
                    self.tell(to, input);
                }
            }
            for place in 0..self.nodes.len() {
                let due = VirtualTime::from_micros(self.now * 1_000);
                if self.nodes[place].server.next_wake() <= due {
                    self.tell(place, Input::Wake);
                }
            }
        }
    }

    fn tell(&mut self, place: usize, input: Input) {
        let node = &mut self.nodes[place];
        if node.dead {
            return;
        }
        if node.stopped {
            if input != Input::Wake {
                node.waiting.push(input);
            }
            return;
        }
        let now = Now {
            monotonic: VirtualTime::from_micros(self.now * 1_000),
            wall_micros: (WALL + self.now as i64) * 1_000,
        };
        let mut out = Vec::new();
        node.server.handle(now, input, &mut out);
        for output in out {
            self.carry_out(place, output);
        }
    }

    fn carry_out(&mut self, by: usize, output: Output) {
        let (to, input) = match output {
            Output::ToClient { value, .. } => {
                self.answer = Some(value);
                return;
            }
            Output::ToNode { to, message } => (usize::from(to.0), Input::FromNode { message }),
            Output::ReachPrimary { to } => {
                let primary = self.addresses.iter().position(|it| *it == to);
                let primary = primary.filter(|primary| !self.nodes[*primary].dead);
                let link = LinkId(self.links.len() as u32);
                let input = match primary {
                    Some(_) => Input::Linked { link },
                    None => Input::LinkGone { link: None },
                };
                self.links.push((by, primary.unwrap_or(by)));
                (by, input)
            }
            Output::ToPeer { link, message } => {
                (self.other(by, link), Input::FromPeer { link, message })
            }
            Output::CloseLink { link } => {
                (self.other(by, link), Input::LinkGone { link: Some(link) })
            }
            Output::Close { .. } | Output::NotModelled { .. } | Output::ScriptCut { .. } => return,
        };
        self.messages.push_back((self.now + LATENCY, to, input));
    }

    fn other(&self, by: usize, link: LinkId) -> usize {
        let (replica, primary) = self.links[link.0 as usize];
        if by == replica { primary } else { replica }
    }
}

impl Clock for Nodes {
    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        self.run(time.as_millis() as u64);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.now)
    }
}

impl super::ClusterBackend for Nodes {
    fn ask(&mut self, node: usize, command: &Command) -> Result<Option<Value>, VerifyError> {
        self.answer = None;
        let command = command.clone();
        self.tell(
            node,
            Input::Received {
                connection: CONNECTION,
                command,
            },
        );
        let mut waited = 0;
        while self.answer.is_none() && waited < ANSWER {
            self.run(LATENCY);
            waited += LATENCY;
        }
        let answer = self.answer.take();
        self.run(LATENCY);
        Ok(answer)
    }

    fn kill(&mut self, node: usize) {
        self.nodes[node].dead = true;
        for place in 0..self.links.len() {
            let (replica, primary) = self.links[place];
            if replica == node || primary == node {
                let link = Some(LinkId(place as u32));
                let other = if replica == node { primary } else { replica };
                self.tell(other, Input::LinkGone { link });
            }
        }
    }

    fn stop(&mut self, node: usize) -> Result<(), VerifyError> {
        self.nodes[node].stopped = true;
        Ok(())
    }

    fn go_on(&mut self, node: usize) -> Result<(), VerifyError> {
        self.nodes[node].stopped = false;
        for input in std::mem::take(&mut self.nodes[node].waiting) {
            self.tell(node, input);
        }
        Ok(())
    }
}
