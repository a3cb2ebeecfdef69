//! How a client of a cluster finds the node that serves a key, as redis-py, redis-rs, and Redisson do.
//!
//! It asks a node which nodes serve which slots, and sends each command where its first key belongs. A node that does
//! not serve the slot names the one that does (`MOVED`), or that does for this once (`ASK`), and the command is sent
//! there. Whenever the client has reason to doubt its map (a command was sent elsewhere, a connection broke, no answer
//! came, the cluster was down), it asks again before the next command, each time another node, and the next one if that
//! does not answer. If it polls, it also asks now and then without a reason. If it may, it reads from replicas, in
//! turn.

mod slot_map;
#[cfg(test)]
pub(super) mod tests;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Lane, Value};
use picklock_machines::ConnectionId;

use super::connection::{LaneTarget, Phase};
use super::pending::Pending;
use super::sequential_query::SequentialQuery;
use super::{Client, Destination, End, Output, ReadFrom, RedisClientConfig};
use crate::{Address, only_reads, slot_of, slot_of_command};
use slot_map::{Map, Reply};

/// Which node serves which slots, as far as a client knows, and the commands that wait for that.
pub(super) struct Router {
    settings: RedisClientConfig,
    map: Map,
    /// There is reason to doubt the map, or there is none yet.
    stale: bool,
    /// What the nodes are asked.
    questions: SequentialQuery,
    /// No node has answered.
    in_vain: bool,
    /// Commands that have nowhere to go yet, and before when they are not to be sent.
    waiting: Vec<(Lane, Pending, VirtualTime)>,
    /// Where each lane has sent its last command with a key: those without one go there, too.
    last: Vec<(Lane, Address)>,
    /// When the next of those that wait may be sent.
    wake: VirtualTime,
    /// When to ask without a reason.
    poll_at: VirtualTime,
    /// How often it has read in turn.
    turn: usize,
}

/// The node with a number.
fn node(number: u8) -> Destination {
    Destination::Node(number.into())
}

/// What a node is asked.
fn who_serves() -> Command {
    Command::new("CLUSTER").arg("SLOTS")
}

impl Router {
    pub fn new(settings: RedisClientConfig) -> Self {
        Self {
            settings,
            map: Map::default(),
            stale: true,
            questions: SequentialQuery::new(
                End::Questions,
                settings.cluster,
                node,
                who_serves,
                settings.timeout,
            ),
            in_vain: false,
            waiting: Vec::new(),
            last: Vec::new(),
            wake: VirtualTime::NEVER,
            poll_at: VirtualTime::NEVER,
            turn: 0,
        }
    }

    pub fn phase(&self) -> Phase {
        self.questions.phase
    }

    pub fn phase_mut(&mut self) -> &mut Phase {
        &mut self.questions.phase
    }

    /// How many commands have nowhere to go yet.
    pub fn in_flight(&self) -> usize {
        self.waiting.len()
    }

    /// A command is to be sent, not before a time.
    pub fn take(&mut self, lane: Lane, pending: Pending, not_before: VirtualTime) {
        self.waiting.push((lane, pending, not_before));
    }

    /// Where a command goes; nowhere if no node serves its slot.
    fn route(&mut self, lane: Lane, command: &Command) -> Option<Address> {
        let Some(slot) = slot_of_command(command) else {
            let last = self.last.iter().find(|(other, _)| *other == lane);
            return last.map_or_else(|| self.map.any_node(), |(_, to)| Some(to.clone()));
        };
        if lane.is_shared()
            && only_reads(command)
            && let Some(to) = self.reader(slot)
        {
            return Some(to);
        }
        let to = self.map.owner(slot)?;
        self.note_node(lane, &to);
        Some(to)
    }

    /// The node whose turn it is to answer a read; none if the primary is to.
    fn reader(&mut self, slot: u16) -> Option<Address> {
        let nodes = self.map.nodes(slot);
        let nodes = match self.settings.read_from {
            ReadFrom::Primary => return None,
            ReadFrom::Replicas => nodes.get(1..)?,
            ReadFrom::Any => nodes,
        };
        let to = nodes.get(self.turn.checked_rem(nodes.len())?)?;
        self.turn = self.turn.wrapping_add(1);
        Some(to.clone())
    }

