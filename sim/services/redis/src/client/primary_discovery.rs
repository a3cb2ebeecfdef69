//! How a client finds the primary: it asks a Sentinel, connects, and asks the server whether it is one.
//!
//! The steps are those that redis.io gives to the makers of clients ("Guidelines for Redis clients with support for
//! Redis Sentinel"). A client that polls asks again now and then, and leaves a server that is the primary no longer, as
//! Redisson does.

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Value};
use picklock_machines::ConnectionId;

use super::connection::{Phase, Wire};
use super::sentinel_query::SentinelQuery;
use super::{Client, Destination, End, Output, RedisClientConfig};
use crate::Address;

/// The primary, as far as a client knows it.
pub(super) struct PrimaryDiscovery {
    settings: RedisClientConfig,
    /// What the Sentinels are asked.
    pub query: SentinelQuery<Address>,
    /// The primary that was named last.
    primary: Option<Address>,
    /// Connections whose server is asked whether it is the primary, and until when it must answer.
    pub checking: Vec<(ConnectionId, VirtualTime)>,
}

/// The address in the answer of a Sentinel, or of a node of a cluster.
pub(super) fn address(value: &Value) -> Option<Address> {
    let [host, port, ..] = value.values()? else {
        return None;
    };
    let text = |value: &Value| Some(std::str::from_utf8(value.bytes()?).ok()?.to_owned());
    let port = match port {
        Value::Integer(port) => u16::try_from(*port).ok()?,
        port => text(port)?.parse().ok()?,
    };
    Some(Address {
        host: text(host)?.into(),
        port,
    })
}

/// The command that asks a Sentinel for the primary.
pub(super) fn get_master_addr() -> Command {
    Command::new("SENTINEL")
        .arg("GET-MASTER-ADDR-BY-NAME")
        .arg("mymaster")
}

/// Whether a server says that it is the primary.
fn leads(value: &Value) -> bool {
    let first = value.values().and_then(<[Value]>::first);
    first.and_then(Value::bytes) == Some(b"master")
}

impl PrimaryDiscovery {
    pub fn new(settings: RedisClientConfig) -> Self {
        Self {
            settings,
            query: SentinelQuery::new(End::Questions, get_master_addr, address, &settings),
            primary: None,
            checking: Vec::new(),
        }
    }

    /// A connection is gone. Answers whether it was the one to the Sentinel.
    pub fn broken(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) -> bool {
        self.checking.retain(|(other, _)| *other != connection);
        self.query.broken(now, connection, out)
    }

    pub fn next_wake(&self) -> VirtualTime {
        let checks = self.checking.iter().map(|(_, until)| *until);
        checks.fold(self.query.next_wake(), VirtualTime::min)
    }
}

impl Client {
    /// A connection stands: to a Sentinel, which is asked, or to a server, which is asked whether it is the primary,
    /// unless it was named as a replica: redis-py, Redisson, and Lettuce do not look whether it is one.
    pub(super) fn opened_by_sentinel(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) {
        let connecting = Phase::Connecting(connection);
        let is_it = |wire: &Wire| wire.phase == connecting && wire.is_of_replica();
        if self.wires.iter().any(is_it) {
            self.opened(now, connection, out);
            return;
        }
        if self.switches.opened(connection, out) {
            return;
        }
        let discovery = &mut self.discovery;
        if !discovery.query.opened(connection, out) {
            discovery
                .checking
                .push((connection, now + discovery.settings.timeout));
            out.push(Output::Send {
                connection,
                command: Command::new("ROLE"),
                again: false,
                caller: None,
            });
        }
    }

    /// Something has come. Answers whether it was about who is the primary.
    pub(super) fn on_discovery_reply(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        value: &Value,
        out: &mut Vec<Output>,
    ) -> bool {
        let discovery = &mut self.discovery;
        if discovery.query.on_reply(now, connection, value, out) {
            return true;
        }
        let checked = discovery
            .checking
            .iter()
            .position(|(other, _)| *other == connection);
        let Some(index) = checked else {
            return false;
        };
        discovery.checking.remove(index);
        if leads(value) {
            self.opened(now, connection, out);
        } else {
            self.leave(now, connection, out);
        }
        true
    }

    /// Closes a connection whose server is not what it is to be, or does not say that it is.
    pub(super) fn leave(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) {
        out.push(Output::Disconnect { connection });
        self.broken(now, connection, out);
    }

    /// Gives up on Sentinels and servers that do not answer, and asks again if it is time to.
    pub(super) fn run_discovery_timers(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let discovery = &mut self.discovery;
        discovery.query.run_timers(now, out);
        let checking = discovery.checking.iter();
        let late: Vec<ConnectionId> = checking
            .filter(|(_, until)| *until <= now)
            .map(|(connection, _)| *connection)
            .collect();
        for connection in late {
            self.leave(now, connection, out);
        }
    }

    /// Asks a Sentinel for those that want a connection, and connects them when it has answered.
    pub(super) fn connect_by_sentinel(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let mut wanted = false;
        for wire in self.wires.iter_mut().filter(|wire| !wire.is_of_replica()) {
            if wire.wants_connection() && wire.not_before <= now {
                wire.phase = Phase::Resolving;
                wanted = true;
            }
        }
        for topics in &mut self.subscriptions {
            if topics.wants_connection() && topics.not_before <= now {
                topics.phase = Phase::Resolving;
                wanted = true;
            }
        }
        if wanted {
            self.discovery.query.ask(now, out);
        }
        self.switches.connect(now, wanted, out);
        match self.discovery.query.take_outcome() {
            None => {}
            Some(Some(found)) => self.connect_to(now, found, out),
            Some(None) => self.no_primary_found(now),
        }
    }

    /// A Sentinel has named the primary.
    pub(super) fn connect_to(&mut self, now: VirtualTime, found: Address, out: &mut Vec<Output>) {
        let before = self.discovery.primary.replace(found.clone());
        if self.settings.leaves_old_primary() && before.is_some_and(|before| before != found) {
            // The old primary is a primary no longer: connections to it are left.
            let wires = self.wires.iter().filter(|wire| !wire.is_of_replica());
            let wires = wires.map(|wire| wire.phase);
            let subscribed = self.subscriptions.iter();
            let all = wires.chain(subscribed.map(|topics| topics.phase));
            let old: Vec<ConnectionId> = all.filter_map(Phase::connection).collect();
            for connection in old {
                self.leave(now, connection, out);
            }
        }
        let connect = |end| Output::Connect {
            end,
            to: Destination::Address(found.clone()),
        };
        for (index, wire) in self.wires.iter().enumerate() {
            if wire.phase == Phase::Resolving && !wire.is_of_replica() {
                out.push(connect(End::Wire(index)));
            }
        }
        for (index, topics) in self.subscriptions.iter().enumerate() {
            if topics.phase == Phase::Resolving {
                out.push(connect(End::Subscriptions(index)));
            }
        }
    }

    /// No Sentinel has answered: what waits fails, or tries again later.
    fn no_primary_found(&mut self, now: VirtualTime) {
        let settings = self.settings;
        for wire in self
            .wires
            .iter_mut()
            .filter(|wire| wire.phase == Phase::Resolving && !wire.is_of_replica())
        {
            wire.broken(now, &settings);
        }
        for topics in &mut self.subscriptions {
            if topics.phase == Phase::Resolving {
                topics.broken(now, &settings);
            }
        }
    }
}
