//! The client of one process: its connections to each server, and what client libraries do without being asked.
//!
//! Commands of one lane share a connection, made when the first of them comes and again after it broke; or, if
//! [`RedisClientConfig::connections`] says so, each has one of a pool for itself. Below the lock's code there are a
//! response timeout and [`RedisClientConfig::retries`]: a command whose answer was lost is sent again.

mod cluster;
mod connection;
mod in_flight;
mod io;
mod pending;
mod pool;
mod primary_discovery;
mod replica_reads;
mod replica_rotation;
mod sentinel_query;
mod sequential_query;
mod subscriptions;
mod switch_listener;
#[cfg(test)]
mod test_harness;
#[cfg(test)]
mod tests;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Lane, Value};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now};

use cluster::Router;
use connection::{LaneTarget, Phase, Wire};
pub use io::{
    ConnectionMode, Destination, End, Input, Output, ReadFrom, RedisClientConfig, SwitchMaster,
};
use pending::Pending;
use pool::Queued;
use primary_discovery::PrimaryDiscovery;
use replica_reads::Readers;
use replica_rotation::ReplicaRotation;
use subscriptions::Subscriptions;
use switch_listener::SwitchListeners;

/// The client of one process.
pub struct Client {
    settings: RedisClientConfig,
    wires: Vec<Wire>,
    /// What waits for a connection of a pool, in the order in which it came.
    queued: Vec<Queued>,
    /// How often one was given back.
    given_back: u64,
    subscriptions: Vec<Subscriptions>,
    /// Finds the primary.
    discovery: PrimaryDiscovery,
    /// Where it subscribes to `+switch-master`.
    switches: SwitchListeners,
    /// Finds the replicas.
    readers: Readers,
    /// Knows which node serves which slots.
    router: Router,
    /// The number of the next dedicated lane.
    next_lane: u32,
    /// Connections that were asked for, and until when they must stand.
    connecting: Vec<(ConnectionId, VirtualTime)>,
}

impl Machine for Client {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        _chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        let now = now.monotonic;
        if let Input::Opened { connection } | Input::Broken { connection } = &input {
            self.connecting.retain(|(other, _)| other != connection);
        }
        match input {
            Input::Submit {
                lane,
                command,
                completion,
                caller,
            } => {
                let mut pending = Pending::new(now, command, completion, &self.settings);
                pending.caller = caller;
                if self.settings.cluster > 0 {
                    self.router.take(lane, pending, now);
                } else {
                    let target = self.readers.target(lane, &pending.command);
                    self.send_by(lane, target, pending, out);
                }
            }
            Input::Subscribe {
                node,
                channel,
                listener,
                completion,
            } => {
                let settings = self.settings;
                let at_node = self.subscriptions_at(node);
                at_node.subscribe(now, channel, listener, completion, &settings, out);
            }
            Input::Opened { connection } if self.readers.query.opened(connection, out) => {}
            Input::Opened { connection } if self.settings.sentinels > 0 => {
                self.opened_by_sentinel(now, connection, out);
            }
            Input::Opened { connection } if self.router.opened(connection, out) => {}
            Input::Opened { connection } => self.opened(now, connection, out),
            Input::Broken { connection } => self.broken(now, connection, out),
            Input::Received { connection, value } => self.on_push(now, connection, value, out),
            Input::Wake => {
                self.expire_connects(now, out);
                self.run_timers(now, out);
            }
        }
        self.hand_out(now, out);
        self.connect(now, out);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let mut first = VirtualTime::NEVER;
        if self.needs_discovery() {
            let asking = self.readers.query.next_wake();
            first = asking.min(self.discovery.next_wake());
            first = first.min(self.router.next_wake());
            first = first.min(self.switches.next_wake());
        }
        // After every message, so without a chain of iterators.
        for wire in &self.wires {
            first = first.min(wire.next_wake());
        }
        for subscriptions in &self.subscriptions {
            first = first.min(subscriptions.next_wake());
        }
        for (_, until) in &self.connecting {
            first = first.min(*until);
        }
        for queued in &self.queued {
            first = first.min(queued.deadline());
        }
        first
    }
}

