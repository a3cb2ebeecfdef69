//! The machines, and what comes to them.

use crate::replication_protocol::{Address, LinkId};
use crate::sentinel;
use crate::{ConnectionId, Input};

/// A machine: a server or a Sentinel, by its place among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
pub enum Message {
    /// Something for a server.
    Server(Input),
    /// Something for a Sentinel.
    Sentinel(sentinel::Input),
    /// A replica wants a link.
    Reach(LinkId),
    /// A Sentinel wants a connection.
    Call(ConnectionId),
}
