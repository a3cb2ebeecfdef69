//! The machines of a town, what comes to them, and how they fare.

use crate::replication_protocol::{Address, LinkId};
use crate::sentinel;
use crate::{ConnectionId, Input};

/// A machine: a server or a Sentinel, by its place among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// A server.
    Server(usize),
    /// A Sentinel.
    Sentinel(usize),
}

impl Machine {
    /// Where it is, as others know it. No port is zero: that would be none.
    pub fn address(self) -> Address {
        let (host, place) = match self {
            Self::Server(place) => ("server", place),
            Self::Sentinel(place) => ("sentinel", place),
        };
        Address {
            host: host.into(),
            port: place as u16 + 1,
        }
    }

    /// Who is there, if anybody could be.
    pub fn at(address: &Address) -> Option<Self> {
        let place = usize::from(address.port.checked_sub(1)?);
        match &*address.host {
            "server" => Some(Self::Server(place)),
            "sentinel" => Some(Self::Sentinel(place)),
            _ => None,
        }
    }
}

/// What comes to a machine.
pub(super) enum What {
    /// Something for a server.
    Server(Input),
    /// A replica wants a link.
    Knock(LinkId),
    /// A Sentinel wants a connection.
    Hello(ConnectionId),
    /// Something for a Sentinel.
    Sentinel(sentinel::Input),
    /// It is time to look at the clock.
    Look,
}

/// How a machine fares.
#[derive(Default)]
pub(super) struct State {
    pub(super) dead: bool,
    pub(super) stopped: bool,
    /// What has come while it stood still, and from whom.
    pub(super) backlog: Vec<(Machine, What)>,
    /// How far its wall clock is ahead, in microseconds.
    pub(super) jump: i64,
    /// When it looks at the clock next, if that is known: then that is in the queue.
    pub(super) armed: Option<u64>,
}
