//! What is compared: a server that can be connected to and asked. One is real, the other is the model.

use picklock_clients::redis::{Command, Value};

use crate::harness::error::Result;

/// How many connections there are.
pub(super) const CLIENTS: usize = 4;

/// What comes over a connection.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Incoming {
    /// An answer or a message.
    Value(Value),
    /// It is closed.
    Closed,
}

/// One of the two servers that are compared.
pub(super) trait ServerBackend {
    /// The wall clock shows this now. A real server sees it by itself.
    fn pass_to(&mut self, _wall_micros: i64) {}
    /// Makes a connection, or replaces it.
    fn connect(&mut self, client: usize) -> Result<()>;
    /// Sends a command.
    fn send(&mut self, client: usize, command: &Command) -> Result<()>;
    /// What comes next; it is waited for.
    fn receive(&mut self, client: usize) -> Result<Incoming>;
    /// What replicas were told, up to a message on this channel with this text.
    fn streamed(&mut self, channel: &str, text: &str) -> Result<Vec<Command>>;
}
