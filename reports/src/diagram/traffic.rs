//! What is known of a run besides its history: its machines, its messages, and how long its faults last.

use std::time::Duration;

use picklock_checker::VirtualTime;

/// So many letters of a message are shown.
pub(super) const TEXT: usize = 160;

/// What is known of a run besides its history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The names of the machines of the service, in order: `server-1`, `sentinel-1`.
    pub machines: Vec<String>,
    /// Everything that happened to messages, in order.
    pub messages: Vec<MessageEvent>,
    /// How long each fault lasts from when it strikes, [`Duration::MAX`] if for good; none if it is over at once.
    pub fault_lengths: Vec<Option<Duration>>,
}

/// Something that happens to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageEvent {
    /// The time.
    pub at: VirtualTime,
    /// So many events of the history came before it.
    pub after: usize,
    /// Its sender: `contender-1`, `server-2`.
    pub from: String,
    /// Its receiver.
    pub to: String,
    /// By which connection, if it is one of a client.
    pub connection: Option<u32>,
    /// What happens to it.
    pub state: MessageState,
    /// It goes from a machine of the service to another.
    pub between_servers: bool,
    /// What it says.
    pub text: String,
}

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// It leaves.
    Sent,
    /// It is there.
    Received,
    /// It is lost on its way.
    Lost,
    /// It is no message, but something that an end of the connection learns: this.
    Notice(&'static str),
}
