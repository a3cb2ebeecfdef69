//! A trace of a run: every message between a client and a server.

use std::fmt::Display;

use picklock_checker::VirtualTime;

use crate::network::{ConnectionId, ServerId};
use crate::process::ProcessId;
use crate::world::{SimulatedService, World};

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
pub enum MessageWay {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
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
    pub way: MessageWay,
    /// What happens to it.
    pub step: MessageStep,
    /// What it says.
    pub text: String,
}

impl<S: SimulatedService> World<S> {
    /// Writes down what happens to a message, if somebody wants to know.
    #[inline(always)]
    pub(crate) fn trace(
        &mut self,
        connection: ConnectionId,
        (way, step): (MessageWay, MessageStep),
        message: &dyn Display,
    ) {
        if self.trace.is_some() {
            self.write_trace(connection, (way, step), message);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_trace(
        &mut self,
        connection: ConnectionId,
        (way, step): (MessageWay, MessageStep),
        message: &dyn Display,
    ) {
        let (process, server) = (self.process_of(connection), self.server_of(connection));
        let traced = TracedMessage {
            at: self.now,
            process,
            server,
            connection,
            way,
            step,
            text: message.to_string(),
        };
        self.trace.get_or_insert_default().push(traced);
    }
}
