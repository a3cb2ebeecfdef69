//! A trace of a run: every message between a client and a server, and between servers.

use picklock_checker::VirtualTime;

use crate::network::{ConnectionId, ServerId};
use crate::plan::Direction;
use crate::process::ProcessId;

/// What is said of a connection that begins.
pub(crate) const CONNECTION: &str = "the connection";
/// What is said of a connection that is gone.
pub(crate) const CONNECTION_GONE: &str = "the connection is gone";

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageStep {
    /// It leaves.
    Sent,
    /// It is there, and is read.
    Received,
    /// It is lost on its way, or its connection breaks under it.
    Lost,
    /// It is no message: the end that it would go to learns that the connection is gone.
    Closed,
    /// It is no message: the end that requested the connection learns that it is open.
    Opened,
    /// It is no message: the end that requested a connection learns that no process listens.
    Refused,
    /// A packet of what was sent is lost, and TCP sends it again.
    PacketLost,
    /// It is no message: the link goes down for a while.
    LinkDown,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDirection {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
    /// From a server, or a Sentinel, to another.
    BetweenServers,
}

impl MessageStep {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Lost => "lost",
            Self::Closed => "closed",
            Self::Opened => "opened",
            Self::Refused => "refused",
            Self::PacketLost => "dropped",
            Self::LinkDown => "down",
        }
    }
}

impl MessageDirection {
    /// As scenario files name it, if they do.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToServer => Direction::ToServer.name(),
            Self::ToClient => Direction::ToClient.name(),
            Self::BetweenServers => "between-servers",
        }
    }
}

/// The sender or recipient of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// A client: a contender by its index, and after those the bystanders and the operator.
    Client(ProcessId),
    /// A server, by its index from zero; after the servers come the Sentinels.
    Server(ServerId),
    /// Every server that the other one can talk to.
    EveryServer,
}

/// Something that happens to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedMessage {
    /// The time.
    pub at: VirtualTime,
    /// How many events of the history there were before.
    pub after: usize,
    /// Its sender.
    pub from: Party,
    /// Its recipient.
    pub to: Party,
    /// By which connection, if it is one of a client.
    pub connection: Option<ConnectionId>,
    /// What happens to it.
    pub step: MessageStep,
    /// What it says.
    pub text: String,
    /// Whether it says no more than that its sender is there.
    pub is_sign_of_life: bool,
}

impl TracedMessage {
    /// Which way it goes.
    pub fn direction(&self) -> MessageDirection {
        match (self.from, self.to) {
            (Party::Client(_), _) => MessageDirection::ToServer,
            (Party::Server(_) | Party::EveryServer, Party::Client(_)) => MessageDirection::ToClient,
            (Party::Server(_) | Party::EveryServer, Party::Server(_) | Party::EveryServer) => {
                MessageDirection::BetweenServers
            }
        }
    }

    /// The process of the client that it comes from or goes to.
    pub fn process(&self) -> Option<ProcessId> {
        match (self.from, self.to) {
            (Party::Client(process), _) | (_, Party::Client(process)) => Some(process),
            (Party::Server(_) | Party::EveryServer, Party::Server(_) | Party::EveryServer) => None,
        }
    }
}
