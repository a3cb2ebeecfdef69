//! Subscriptions of a client to what Sentinels say of a new primary (`+switch-master`), as of Jedis and go-redis.
//!
//! A client that subscribes asks first who the primary is, for it may have changed since. The answer of the Sentinel
//! makes it leave the old primary.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Value};
use picklock_machines::ConnectionId;

use super::connection::Phase;
use super::primary_discovery::{address, get_master_addr};
use super::{Client, Destination, End, Output, RedisClientConfig, SwitchMaster};
use crate::Address;

/// How long a client waits before it subscribes again (Jedis, `DEFAULT_SUBSCRIBE_RETRY_WAIT_TIME_MILLIS`).
const PAUSE: Duration = Duration::from_secs(5);

/// All subscriptions of a client.
pub(super) struct SwitchListeners {
    all: Vec<SwitchListener>,
    /// How many Sentinels there are.
    sentinels: u8,
    /// The primary was asked for: from then on it is subscribed.
    begun: bool,
}

/// A subscription at one Sentinel, or at one after the other.
struct SwitchListener {
    phase: Phase,
    sentinel: u8,
    /// Whether the next Sentinel is tried when this one is gone.
    moves_on: bool,
    not_before: VirtualTime,
}

/// The new primary in what a Sentinel has said: a message of the channel, or the answer to the question.
fn named(value: &Value) -> Option<Address> {
    let [kind, _, text] = value.values()? else {
        return address(value);
    };
    if kind.bytes() != Some(b"message") {
        return None;
    }
    // Its name, and where it was, come before.
    let mut words = std::str::from_utf8(text.bytes()?).ok()?.split(' ').skip(3);
    Some(Address {
        host: words.next()?.into(),
        port: words.next()?.parse().ok()?,
    })
}

impl SwitchListeners {
    /// Those of a client so set, none of which stands.
    pub fn new(settings: &RedisClientConfig) -> Self {
        let sentinels = settings.sentinels;
        let number = match settings.switch_master {
            SwitchMaster::Nowhere => 0,
            SwitchMaster::One => sentinels.min(1),
            SwitchMaster::Every => sentinels,
        };
        let listener = |sentinel| SwitchListener {
            phase: Phase::Idle,
            sentinel,
            moves_on: settings.switch_master == SwitchMaster::One,
            not_before: VirtualTime::ZERO,
        };
        Self {
            all: (0..number).map(listener).collect(),
            sentinels,
            begun: false,
        }
    }

    /// Where each is.
    pub fn phases(&self) -> impl Iterator<Item = Phase> {
        self.all.iter().map(|listener| listener.phase)
    }

    /// Where one is.
    pub fn phase_mut(&mut self, index: usize) -> Option<&mut Phase> {
        self.all.get_mut(index).map(|listener| &mut listener.phase)
    }

    fn of(&mut self, phase: Phase) -> Option<&mut SwitchListener> {
        self.all.iter_mut().find(|listener| listener.phase == phase)
    }

    /// Asks for the connections that are wanted, once the primary was asked for.
    pub fn connect(&mut self, now: VirtualTime, wanted: bool, out: &mut Vec<Output>) {
        self.begun |= wanted;
        if !self.begun {
            return;
        }
        for (index, listener) in self.all.iter().enumerate() {
            if listener.phase == Phase::Idle && listener.not_before <= now {
                out.push(Output::Connect {
                    end: End::Switches(index),
                    to: Destination::Sentinel(listener.sentinel),
                });
            }
        }
    }

    /// A connection stands. Answers whether it is one of these.
    pub fn opened(&mut self, connection: ConnectionId, out: &mut Vec<Output>) -> bool {
        let Some(listener) = self.of(Phase::Connecting(connection)) else {
            return false;
        };
        listener.phase = Phase::Open(connection);
        let subscribe = Command::new("SUBSCRIBE").arg("+switch-master");
        for command in [get_master_addr(), subscribe] {
            out.push(Output::Send {
                connection,
                command,
                again: false,
                caller: None,
            });
        }
        true
    }