impl Client {
    /// A client without connections.
    pub fn new(settings: RedisClientConfig) -> Self {
        Self {
            settings,
            wires: Vec::new(),
            queued: Vec::new(),
            given_back: 0,
            subscriptions: Vec::new(),
            discovery: PrimaryDiscovery::new(settings),
            switches: SwitchListeners::new(&settings),
            readers: Readers::new(settings),
            router: Router::new(settings),
            next_lane: 1,
            connecting: Vec::new(),
        }
    }

    /// How many independent servers it knows.
    pub fn nodes(&self) -> u32 {
        self.settings.nodes
    }

    /// A lane to a server that no other task uses.
    pub fn dedicated(&mut self, node: u32) -> Lane {
        let number = self.next_lane;
        self.next_lane += 1;
        Lane { node, number }
    }

    /// How many answers are awaited.
    pub fn requests_in_flight(&self) -> usize {
        let mut in_flight = self.queued.len() + self.router.in_flight();
        for wire in &self.wires {
            in_flight += wire.in_flight();
        }
        for subscriptions in &self.subscriptions {
            in_flight += subscriptions.in_flight();
        }
        in_flight
    }

    /// Whether the next answer by a connection is one that its command still waits for. All others are thrown away.
    pub fn awaits_answer(&self, connection: ConnectionId) -> bool {
        let open = Phase::Open(connection);
        let wire = self.wires.iter().find(|wire| wire.phase == open);
        wire.is_some_and(Wire::awaits_answer)
    }

