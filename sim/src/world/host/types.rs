//! What a service is made of.

use std::fmt::Display;

use picklock_machines::Machine;

use crate::event::ServiceEvent;

/// What happens to the machine of a server, and what it wants done.
pub(crate) type ServerInput<S> = <<S as ServiceTypes>::Server as Machine>::Input;
pub(crate) type ServerOutput<S> = <<S as ServiceTypes>::Server as Machine>::Output;
/// What happens to the machine of a client, and what it wants done.
pub(crate) type ClientInput<S> = <<S as ServiceTypes>::Client as Machine>::Input;
pub(crate) type ClientOutput<S> = <<S as ServiceTypes>::Client as Machine>::Output;

/// What clients and servers say to each other.
pub(crate) trait ServiceMessage {
    /// What it says, as a trace has it.
    fn text(&self) -> impl Display + '_;

    /// Whether it says no more than that its sender is there.
    fn is_sign_of_life(&self) -> bool {
        false
    }
}

/// The machines of a service, what they say to each other, and what only it has.
pub(crate) trait ServiceTypes: Sized + 'static {
    type Server: Machine;
    type Client: Machine;
    /// What it keeps of each server and each client beside their machines.
    type ServerState;
    type ClientState: Default;
    /// What clients say, and what servers say to them.
    type Request: ServiceMessage;
    type Reply: ServiceMessage;
    /// What happens at it and at no other service.
    type OwnEvent: ServiceEvent;
    /// The numbers of the events of [`HostEvent`](super::HostEvent), in their order, for the rolling hash; no other
    /// event has them.
    const EVENT_NUMBERS: [u64; 8];
}