    /// A connection is gone, or was none. Answers whether it was one of these.
    pub fn broken(&mut self, now: VirtualTime, connection: ConnectionId) -> bool {
        let mut all = self.all.iter_mut();
        let Some(listener) = all.find(|listener| listener.phase.connection() == Some(connection))
        else {
            return false;
        };
        listener.phase = Phase::Idle;
        listener.not_before = now + PAUSE;
        if listener.moves_on {
            listener.sentinel = (listener.sentinel + 1) % self.sentinels;
        }
        true
    }

    /// When it wants to look at the clock.
    pub fn next_wake(&self) -> VirtualTime {
        let all = self.all.iter();
        let idle = all.filter(|listener| self.begun && listener.phase == Phase::Idle);
        let times = idle.map(|listener| listener.not_before);
        times.fold(VirtualTime::NEVER, VirtualTime::min)
    }
}

impl Client {
    /// Something has come. Answers whether it was by a subscription to new primaries.
    pub(super) fn on_switch_message(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        value: &Value,
        out: &mut Vec<Output>,
    ) -> bool {
        if self.switches.of(Phase::Open(connection)).is_none() {
            return false;
        }
        if let Some(found) = named(value) {
            self.connect_to(now, found, out);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_harness::{ClientHarness, SHARED};
    use super::*;

    fn subscribed(at: SwitchMaster) -> ClientHarness {
        ClientHarness::new(RedisClientConfig {
            sentinels: 3,
            switch_master: at,
            ..super::super::tests::SETTINGS
        })
    }

    fn at(host: &str) -> Value {
        Value::array([host, "6379"].map(Value::bulk))
    }

    /// Connects to the primary that the first Sentinel names, by the last connection.
    fn connect(harness: &mut ClientHarness) -> usize {
        drop(harness.submit(SHARED, &["GET", "a"]));
        harness.open(0);
        harness.hear(0, at("one"));
        let connection = harness.opened.len() - 1;
        harness.open(connection);
        harness.hear(connection, Value::array([Value::bulk("master")]));
        harness.hear(connection, Value::Nil);
        connection
    }

    #[test]
    fn a_client_that_hears_of_another_primary_leaves_the_old_one() {
        let mut harness = subscribed(SwitchMaster::One);
        let connection = connect(&mut harness);
        assert_eq!(harness.opened, ["sentinel-0", "sentinel-0", "one"]);
        harness.open(1);
        assert_eq!(harness.last(), (1, "SUBSCRIBE +switch-master"));
        harness.hear(1, at("one"));
        assert!(harness.closed.is_empty());
        let told = ["message", "+switch-master", "mymaster one 6379 two 6379"];
        harness.hear(1, Value::array(told.map(Value::bulk)));
        assert_eq!(harness.closed, [connection]);
    }

    #[test]
    fn a_switch_that_was_missed_is_learnt_at_the_next_subscription() {
        let mut harness = subscribed(SwitchMaster::One);
        let connection = connect(&mut harness);
        harness.break_off(1);
        harness.pass(4_999);
        assert_eq!(harness.opened.len(), 3);
        harness.pass(1);
        assert_eq!(harness.opened[3], "sentinel-1");
        harness.open(3);
        harness.hear(3, at("two"));
        assert_eq!(harness.closed, [connection]);
    }

    #[test]
    fn a_subscriber_at_every_sentinel_has_a_connection_to_each() {
        let mut harness = subscribed(SwitchMaster::Every);
        connect(&mut harness);
        let opened = [
            "sentinel-0",
            "sentinel-0",
            "sentinel-1",
            "sentinel-2",
            "one",
        ];
        assert_eq!(harness.opened, opened);
        assert_eq!(subscribed(SwitchMaster::Nowhere).opened.len(), 0);
    }
}
