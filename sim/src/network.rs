//! The network: connections with an order of their own, latency, and ways to stop.

use std::time::Duration;

use picklock_checker::{VirtualTime, time::whole_micros};
use picklock_machines::{Chance, Message};
pub use picklock_machines::{ConnectionId, ServerId};

use crate::process::ProcessId;

/// Machines that hear each other.
pub(crate) type Side = Vec<ServerId>;

/// A request or a message on a connection, by its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId {
    /// The connection.
    pub connection: ConnectionId,
    /// The number.
    pub number: u32,
}

/// A range of latencies in microseconds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    least: u64,
    span: u32,
}

impl Latency {
    /// The latency between two durations.
    pub fn new((least, most): (Duration, Duration)) -> Self {
        let least = whole_micros(least);
        let span = whole_micros(most).saturating_sub(least);
        Self {
            least,
            span: u32::try_from(span).unwrap_or(u32::MAX - 1),
        }
    }

    /// The longest.
    pub fn most(self) -> Duration {
        Duration::from_micros(self.least + u64::from(self.span))
    }

    /// Draws one for a message; the boring choice is the least.
    #[inline]
    pub fn draw_of(self, message: Message, chance: &mut dyn Chance) -> u64 {
        self.least + u64::from(chance.choose_of(message, self.span + 1))
    }

    /// Draws one; the boring choice is the least.
    #[inline]
    pub fn draw(self, chance: &mut dyn Chance) -> u64 {
        self.least + u64::from(chance.choose(self.span + 1))
    }
}

/// What is in the way in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Obstacle {
    held_until: VirtualTime,
    slow_by: u64,
    slow_until: VirtualTime,
    slow_for_good: u64,
    /// How many packets of a million are lost, and until when.
    loses: u32,
    loses_until: VirtualTime,
}

impl Obstacle {
    /// Nothing gets through before `until`; what was sent meanwhile is sent again then.
    pub fn hold(&mut self, until: VirtualTime) {
        self.held_until = self.held_until.max(until);
    }

    /// Everything that leaves before `until` takes longer: as long as by the worst that is in the way.
    pub fn slow(&mut self, by: u64, until: VirtualTime) {
        if until == VirtualTime::NEVER {
            self.slow_for_good = self.slow_for_good.max(by);
        } else {
            self.slow_by = self.slow_by.max(by);
            self.slow_until = self.slow_until.max(until);
        }
    }

    /// So many packets of a million that leave before `until` are lost: as many as by the worst that is in the way.
    pub fn lose(&mut self, parts: u32, until: VirtualTime) {
        self.loses = self.loses.max(parts);
        self.loses_until = self.loses_until.max(until);
    }

    /// Nothing makes it slow or lossy any more, but for good.
    pub fn clear_delays(&mut self) {
        *self = Self {
            held_until: self.held_until,
            slow_for_good: self.slow_for_good,
            ..Self::default()
        };
    }

    /// When what would leave at `departs` leaves at the earliest, and how many packets of a million are lost then.
    pub fn leaves(&self, departs: VirtualTime) -> (VirtualTime, u32) {
        let leaves = departs.max(self.held_until);
        let is_over = leaves >= self.loses_until;
        (leaves, if is_over { 0 } else { self.loses })
    }

    /// Whether nothing ever gets through again.
    pub fn is_dead(&self) -> bool {
        self.held_until == VirtualTime::NEVER
    }

    /// By how much everything is slow for good.
    pub fn slow_for_good(&self) -> u64 {
        self.slow_for_good
    }

    /// When what leaves at `departs` gets through.
    #[inline]
    pub fn arrival(&self, departs: VirtualTime, latency: u64) -> VirtualTime {
        let slow = if departs < self.slow_until {
            self.slow_by.max(self.slow_for_good)
        } else {
            self.slow_for_good
        };
        let leaves = departs.max(self.held_until).micros();
        VirtualTime::from_micros(leaves.saturating_add(latency + slow))
    }
}

/// One direction of a link between two servers: messages arrive in the order in which they leave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// When the last message arrives.
    last: VirtualTime,
    /// When the last of those arrives that wait for something before they leave. They hold up none that leaves before.
    last_late: VirtualTime,
    /// What is in the way.
    pub obstacle: Obstacle,
}

impl Link {
    /// When a message that leaves now arrives.
    #[inline]
    pub fn arrival(&mut self, now: VirtualTime, latency: u64) -> VirtualTime {
        self.last = self.last.max(self.obstacle.arrival(now, latency));
        self.last
    }

    /// When a message that leaves later arrives: after all that left before it was sent.
    #[inline]
    pub fn arrival_of_late(&mut self, departs: VirtualTime, latency: u64) -> VirtualTime {
        let gets_through = self.obstacle.arrival(departs, latency);
        self.last_late = self.last_late.max(self.last).max(gets_through);
        self.last_late
    }
}

