//! A server as a node of a cluster: which nodes serve which slots, which are alive, and which replace the dead.
//!
//! As in `cluster.c` of Redis 7.0. What is left out: manual failover, replicas that move to primaries without any,
//! nodes that join or are forgotten, and connections between nodes as such: what is sent to a dead node is lost, and a
//! node that has asked in vain asks again.

mod bus;
mod cluster_info;
mod cluster_state;
mod config;
mod cron;
mod election;
mod migrate;
mod migration;
mod process_packet;
mod redirect;
mod serve;
mod slots;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub(crate) use bus::Body;
use bus::Header;
pub use bus::{BusMessage, NodeId};
use election::Election;
pub(crate) use migration::Migration;
pub(crate) use slots::{SLOTS, names_in};
pub use slots::{SlotSet, first_owner, slot_of};

use crate::Output;
use crate::replication_protocol::Address;

/// How a cluster is set up. Every node has the same, but for its chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterConfig {
    /// Where the nodes are. The first ones are primaries, which share the slots; the others are their replicas in turn.
    pub nodes: Vec<Address>,
    /// How many primaries there are.
    pub primaries: u8,
    /// After how long without an answer a node is suspected (`cluster-node-timeout`).
    pub node_timeout: Duration,
    /// For how many node timeouts a replica may have been without its primary to take its place
    /// (`cluster-replica-validity-factor`); zero for ever.
    pub validity_factor: u32,
    /// What this node's choices depend on.
    pub seed: u64,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            primaries: 0,
            node_timeout: Duration::from_secs(15),
            validity_factor: 10,
            seed: 0,
        }
    }
}

/// What a node knows of its cluster.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    settings: Rc<ClusterConfig>,
    pub(crate) me: NodeId,
    nodes: Vec<Node>,
    /// The largest epoch that it knows, and the last in which it has voted.
    epoch: u64,
    voted: u64,
    /// Whether it serves.
    pub(crate) serves: bool,
    /// When the node first looked whether it may serve, and when it was last in a minority: in milliseconds of its wall
    /// clock, as all times of a cluster are.
    began: Option<i64>,
    in_minority: i64,
    election: Election,
    /// Slots on their way to others, and from others.
    migrating: BTreeMap<u16, NodeId>,
    importing: BTreeMap<u16, NodeId>,
    /// How often it has sent keys to others.
    migrations: u64,
    /// How far this node is in the stream of its shard.
    offset: u64,
    chance: ChaCha8Rng,
    /// When it looks after the others next.
    next: VirtualTime,
    beats: u64,
}

/// A node as another one knows it, or itself.
#[derive(Clone, Debug)]
struct Node {
    /// Its primary, if it is a replica.
    primary: Option<NodeId>,
    slots: Rc<SlotSet>,
    config_epoch: u64,
    /// When it was asked for a sign of life that has not come yet.
    asked: Option<i64>,
    /// When the question was sent last: a node that it did not reach is asked again.
    repeated: i64,
    /// When it answered last, and when anything came from it.
    answered: i64,
    heard: i64,
    suspected: bool,
    failed: Option<i64>,
    /// Which primaries say that it is down, and since when.
    reports: Vec<(NodeId, i64)>,
    /// When a replica of it was voted for.
    voted: Option<i64>,
    offset: u64,
}

impl Node {
    /// A majority has given up on it, or this node has not heard from it for too long.
    fn is_down(&self) -> bool {
        self.suspected || self.failed.is_some()
    }

    /// It has a vote.
    fn counts(&self) -> bool {
        self.primary.is_none() && !self.slots.is_empty()
    }
}

impl Cluster {
    /// A node of a cluster that stands.
    pub(crate) fn new(settings: ClusterConfig, me: u8) -> Self {
        let primaries = settings.primaries.max(1);
        let node = |index: u8| {
            let primary = (index >= primaries).then(|| NodeId((index - primaries) % primaries));
            let slots = match primary {
                None => SlotSet::share(index.into(), primaries.into()),
                Some(_) => SlotSet::NONE,
            };
            Node {
                primary,
                slots: Rc::new(slots),
                // As `redis-cli --cluster create` numbers them.
                config_epoch: u64::from(primary.map_or(index, |primary| primary.0)) + 1,
                asked: None,
                repeated: 0,
                answered: 0,
                heard: 0,
                suspected: false,
                failed: None,
                reports: Vec::new(),
                voted: None,
                offset: 0,
            }
        };
        let count = settings.nodes.len() as u8;
        Self {
            me: NodeId(me),
            nodes: (0..count).map(node).collect(),
            epoch: count.into(),
            voted: 0,
            serves: true,
            began: None,
            in_minority: i64::MIN / 2,
            election: Election::default(),
            migrating: BTreeMap::new(),
            importing: BTreeMap::new(),
            migrations: 0,
            offset: 0,
            chance: ChaCha8Rng::seed_from_u64(settings.seed),
            next: VirtualTime::ZERO,
            beats: 0,
            settings: Rc::new(settings),
        }
    }

