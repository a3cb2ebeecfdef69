//! A replica as a Sentinel knows it, and which of several becomes the primary.

use std::time::Duration;

use picklock_clients::redis::Value;

use super::Sentinel;
use super::instance::{Instance, Role};
use super::settings::{INFO, PING};
use super::wall_time::Stamp;
use crate::replication_protocol::Address;

/// How far a replica is with following the new primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reconfiguration {
    /// It has no order to follow.
    None,
    /// It has the order to follow.
    Sent(Stamp),
    /// It says that it does.
    Begun,
    /// It says that the stream comes.
    Done,
}

/// A replica as a Sentinel knows it.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub own: Instance,
    pub priority: u32,
    /// Its offset when it last answered `INFO`, which may be a while ago.
    pub offset: u64,
    pub follows: Option<Address>,
    pub follows_since: Stamp,
    pub link_up: bool,
    pub link_down_for: Duration,
    pub reconfiguration: Reconfiguration,
}

impl Replica {
    pub fn new(address: Address, now: Stamp) -> Self {
        Self {
            own: Instance::new(address, Role::Replica, true, now),
            priority: 100,
            offset: 0,
            follows: None,
            follows_since: now,
            link_up: false,
            link_down_for: Duration::ZERO,
            reconfiguration: Reconfiguration::None,
        }
    }
}

impl Reconfiguration {
    /// How far it is, in the words of Sentinels.
    fn flag(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Sent(_) => Some("reconf_sent"),
            Self::Begun => Some("reconf_inprog"),
            Self::Done => Some("reconf_done"),
        }
    }
}

impl Sentinel {
    /// The description of a replica for a client: of what the real one says, what clients look at.
    pub(super) fn description(&self, index: usize) -> Value {
        let replica = &self.replicas[index];
        let own = &replica.own;
        let flags = [
            own.is_down.then_some("s_down"),
            Some("slave"),
            (!own.connected).then_some("disconnected"),
            self.is_promoted(index).then_some("promoted"),
            replica.reconfiguration.flag(),
        ];
        let flags: Vec<&str> = flags.into_iter().flatten().collect();
        let Address { host, port } = &own.address;
        let role = match own.role {
            Role::Primary => "master",
            Role::Replica => "slave",
        };
        let (primary, primary_port) = match &replica.follows {
            Some(Address { host, port }) => (&**host, *port),
            None => ("?", 0),
        };
        let fields = [
            ("name", format!("{host}:{port}")),
            ("ip", host.to_string()),
            ("port", port.to_string()),
            ("runid", own.id.as_deref().unwrap_or_default().to_owned()),
            ("flags", flags.join(",")),
            ("role-reported", role.to_owned()),
            (
                "master-link-status",
                if replica.link_up { "ok" } else { "err" }.to_owned(),
            ),
            ("master-host", primary.to_owned()),
            ("master-port", primary_port.to_string()),
            ("slave-priority", replica.priority.to_string()),
            ("slave-repl-offset", replica.offset.to_string()),
        ];
        let words = fields.map(|(name, value)| [Value::bulk(name), Value::bulk(value)]);
        Value::array(words.into_iter().flatten())
    }

    /// The replica to promote: the one with the lowest priority; of these, the one that was furthest when it last said
    /// so; of these, the one with the first id.
    pub(super) fn select(&self) -> Option<Address> {
        let now = self.context.now;
        let (down_for, fresh) = if self.primary.is_down {
            (now.since(self.primary.down_since), PING * 5)
        } else {
            (Duration::ZERO, INFO * 3)
        };
        let most = down_for + self.settings.down_after * 10;
        let may = |replica: &&Replica| {
            let own = &replica.own;
            !own.is_down
                && own.connected
                && now.since(own.available) <= PING * 5
                && now.since(own.refreshed) <= fresh
                && replica.priority != 0
                && replica.link_down_for <= most
        };
        let candidates = self.replicas.iter().filter(may);
        let best = candidates.min_by_key(|replica| {
            let furthest = std::cmp::Reverse(replica.offset);
            let id = (replica.own.id.is_none(), replica.own.id.clone());
            (replica.priority, furthest, id)
        });
        best.map(|replica| replica.own.address.clone())
    }
}
