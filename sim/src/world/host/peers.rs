//! Servers that agree with each other by messages: which of them leads, and what becomes of a message to a dead one.

use picklock_checker::service_event::ServiceEventKind;
use picklock_checker::{ContenderId, ServerChange};

use super::types::{ServerInput, ServiceMessage, ServiceTypes};
use super::{HostedServer, Recipient, SimulatedService};
use crate::event::ServiceEvent;
use crate::network::{ConnectionId, ServerId, Side};
use crate::plan::{ContenderName, ServerName};
use crate::trace::MessageStep::{self, Lost, Received, Sent};
use crate::world::World;

/// What servers say to each other.
pub(crate) trait BetweenServers: ServiceMessage + Sized + 'static {
    /// The numbers of the events of [`PeerEvent`], in their order, for the rolling hash; no other event has them.
    const EVENT_NUMBERS: [u64; 2];

    /// Whether its sender learns that there is no process to answer it: the kernel of the machine refuses a call.
    fn is_call(&self) -> bool {
        false
    }
}

/// Something that happens between servers.
pub(crate) enum PeerEvent<M> {
    /// A message of another server arrives.
    Message {
        from: ServerId,
        to: ServerId,
        message: Box<M>,
    },
    /// A server learns that the process of another is gone.
    Lost { server: ServerId, peer: ServerId },
}

impl<M: BetweenServers> ServiceEvent for PeerEvent<M> {
    fn kind_and_subject(&self) -> (u64, u32) {
        let [message, lost] = M::EVENT_NUMBERS;
        let (kind, one, other) = match self {
            Self::Message { from, to, .. } => (message, from, to),
            Self::Lost { server, peer } => (lost, server, peer),
        };
        (kind, u32::from(one.0) << 8 | u32::from(other.0))
    }
}

impl<M> PeerEvent<M> {
    /// The machine that it comes to. What becomes of a message to a dead process, the world knows.
    pub(crate) fn recipient<S: SimulatedService>(&self, world: &World<S>) -> Recipient {
        let is_up = |server: ServerId| world.host.servers[usize::from(server.0)].process.is_up();
        match self {
            Self::Message { to, .. } if !is_up(*to) => Recipient::World,
            Self::Message { to: server, .. } | Self::Lost { server, .. } => {
                Recipient::Server(*server)
            }
        }
    }
}

/// A service whose servers agree with each other.
pub(crate) trait PeerSide<M>: SimulatedService<OwnEvent = PeerEvent<M>> {
    /// The input of a server for a message of another.
    fn peer_input(from: ServerId, message: M) -> ServerInput<Self>;

    /// The input of a server when the process of another is gone, if it looks at that.
    fn peer_lost_input(_peer: ServerId) -> Option<ServerInput<Self>> {
        None
    }

    /// The term in which a server leads, as far as it knows.
    fn term_of_leader(server: &Self::Server) -> Option<u64>;

    /// The connection by which a contender's client has asked last.
    fn connection_of(world: &World<Self>, by: ContenderId) -> Option<ConnectionId>;
}

impl<M: BetweenServers, S> World<S>
where
    S: PeerSide<M> + ServiceTypes<OwnEvent = PeerEvent<M>>,
{
    /// A message sets out for another server.
    pub(crate) fn send_to_peer(&mut self, from: ServerId, to: ServerId, message: M) {
        self.trace_peer((from, to), Sent, &message);
        let at = self.arrival_at_peer(from, to);
        let message = Box::new(message);
        self.schedule(at, PeerEvent::Message { from, to, message });
    }

    /// Lets an event between servers happen.
    pub(crate) fn on_peer_event(&mut self, event: PeerEvent<M>) {
        match event {
            PeerEvent::Message { from, to, message } => {
                if self.host.servers[usize::from(to.0)].process.is_up() {
                    self.trace_peer((from, to), Received, &message);
                    self.server_input(to, S::peer_input(from, *message));
                    return;
                }
                self.trace_peer((from, to), Lost, &message);
                if message.is_call() {
                    self.tell_peer_lost(from, to);
                }
            }
            PeerEvent::Lost { server, peer } => {
                if let Some(lost) = S::peer_lost_input(peer) {
                    self.server_input(server, lost);
                }
            }
        }
    }

    /// Writes down that an event between servers has come to a dead machine.
    pub(crate) fn trace_lost_peer_event(&mut self, event: &PeerEvent<M>) {
        if let PeerEvent::Message { from, to, message } = event {
            self.trace_peer((*from, *to), Lost, message);
        }
    }

    fn trace_peer(&mut self, ends: (ServerId, ServerId), step: MessageStep, message: &M) {
        self.trace_between(ends, step, &message.text(), |_| message.is_sign_of_life());
    }

    /// All other servers learn that the process of one is gone.
    pub(crate) fn tell_peers_lost(&mut self, server: ServerId) {
        for peer in (0..self.host.servers.len()).map(|index| ServerId(index as u8)) {
            if peer != server {
                self.tell_peer_lost(peer, server);
            }
        }
    }

    fn tell_peer_lost(&mut self, server: ServerId, peer: ServerId) {
        let at = self.arrival_at_peer(peer, server);
        self.schedule(at, PeerEvent::Lost { server, peer });
    }

    /// A server leads from now on. The last one has led from the start.
    pub(crate) fn leader_elected(&mut self, server: ServerId, term: u64) {
        let epoch = u32::try_from(term).unwrap_or(u32::MAX);
        let first = self.host.servers.len() as u8 - 1;
        self.record_leader(server, epoch, first);
        self.record_server_change(server, ServerChange::Elected);
        self.elected();
    }

    /// A server leads no longer.
    pub(crate) fn leader_stepped_down(&mut self, server: ServerId) {
        if self.records_service_events() {
            self.record_service_event(server, ServiceEventKind::Looking);
        }
    }

    /// The server that a name means at the moment; `None` if there is none.
    pub(crate) fn peer_named(&self, name: ServerName) -> Option<ServerId> {
        let term = |slot: &HostedServer<S>| match slot.process.is_up() {
            true => S::term_of_leader(&slot.machine),
            false => None,
        };
        let servers = self.host.servers.iter().enumerate();
        let leaders = servers.filter_map(|(index, slot)| Some((term(slot)?, index)));
        let leader = leaders.max_by_key(|(term, _)| *term);
        let leader = leader.map(|(_, index)| index);
        let index = match name {
            ServerName::Leader => leader,
            ServerName::Number(number) => Some(number as usize),
            ServerName::Primary | ServerName::Sentinel(_) | ServerName::Observer(_) => None,
            ServerName::Follower(nth) => (0..self.host.servers.len())
                .filter(|index| Some(*index) != leader)
                .nth(nth as usize),
            ServerName::Of(contender) => {
                let connection = S::connection_of(self, ContenderId(contender.0))?;
                Some(usize::from(self.server_of(connection).0))
            }
        };
        let index = index.filter(|index| *index < self.host.servers.len())?;
        Some(ServerId(index as u8))
    }

    /// Whether a contender's client has asked the leader last.
    pub(crate) fn asks_leader(&self, contender: ContenderName) -> bool {
        let leader = self.peer_named(ServerName::Leader);
        leader.is_some() && leader == self.peer_named(ServerName::Of(contender))
    }

    /// Whether these servers are a quorum.
    pub(crate) fn have_quorum(&self, side: &Side) -> Result<(), &'static str> {
        match side.len() * 2 > self.host.servers.len() {
            true => Ok(()),
            false => Err("what is left has no quorum"),
        }
    }
}