    /// The same node after a restart: it knows what it has written to its disk, and not which nodes are alive.
    pub(crate) fn restarted(&self) -> Self {
        let mut new = self.clone();
        new.serves = false;
        new.began = None;
        new.in_minority = i64::MIN / 2;
        new.election = Election::default();
        new.next = VirtualTime::ZERO;
        new.offset = 0;
        for node in &mut new.nodes {
            node.asked = None;
            node.suspected = false;
            node.answered = 0;
            node.heard = 0;
            node.reports.clear();
            node.voted = None;
        }
        new
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[usize::from(id.0)]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[usize::from(id.0)]
    }

    fn has(&self, id: NodeId) -> bool {
        usize::from(id.0) < self.nodes.len()
    }

    fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u8).map(NodeId)
    }

    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        let me = self.me;
        self.ids().filter(move |id| *id != me)
    }

    /// Where a node is.
    pub(crate) fn address(&self, id: NodeId) -> &Address {
        &self.settings.nodes[usize::from(id.0)]
    }

    /// The node at an address.
    fn at(&self, address: &Address) -> Option<NodeId> {
        self.ids().find(|id| self.address(*id) == address)
    }

    /// The primary of this node, if it is a replica.
    pub(crate) fn primary(&self) -> Option<NodeId> {
        self.node(self.me).primary
    }

    /// The epoch in which it, or its primary, has come to serve its slots.
    pub(crate) fn config_epoch(&self) -> u64 {
        let mine = self.node(self.me);
        self.node(mine.primary.unwrap_or(self.me)).config_epoch
    }

    /// On which nodes a majority has given up, as it knows.
    pub(crate) fn failed_nodes(&self) -> Vec<u8> {
        let failed = self.ids().filter(|id| self.node(*id).failed.is_some());
        failed.map(|id| id.0).collect()
    }

    /// The node that serves a slot.
    fn owner(&self, slot: u16) -> Option<NodeId> {
        self.ids().find(|id| self.node(*id).slots.has(slot))
    }

    fn timeout(&self) -> i64 {
        self.settings.node_timeout.as_millis() as i64
    }

    /// How many have to agree.
    fn majority(&self) -> usize {
        let voters = self.nodes.iter().filter(|node| node.counts());
        voters.count() / 2 + 1
    }

    /// A number below this.
    fn draw(&mut self, below: u32) -> u32 {
        self.chance.next_u32() % below.max(1)
    }

    fn header(&self) -> Rc<Header> {
        let mine = self.node(self.me);
        let shown = self.node(mine.primary.unwrap_or(self.me));
        Rc::new(Header {
            from: self.me,
            epoch: self.epoch,
            config_epoch: shown.config_epoch,
            slots: Rc::clone(&shown.slots),
            primary: mine.primary,
            offset: self.offset,
        })
    }

    fn send_to_node(&self, to: NodeId, body: Body, out: &mut Vec<Output>) {
        let message = BusMessage {
            header: self.header(),
            body,
        };
        let message = Box::new(message);
        out.push(Output::ToNode { to, message });
    }

    /// Sends the same message to all other nodes.
    fn broadcast(&self, body: &Body, out: &mut Vec<Output>) {
        let header = self.header();
        for to in self.others() {
            let message = Box::new(BusMessage {
                header: Rc::clone(&header),
                body: body.clone(),
            });
            out.push(Output::ToNode { to, message });
        }
    }

    /// Tells all nodes what this node serves now.
    fn broadcast_pong(&mut self, out: &mut Vec<Output>) {
        for to in self.others() {
            let gossip = self.gossip(to);
            self.send_to_node(to, Body::Pong(gossip), out);
        }
    }

    /// Passes a message of a channel on: to all nodes, or to those of this shard.
    pub(crate) fn publish(
        &self,
        shard: bool,
        channel: &[u8],
        message: &[u8],
        out: &mut Vec<Output>,
    ) {
        let body = Body::Published {
            shard,
            channel: Bytes::from(channel),
            message: Bytes::from(message),
        };
        let head = |id: NodeId| self.node(id).primary.unwrap_or(id);
        let mine = head(self.me);
        for to in self.others().filter(|id| !shard || head(*id) == mine) {
            self.send_to_node(to, body.clone(), out);
        }
    }
}