    /// A lane sends a command with a key to a node.
    fn note_node(&mut self, lane: Lane, to: &Address) {
        match self.last.iter_mut().find(|(other, _)| *other == lane) {
            Some((_, last)) => last.clone_from(to),
            None => self.last.push((lane, to.clone())),
        }
    }

    /// A connection stands. Answers whether it was the one to the node that is to be asked.
    pub fn opened(&mut self, connection: ConnectionId, out: &mut Vec<Output>) -> bool {
        self.questions.opened(connection, out)
    }

    /// The node has failed to answer: the next one is asked. After the last, none is, and what waits fails or is tried
    /// again later.
    fn next(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.questions.next(now, out) {
            return;
        }
        self.poll_later(now);
        self.in_vain = true;
        for (lane, pending, _) in std::mem::take(&mut self.waiting) {
            self.later(now, lane, pending);
        }
    }

    /// A node has answered, or none has: a client that polls asks again after a while.
    fn poll_later(&mut self, now: VirtualTime) {
        if let Some(every) = self.settings.poll {
            self.poll_at = now + every;
        }
    }

    /// A command could not be sent: it is tried again later, if it may be.
    fn later(&mut self, now: VirtualTime, lane: Lane, mut pending: Pending) {
        if pending.try_again(now, self.settings.retry_pause, &self.settings) {
            self.take(lane, pending, now + self.settings.retry_pause);
        } else {
            pending.fail();
        }
    }

    /// Gives up on nodes that do not answer, and on commands that have waited for long enough.
    fn run_timers(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        if self.questions.deadline() <= now {
            self.next(now, out);
        }
        if self.poll_at <= now {
            self.poll_at = VirtualTime::NEVER;
            self.questions.ask(now, out);
        }
        for (lane, mut pending, not_before) in std::mem::take(&mut self.waiting) {
            if pending.deadline > now
                || pending.try_again(now, self.settings.retry_pause, &self.settings)
            {
                self.take(lane, pending, not_before);
            } else {
                pending.give_up();
            }
        }
    }

    pub fn next_wake(&self) -> VirtualTime {
        let deadline = self.questions.deadline();
        let waiting = self.waiting.iter().map(|(_, pending, _)| pending.deadline);
        let soonest = deadline.min(self.wake).min(self.poll_at);
        waiting.fold(soonest, VirtualTime::min)
    }
}

impl Client {
    /// A connection could not be made, or is gone: another node may serve its slots by now.
    pub(super) fn broken_in_cluster(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) {
        if self.router.questions.lost(connection) {
            self.router.next(now, out);
            return;
        }
        let settings = self.settings;
        let is_it = |phase: Phase| phase.connection() == Some(connection);
        self.router.stale = true;
        for wire in self.wires.iter_mut().filter(|wire| is_it(wire.phase)) {
            for pending in wire.lose(now, &settings) {
                let not_before = now + settings.retry_pause;
                self.router.take(wire.lane, pending, not_before);
            }
        }
        let subscribed = self.subscriptions.iter_mut();
        for topics in subscribed.filter(|topics| is_it(topics.phase)) {
            topics.broken(now, &settings);
        }
    }

    /// Something has come. Answers whether it was for a lane, or about who serves what.
    pub(super) fn on_cluster_reply(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        value: &Value,
        out: &mut Vec<Output>,
    ) -> bool {
        let open = Phase::Open(connection);
        if self.router.questions.phase == open {
            match Map::from_cluster_slots(value) {
                Some(map) => {
                    self.router.map = map;
                    self.router.stale = false;
                    self.router.questions.leave(out);
                    self.router.questions.settle();
                    self.router.poll_later(now);
                }
                None => self.router.next(now, out),
            }
            return true;
        }
        let Some(wire) = self.wires.iter_mut().find(|wire| wire.phase == open) else {
            return false;
        };
        if let Some(pending) = wire.answered() {
            let lane = wire.lane;
            self.answered(now, lane, pending, value, out);
        }
        true
    }

