//! A trace of a run: every message between a client and a server.

use picklock_checker::VirtualTime;

use crate::network::{ConnectionId, ServerId};
use crate::plan::Direction;
use crate::process::ProcessId;

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageStep {
    /// It leaves.
    Sent,
    /// It is there, and is read.
    Received,
    /// It is lost on its way, or its connection breaks under it.
    Lost,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDirection {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

impl MessageStep {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Lost => "lost",
        }
    }
}

impl MessageDirection {
    /// As scenario files name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToServer => Direction::ToServer.name(),
            Self::ToClient => Direction::ToClient.name(),
        }
    }
}

/// Something that happens to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedMessage {
    /// When.
    pub at: VirtualTime,
    /// Whose client: a contender by its place, and after those the bystanders and the operator.
    pub process: ProcessId,
    /// Which server, by its place from zero.
    pub server: ServerId,
    /// Which connection.
    pub connection: ConnectionId,
    /// Which way the message goes.
    pub direction: MessageDirection,
    /// What happens to it.
    pub step: MessageStep,
    /// What it says.
    pub text: String,
}
