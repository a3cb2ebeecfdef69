//! A replica as a Sentinel knows it, and which of several becomes the primary.

use std::time::Duration;

use super::Sentinel;
use super::instance::{Instance, Role};
use super::settings::{INFO, PING};
use super::stamp::Stamp;
use crate::peer::Address;

/// How far a replica is with following the new primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reconfiguration {
    /// It was not told to.
    None,
    /// It was told to.
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
    /// How far it was when it said so last, which may be a while ago.
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

impl Sentinel {
    /// Who is to be the new primary: the one with the lowest priority; of these, the one that was furthest when it last
    /// said so; of these, the one with the first id.
    pub(super) fn select(&self) -> Option<Address> {
        let now = self.desk.now;
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