    /// A node has answered a command, or says that another is to be asked, or that none can serve it now.
    fn answered(
        &mut self,
        now: VirtualTime,
        lane: Lane,
        mut pending: Pending,
        value: &Value,
        out: &mut Vec<Output>,
    ) {
        let to = match slot_map::read(value) {
            Reply::Answer => None,
            Reply::NotNow => {
                self.router.stale = true;
                if let Some(not_before) = pending.wait_for_cluster(now, &self.settings) {
                    self.router.take(lane, pending, not_before);
                    return;
                }
                None
            }
            Reply::Moved(slot, to) => {
                self.router.stale = true;
                self.router.map.correct(slot, to.clone());
                Some(to)
            }
            Reply::Ask(to) => {
                pending.asking = true;
                Some(to)
            }
        };
        // A dedicated lane may be in the middle of a transaction, of which no part can go elsewhere.
        match to {
            Some(to) if lane.is_shared() && pending.redirections_left > 0 => {
                pending.redirections_left -= 1;
                self.router.note_node(lane, &to);
                self.send_by(lane, LaneTarget::Node(to), pending, out);
            }
            _ => pending.answer(value.clone()),
        }
    }

    /// Gives up on what has waited long enough, as without a cluster. A node that does not answer may have been
    /// replaced.
    pub(super) fn look_at_clock_in_cluster(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let settings = self.settings;
        for wire in &mut self.wires {
            let before = wire.in_flight();
            let late = wire.give_up(now, &settings);
            self.router.stale |= late || wire.in_flight() < before;
            if late
                && settings.closes_late()
                && let Some(connection) = wire.phase.connection()
            {
                out.push(Output::Disconnect { connection });
                for pending in wire.lose(now, &settings) {
                    let not_before = now + settings.retry_pause;
                    self.router.take(wire.lane, pending, not_before);
                }
            }
        }
        for topics in &mut self.subscriptions {
            topics.give_up(now);
        }
        self.router.run_timers(now, out);
    }

    /// Asks which nodes serve which slots, if a command has to know, and sends what waits where it belongs.
    pub(super) fn connect_in_cluster(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let due = |(_, _, not_before): &(Lane, Pending, VirtualTime)| *not_before <= now;
        let mut wanted = self.router.waiting.iter().any(due);
        let in_vain = std::mem::take(&mut self.router.in_vain);
        for topics in &mut self.subscriptions {
            if in_vain && topics.phase == Phase::Resolving {
                topics.broken(now, &self.settings);
            }
            if topics.wants_connection() && topics.not_before <= now {
                topics.phase = Phase::Resolving;
            }
            wanted |= topics.phase == Phase::Resolving;
        }
        if wanted && self.router.stale {
            self.router.questions.ask(now, out);
        }
        if !self.router.stale {
            self.send_what_waits(now, out);
            self.connect_subscriptions(now, out);
        }
        let later = self.router.waiting.iter().map(|(_, _, at)| *at);
        let later = later.filter(|at| *at > now).min();
        self.router.wake = later.unwrap_or(VirtualTime::NEVER);
        for (index, wire) in self.wires.iter().enumerate() {
            if wire.wants_connection()
                && wire.not_before <= now
                && let LaneTarget::Node(to) = &wire.target
            {
                let (end, to) = (End::Wire(index), Destination::Address(to.clone()));
                out.push(Output::Connect { end, to });
            }
        }
    }

    /// Subscribes at the node that serves the slot of the channel; any node would do, for all pass messages on.
    fn connect_subscriptions(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let looking = self.subscriptions.iter_mut().enumerate();
        for (index, topics) in looking.filter(|(_, topics)| topics.phase == Phase::Resolving) {
            let slot = topics.first_channel().map(slot_of);
            match slot.and_then(|slot| self.router.map.owner(slot)) {
                Some(to) => {
                    let (end, to) = (End::Subscriptions(index), Destination::Address(to));
                    out.push(Output::Connect { end, to });
                }
                None => topics.broken(now, &self.settings),
            }
        }
    }

    fn send_what_waits(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        for (lane, pending, not_before) in std::mem::take(&mut self.router.waiting) {
            if not_before > now {
                self.router.take(lane, pending, not_before);
                continue;
            }
            match self.router.route(lane, &pending.command) {
                Some(to) => self.send_by(lane, LaneTarget::Node(to), pending, out),
                None => {
                    self.router.stale = true;
                    self.router.later(now, lane, pending);
                }
            }
        }
    }
}
