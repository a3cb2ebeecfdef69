//! Writes down what happens to messages, for traces.

use std::fmt::Display;

use picklock_checker::VirtualTime;

use super::{ServiceMessage, SimulatedService, World};
use crate::network::{ConnectionId, ServerId};
use crate::plan::Direction;
use crate::process::ProcessId;
use crate::trace::{CONNECTION_GONE, MessageDirection, MessageStep, Party, TracedMessage};

impl<S: SimulatedService> World<S> {
    /// Writes down what happens to a message of a client or to one, if a trace is wanted.
    #[inline(always)]
    pub(crate) fn trace_message(
        &mut self,
        connection: ConnectionId,
        (direction, step): (MessageDirection, MessageStep),
        message: &impl ServiceMessage,
    ) {
        if self.trace.is_some() {
            let step = (step, message.is_sign_of_life());
            self.write_trace(connection, direction, step, message.text().to_string());
        }
    }

    /// Writes down what happens to a connection, if a trace is wanted.
    #[inline(always)]
    pub(crate) fn trace(
        &mut self,
        connection: ConnectionId,
        (direction, step): (MessageDirection, MessageStep),
        what: &dyn Display,
    ) {
        if self.trace.is_some() {
            self.write_trace(connection, direction, (step, false), what.to_string());
        }
    }

    /// Writes down what happens to a message of one server to another, if the run is traced.
    #[inline(always)]
    pub(crate) fn trace_between<M: Display>(
        &mut self,
        (from, to): (ServerId, ServerId),
        step: MessageStep,
        message: &M,
        is_sign_of_life: impl FnOnce(&M) -> bool,
    ) {
        if self.trace.is_some() {
            let ends = (Party::Server(from), Party::Server(to));
            let step = (step, is_sign_of_life(message));
            self.push_trace(ends, None, step, message.to_string());
        }
    }

    /// Writes down that a client learns that its connection is gone, or that no process accepted it.
    pub(crate) fn trace_end_of_connection(&mut self, connection: ConnectionId, is_refused: bool) {
        match is_refused {
            true => self.trace(
                connection,
                (MessageDirection::ToClient, MessageStep::Refused),
                &"no process listens",
            ),
            false => self.trace(
                connection,
                (MessageDirection::ToClient, MessageStep::Closed),
                &CONNECTION_GONE,
            ),
        }
    }

    /// Writes down that what a client or a server sends gets out only at a time, because packets of it are lost; it
    /// would have left before.
    #[inline(always)]
    pub(crate) fn trace_lost_packet(
        &mut self,
        (connection, direction): (ConnectionId, MessageDirection),
        would_leave: VirtualTime,
        leaves: VirtualTime,
    ) {
        if self.trace.is_some() && leaves > would_leave {
            let step = (MessageStep::PacketLost, false);
            let text = format!("a packet; TCP gets it out at {leaves}");
            self.write_trace(connection, direction, step, text);
        }
    }

    /// Writes down that the link of a client is down up to a time.
    pub(crate) fn trace_link_down(
        &mut self,
        process: ProcessId,
        direction: Direction,
        until: VirtualTime,
    ) {
        if self.trace.is_some() {
            let client = Party::Client(process);
            let (ends, ways) = match direction {
                Direction::ToServer => ((client, Party::EveryServer), "this way"),
                Direction::ToClient => ((Party::EveryServer, client), "this way"),
                Direction::Both => ((client, Party::EveryServer), "either way"),
            };
            let text = format!("nothing gets through {ways} until {until}");
            self.push_trace(ends, None, (MessageStep::LinkDown, false), text);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_trace(
        &mut self,
        connection: ConnectionId,
        direction: MessageDirection,
        step: (MessageStep, bool),
        text: String,
    ) {
        let client = Party::Client(self.process_of(connection));
        let server = Party::Server(self.server_of(connection));
        let ends = match direction {
            MessageDirection::ToServer => (client, server),
            MessageDirection::ToClient | MessageDirection::BetweenServers => (server, client),
        };
        self.push_trace(ends, Some(connection), step, text);
    }

    #[cold]
    fn push_trace(
        &mut self,
        (from, to): (Party, Party),
        connection: Option<ConnectionId>,
        (step, is_sign_of_life): (MessageStep, bool),
        text: String,
    ) {
        let traced = TracedMessage {
            at: self.now,
            after: self.recorder.history.events.len(),
            from,
            to,
            connection,
            step,
            text,
            is_sign_of_life,
        };
        self.trace.get_or_insert_default().push(traced);
    }
}