    /// The connections that it has, standing or not; its lanes' first.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        let wires = self.wires.iter().map(|wire| wire.phase);
        let subscribed = self.subscriptions.iter();
        let all = wires.chain(subscribed.map(|topics| topics.phase));
        let asking = [
            self.discovery.query.phase(),
            self.readers.query.phase(),
            self.router.phase(),
        ];
        let all = all.chain(asking).chain(self.switches.phases());
        all.filter_map(Phase::connection)
    }

    /// The place of a lane's wire to this target.
    fn wire(&mut self, lane: Lane, target: &LaneTarget) -> usize {
        let is_it = |wire: &Wire| wire.lane == lane && wire.target == *target;
        let known = self.wires.iter().position(is_it);
        known.unwrap_or_else(|| self.another_wire(lane, target))
    }

    /// The place of a new wire.
    fn another_wire(&mut self, lane: Lane, target: &LaneTarget) -> usize {
        self.wires.push(Wire::new(lane, target.clone()));
        self.wires.len() - 1
    }

    fn subscriptions_at(&mut self, node: u32) -> &mut Subscriptions {
        let mut all = self.subscriptions.iter();
        let known = all.position(|topics| topics.node == node);
        let index = known.unwrap_or_else(|| {
            self.subscriptions.push(Subscriptions::new(node));
            self.subscriptions.len() - 1
        });
        &mut self.subscriptions[index]
    }

    /// The connection that it asked for has this number.
    pub fn connecting(&mut self, now: VirtualTime, end: End, connection: ConnectionId) {
        if !matches!(end, End::Questions | End::QuestionsOfReplicas) {
            let until = now + self.settings.connect_timeout;
            self.connecting.push((connection, until));
        }
        let phase = match end {
            End::Wire(index) => self.wires.get_mut(index).map(|wire| &mut wire.phase),
            End::Subscriptions(index) => {
                { self.subscriptions.get_mut(index) }.map(|topics| &mut topics.phase)
            }
            End::Switches(index) => self.switches.phase_mut(index),
            End::Questions if self.settings.cluster > 0 => Some(self.router.phase_mut()),
            End::Questions => Some(self.discovery.query.phase_mut()),
            End::QuestionsOfReplicas => Some(self.readers.query.phase_mut()),
        };
        if let Some(phase) = phase {
            *phase = Phase::Connecting(connection);
        }
    }

    fn opened(&mut self, now: VirtualTime, connection: ConnectionId, out: &mut Vec<Output>) {
        let opening = Phase::Connecting(connection);
        let in_cluster = self.settings.cluster > 0;
        let settles = in_cluster && self.settings.read_from != ReadFrom::Primary;
        for wire in self.wires.iter_mut().filter(|wire| wire.phase == opening) {
            wire.opened(now, connection, &self.settings);
            if settles && wire.lane.is_shared() {
                wire.settle_for_replicas(out);
            }
            wire.send(out);
        }
        for topics in self
            .subscriptions
            .iter_mut()
            .filter(|topics| topics.phase == opening)
        {
            topics.phase = Phase::Open(connection);
            topics.opened(out);
        }
    }

    fn broken(&mut self, now: VirtualTime, connection: ConnectionId, out: &mut Vec<Output>) {
        let settings = self.settings;
        if settings.cluster > 0 {
            self.broken_in_cluster(now, connection, out);
            return;
        }
        if self.settings.sentinels > 0
            && (self.discovery.broken(now, connection, out)
                || self.switches.broken(now, connection)
                || self.readers.query.broken(now, connection, out))
        {
            return;
        }
        let is_it = |phase: Phase| phase.connection() == Some(connection);
        for wire in self.wires.iter_mut().filter(|wire| is_it(wire.phase)) {
            match wire.phase {
                Phase::Connecting(_) if wire.is_of_replica() => wire.pass_on(),
                _ => wire.broken(now, &settings),
            }
        }
        let subscribed = self.subscriptions.iter_mut();
        for topics in subscribed.filter(|topics| is_it(topics.phase)) {
            topics.broken(now, &settings);
        }
    }

    fn on_push(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        value: Value,
        out: &mut Vec<Output>,
    ) {
        if self.settings.sentinels > 0
            && (self.on_discovery_reply(now, connection, &value, out)
                || self.on_switch_message(now, connection, &value, out)
                || self.readers.query.on_reply(now, connection, &value, out))
        {
            return;
        }
        if self.settings.cluster > 0 && self.on_cluster_reply(now, connection, &value, out) {
            return;
        }
        let open = Phase::Open(connection);
        let mut subscribed = self.subscriptions.iter_mut();
        if let Some(wire) = self.wires.iter_mut().find(|wire| wire.phase == open) {
            if wire.answer(now, value, &self.settings) {
                out.push(Output::Disconnect { connection });
            }
        } else if let Some(topics) = subscribed.find(|topics| topics.phase == open) {
            topics.on_push(&value, out);
        }
    }

    /// Gives up on connections that no server has accepted.
    fn expire_connects(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let is_late = |(_, until): &mut (ConnectionId, VirtualTime)| *until <= now;
        let late: Vec<_> = self.connecting.extract_if(.., is_late).collect();
        for (connection, _) in late {
            out.push(Output::Disconnect { connection });
            self.broken(now, connection, out);
        }
    }

    /// Gives up on what has waited long enough. Sent again, it needs a new connection: the old one may still answer.
    fn run_timers(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let settings = self.settings;
        self.give_up_queued(now);
        if settings.cluster > 0 {
            self.look_at_clock_in_cluster(now, out);
            return;
        }
        for wire in &mut self.wires {
            let late = wire.give_up(now, &settings);
            if late
                && settings.closes_late()
                && let Some(connection) = wire.phase.connection()
            {
                out.push(Output::Disconnect { connection });
                wire.broken(now, &settings);
            }
        }
        for topics in &mut self.subscriptions {
            topics.give_up(now);
        }
        if settings.sentinels > 0 {
            self.run_discovery_timers(now, out);
            self.readers.query.run_timers(now, out);
        }
    }

    /// Asks for the connections that are wanted and may be.
    fn connect(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.readers.are_there() {
            self.connect_readers(now, out);
        }
        if self.settings.sentinels > 0 {
            self.connect_by_sentinel(now, out);
            return;
        }
        if self.settings.cluster > 0 {
            self.connect_in_cluster(now, out);
            return;
        }
        for (index, wire) in self.wires.iter().enumerate() {
            if wire.wants_connection() && wire.not_before <= now && !wire.is_of_replica() {
                let (end, to) = (End::Wire(index), Destination::Node(wire.lane.node));
                out.push(Output::Connect { end, to });
            }
        }
        for (index, topics) in self.subscriptions.iter().enumerate() {
            if topics.wants_connection() && topics.not_before <= now {
                let (end, to) = (End::Subscriptions(index), Destination::Node(topics.node));
                out.push(Output::Connect { end, to });
            }
        }
    }

    /// Whether it has to ask which server to send to.
    fn needs_discovery(&self) -> bool {
        self.settings.sentinels > 0 || self.settings.cluster > 0 || self.readers.are_there()
    }
}
