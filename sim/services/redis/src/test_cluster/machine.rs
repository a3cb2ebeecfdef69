//! The machines, and what comes to them.

use crate::replication_protocol::{Address, LinkId};
use crate::sentinel;
use crate::{ConnectionId, Input};

/// A machine: a server or a Sentinel, by its index among those of its kind.
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
        let (host, index) = match self {
            Self::Server(index) => ("server", index),
            Self::Sentinel(index) => ("sentinel", index),
        };
        Address {
            host: host.into(),
            port: index as u16 + 1,
        }
    }

    /// The machine at an address, if it is that of one.
    pub fn at(address: &Address) -> Option<Self> {
        let index = usize::from(address.port.checked_sub(1)?);
        match &*address.host {
            "server" => Some(Self::Server(index)),
            "sentinel" => Some(Self::Sentinel(index)),
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
