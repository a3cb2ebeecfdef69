//! The host: what the machines of every service run on.
//!
//! A service brings machines of servers and clients ([`Machine`](picklock_machines::Machine)), what they say to each
//! other ([`ServiceTypes`]), and what they do to the world ([`ClientSide`], [`ServerSide`], [`SimulatedService`]). The
//! host owns once what all of them need: connections and what is under way on them, processes that die and stand still,
//! and when each machine is to be woken.

mod client_side;
mod clients;
mod connections;
mod delivery;
mod event;
mod facts;
mod machines;
mod messages;
mod peers;
mod server_process;
mod server_side;
mod servers;
mod service;
mod types;

use crate::network::ServerId;
pub(crate) use client_side::{Arrival, ClientSide};
pub(crate) use event::HostEvent;
pub(crate) use facts::SessionFact;
pub(crate) use machines::{HostedClient, HostedMachine, HostedServer, Recipient, Wake};
pub(crate) use peers::{BetweenServers, PeerEvent, PeerSide};
pub(crate) use server_process::ServerProcess;
pub(crate) use server_side::ServerSide;
pub(crate) use service::{Read, SimulatedService};
use types::{ClientOutput, ServerOutput};
pub(crate) use types::{ServiceMessage, ServiceTypes};

/// The servers and clients of a service.
pub(crate) struct Host<S: ServiceTypes> {
    pub servers: Vec<HostedServer<S>>,
    pub clients: Vec<HostedClient<S>>,
    /// Room for what a machine of a client, or of a server, wants done.
    client_outputs: Vec<ClientOutput<S>>,
    pub server_outputs: Vec<ServerOutput<S>>,
    /// The servers whose outputs are being applied, one within the other, and what they have wanted meanwhile.
    applying: Vec<ServerId>,
    deferred: Vec<(ServerId, ServerOutput<S>)>,
}

impl<S: ServiceTypes> Host<S> {
    /// These servers, and no client yet.
    pub fn of(servers: Vec<HostedServer<S>>, clients: usize) -> Self {
        Self {
            servers,
            clients: Vec::with_capacity(clients),
            client_outputs: Vec::new(),
            server_outputs: Vec::new(),
            applying: Vec::new(),
            deferred: Vec::new(),
        }
    }

    /// The next thing that a server has wanted while its outputs were being applied.
    #[inline]
    fn deferred_by(&mut self, server: ServerId) -> Option<ServerOutput<S>> {
        let next = self.deferred.iter().position(|(of, _)| *of == server)?;
        Some(self.deferred.remove(next).1)
    }
}
