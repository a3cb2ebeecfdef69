//! How a client without a cluster reads from replicas, as redis-py's `slave_for`, Redisson, and Lettuce do.
//!
//! What only reads goes to the replicas in turn, each by a connection of its own. If there are Sentinels, one of them
//! is asked who they are whenever such a connection is made, and those that it finds down or has lost sight of are left
//! out. A replica that cannot be reached is passed over for the next one, and when all are, the primary is read from,
//! for as long as that connection stands. A client that polls asks again now and then, leaves a replica that is not
//! named any more, and the primary as soon as a replica is named.

#[cfg(test)]
mod tests;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Lane, Value};
use picklock_machines::ConnectionId;

use super::connection::{LaneTarget, Phase, Wire};
use super::primary_discovery::address;
use super::sentinel_query::SentinelQuery;
use super::{Client, Destination, End, Output, ReadFrom, RedisClientConfig};
use crate::only_reads;

/// The replicas, as far as a client has to know them.
pub(super) struct Readers {
    settings: RedisClientConfig,
    /// What the Sentinels are asked.
    pub query: SentinelQuery<Vec<Destination>>,
    /// How often it has read in turn.
    turn: u8,
}

/// What a Sentinel is asked.
fn who_follows() -> Command {
    Command::new("SENTINEL").arg("REPLICAS").arg("mymaster")
}

/// The replicas that a Sentinel names, without those that it finds down or has no connection to.
fn named(value: &Value) -> Option<Vec<Destination>> {
    let mut named = Vec::new();
    for replica in value.values()? {
        let fields = replica.values()?;
        let field = |name: &str| {
            let mut pairs = fields.chunks_exact(2);
            let found = pairs.find(|pair| pair[0].bytes() == Some(name.as_bytes()));
            found.map(|pair| &pair[1])
        };
        let flags = std::str::from_utf8(field("flags")?.bytes()?).ok()?;
        let is_out = |flag| ["s_down", "o_down", "disconnected"].contains(&flag);
        if !flags.split(',').any(is_out) {
            let at = Value::array([field("ip")?.clone(), field("port")?.clone()]);
            named.push(Destination::Address(address(&at)?));
        }
    }
    Some(named)
}

impl Readers {
    pub fn new(settings: RedisClientConfig) -> Self {
        Self {
            settings,
            query: SentinelQuery::new(End::QuestionsOfReplicas, who_follows, named, &settings),
            turn: 0,
        }
    }

    /// Whether it reads from replicas, and there is no cluster.
    pub fn are_there(&self) -> bool {
        self.settings.read_from != ReadFrom::Primary && self.settings.replicas > 0
    }

    /// Where a command is sent: a replica in turn, if it only reads and goes by no dedicated lane.
    pub fn target(&mut self, lane: Lane, command: &Command) -> LaneTarget {
        if !self.are_there() || !lane.is_shared() || !only_reads(command) {
            return LaneTarget::Lane;
        }
        let primaries = match self.settings.read_from {
            ReadFrom::Primary => return LaneTarget::Lane,
            ReadFrom::Replicas => 0,
            ReadFrom::Any => 1,
        };
        let turn = self.turn;
        self.turn = (turn + 1) % (primaries + self.settings.replicas);
        match turn.checked_sub(primaries) {
            Some(replica) => LaneTarget::Reader(replica),
            None => LaneTarget::Lane,
        }
    }
}

impl Client {
    /// Connects to replicas what is to go there, as soon as it is known who they are.
    pub(super) fn connect_readers(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let mut wanted = false;
        let is_due = |wire: &Wire| wire.wants_connection() && wire.not_before <= now;
        for wire in self.wires.iter_mut().filter(|wire| wire.is_of_replica()) {
            if is_due(wire) {
                wire.phase = Phase::Resolving;
                wanted = true;
            }
        }
        let query = &mut self.readers.query;
        let found = if self.settings.sentinels > 0 {
            if wanted {
                query.ask(now, out);
            }
            query.take_outcome()
        } else {
            let all = (0..self.settings.replicas).map(Destination::Replica);
            wanted.then(|| Some(all.collect()))
        };
        match found {
            None => {}
            Some(Some(replicas)) => self.connect_to_replicas(now, &replicas, out),
            Some(None) => {
                let settings = self.settings;
                let looking =
                    |wire: &&mut Wire| wire.is_of_replica() && wire.phase == Phase::Resolving;
                for wire in self.wires.iter_mut().filter(looking) {
                    wire.broken(now, &settings);
                }
            }
        }
    }

    fn connect_to_replicas(
        &mut self,
        now: VirtualTime,
        replicas: &[Destination],
        out: &mut Vec<Output>,
    ) {
        if self.settings.poll.is_some() {
            let is_astray = |wire: &&Wire| {
                let rotation = wire.rotation.as_ref();
                rotation.is_some_and(|rotation| rotation.is_astray(replicas))
            };
            let astray = self.wires.iter().filter(is_astray);
            let astray: Vec<ConnectionId> =
                astray.filter_map(|wire| wire.phase.connection()).collect();
            for connection in astray {
                self.leave(now, connection, out);
            }
        }
        for (index, wire) in self.wires.iter_mut().enumerate() {
            if wire.phase != Phase::Resolving || !wire.is_of_replica() {
                continue;
            }
            let Some(rotation) = &mut wire.rotation else {
                continue;
            };
            match rotation.aim(replicas) {
                Some(to) => out.push(Output::Connect {
                    end: End::Wire(index),
                    to,
                }),
                // It is connected like all else that goes there.
                None => wire.phase = Phase::Idle,
            }
        }
    }
}
