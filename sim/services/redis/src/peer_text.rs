//! Messages between servers in words, as traces show them: by the names of Redis.

use std::fmt;

use picklock_clients::redis::Command;

use crate::cluster::{Body, BusMessage};
use crate::replication_protocol::{PeerMessage, StreamPart};

impl PeerMessage {
    /// Whether it says no more than that its sender is there, and how far it is.
    pub fn is_sign_of_life(&self) -> bool {
        let is_idle = |command: &Command| command.is("PING") || command.is("SELECT");
        match self {
            Self::Ack { .. } => true,
            Self::Stream(part) => part.commands.iter().all(is_idle),
            Self::Sync { .. } | Self::Continue { .. } | Self::FullSync { .. } => false,
        }
    }
}

impl fmt::Display for PeerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sync { id: None, .. } => write!(out, "PSYNC ? -1"),
            Self::Sync {
                id: Some(id),
                wanted,
                ..
            } => write!(out, "PSYNC {id} {wanted}"),
            Self::Continue { id } => write!(out, "+CONTINUE {id}"),
            Self::FullSync { id, offset, .. } => {
                write!(out, "+FULLRESYNC {id} {offset}, and the RDB")
            }
            Self::Stream(part) => write!(out, "{part}"),
            Self::Ack {
                offset,
                synced: None,
            } => write!(out, "REPLCONF ACK {offset}"),
            Self::Ack {
                offset,
                synced: Some(synced),
            } => write!(out, "REPLCONF ACK {offset} FACK {synced}"),
        }
    }
}

/// `SET lock:a token PX 30000; DEL other, up to byte 217`
impl fmt::Display for StreamPart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, command) in self.commands.iter().enumerate() {
            let between = if index == 0 { "" } else { "; " };
            write!(out, "{between}{command}")?;
        }
        write!(out, ", up to byte {}", self.end)
    }
}

impl BusMessage {
    /// Whether it says no more than that its sender is there, and which nodes it hears.
    pub fn is_sign_of_life(&self) -> bool {
        matches!(self.body, Body::Ping(_) | Body::Pong(_))
    }
}

impl fmt::Display for BusMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let epoch = self.header.epoch;
        match &self.body {
            Body::Ping(_) => write!(out, "PING"),
            Body::Pong(_) => write!(out, "PONG"),
            Body::Failed(node) => write!(out, "FAIL server-{}", node.0 + 1),
            Body::VoteWanted => write!(out, "FAILOVER_AUTH_REQUEST, epoch {epoch}"),
            Body::Vote => write!(out, "FAILOVER_AUTH_ACK, epoch {epoch}"),
            Body::Newer {
                node, config_epoch, ..
            } => {
                let node = node.0 + 1;
                write!(out, "UPDATE: server-{node} has epoch {config_epoch}")
            }
            Body::Published { channel, .. } => {
                write!(out, "PUBLISH {}", channel.escape_ascii())
            }
            Body::Keys { payloads, .. } => write!(out, "RESTORE of {} keys", payloads.len()),
            Body::KeysTaken { refusals, .. } => {
                let refused = refusals.iter().flatten().count();
                write!(out, "RESTORE done, {refused} refused")
            }
        }
    }
}