/// The links between all servers: from each to each.
#[derive(Clone, Debug)]
pub struct Links {
    machines: usize,
    all: Vec<Link>,
}

impl Links {
    /// The links between so many servers.
    pub fn of(machines: u8) -> Self {
        let machines = usize::from(machines);
        Self {
            machines,
            all: vec![Link::default(); machines * machines],
        }
    }

    /// Whether nothing ever gets from a server to another again.
    pub fn is_dead(&self, from: ServerId, to: ServerId) -> bool {
        self.all[usize::from(from.0) * self.machines + usize::from(to.0)]
            .obstacle
            .is_dead()
    }

    /// The link from a server to another.
    #[inline]
    pub fn between(&mut self, from: ServerId, to: ServerId) -> &mut Link {
        &mut self.all[usize::from(from.0) * self.machines + usize::from(to.0)]
    }
}

/// A connection between a client and a server.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// The client's place in the world.
    pub client: u32,
    /// The process of the client.
    pub process: ProcessId,
    /// The server.
    pub server: ServerId,
    /// The client still reads from it.
    pub open_at_client: bool,
    /// The server still reads from it.
    pub open_at_server: bool,
    /// The server has taken it.
    pub was_opened: bool,
    /// It broke: what was under way is lost.
    pub broken: bool,
    /// When the last message in each direction arrives.
    to_server: VirtualTime,
    to_client: VirtualTime,
}

/// All connections there ever were between clients and servers.
#[derive(Clone, Debug, Default)]
pub struct Connections(Vec<Connection>);

impl Connections {
    /// Makes a connection, whose server end is not open yet.
    pub fn open(&mut self, (process, client): (ProcessId, u32), server: ServerId) -> ConnectionId {
        self.0.push(Connection {
            client,
            process,
            server,
            open_at_client: true,
            open_at_server: false,
            was_opened: false,
            broken: false,
            to_server: VirtualTime::ZERO,
            to_client: VirtualTime::ZERO,
        });
        ConnectionId(self.0.len() as u32 - 1)
    }

    /// A connection.
    pub fn get(&self, id: ConnectionId) -> &Connection {
        &self.0[id.0 as usize]
    }

    /// A connection, to change it.
    pub fn get_mut(&mut self, id: ConnectionId) -> &mut Connection {
        &mut self.0[id.0 as usize]
    }
}

/// What delays the messages of one client, whatever connection they go over.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientLink {
    /// Towards servers.
    pub to_server: Obstacle,
    /// From servers.
    pub to_client: Obstacle,
}

impl Connection {
    /// Whether nothing has been sent to the server yet: what is sent next is a SYN.
    pub fn is_new_to_server(&self) -> bool {
        self.to_server == VirtualTime::ZERO
    }

    /// Whether nothing has been sent to the client yet.
    pub fn is_new_to_client(&self) -> bool {
        self.to_client == VirtualTime::ZERO
    }

    /// When a message to the server that would arrive at `at` does: not before those that were sent before.
    #[inline]
    pub fn arrival_at_server(&mut self, at: VirtualTime) -> VirtualTime {
        self.to_server = self.to_server.max(at);
        self.to_server
    }

    /// When a message to the client that would arrive at `at` does: not before those that were sent before.
    #[inline]
    pub fn arrival_at_client(&mut self, at: VirtualTime) -> VirtualTime {
        self.to_client = self.to_client.max(at);
        self.to_client
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> VirtualTime {
        VirtualTime::from_micros(micros)
    }

    #[test]
    fn messages_of_one_direction_arrive_in_the_order_in_which_they_were_sent() {
        let mut link = Link::default();
        assert_eq!(link.arrival(at(0), 500), at(500));
        assert_eq!(link.arrival(at(10), 20), at(500));
        assert_eq!(link.arrival(at(600), 20), at(620));
    }

    #[test]
    fn what_leaves_later_holds_up_nothing_and_overtakes_nothing() {
        let mut link = Link::default();
        assert_eq!(link.arrival(at(0), 900), at(900));
        assert_eq!(link.arrival_of_late(at(500), 200), at(900));
        assert_eq!(link.arrival_of_late(at(800), 200), at(1_000));
        assert_eq!(link.arrival(at(10), 900), at(910));
    }

    #[test]
    fn what_is_sent_into_a_hold_arrives_when_it_is_over() {
        let mut link = Link::default();
        link.obstacle.hold(at(1_000));
        assert_eq!(link.arrival(at(10), 20), at(1_020));
        assert_eq!(link.arrival(at(1_000), 20), at(1_020));
    }
}
