//! Writes down what happens to messages, for whoever wants a trace.

use std::fmt::Display;

use super::{SimulatedService, World};
use crate::network::ConnectionId;
use crate::trace::{MessageDirection, MessageStep, TracedMessage};

impl<S: SimulatedService> World<S> {
    /// Writes down what happens to a message, if somebody wants to know.
    #[inline(always)]
    pub(crate) fn trace(
        &mut self,
        connection: ConnectionId,
        (direction, step): (MessageDirection, MessageStep),
        message: &dyn Display,
    ) {
        if self.trace.is_some() {
            self.write_trace(connection, (direction, step), message);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_trace(
        &mut self,
        connection: ConnectionId,
        (direction, step): (MessageDirection, MessageStep),
        message: &dyn Display,
    ) {
        let (process, server) = (self.process_of(connection), self.server_of(connection));
        let traced = TracedMessage {
            at: self.now,
            process,
            server,
            connection,
            direction,
            step,
            text: message.to_string(),
        };
        self.trace.get_or_insert_default().push(traced);
    }
}
