//! Consul in the world: servers, clients with their agents, and what they say to each other.

mod clients;
mod commits;
mod handle;
mod servers;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, LockId, NameId};
use picklock_clients::consul::{
    ClientMessage, KvPair, Request, Response, ServerMessage, SessionId,
};
use picklock_clients::env::Env;
use picklock_clients::zookeeper::Path;
use picklock_consul::client::Client;
use picklock_consul::{PeerMessage, Server};

use crate::engine::Tape;
use crate::event::ServiceEvent;
use crate::network::{ServerId, Side};
use crate::plan::consul::Consul;
use crate::plan::{ContenderName, LockName, Plan, ServerName};
use crate::process::Thread;
use crate::trace::MessageStep::Lost;
use crate::world::{
    HostedServer, Read, Recipient, ServiceMessage, ServiceTypes, Shared, SimulatedService, World,
};

/// Consul as the world sees it.
pub(crate) struct SimulatedConsul {
    settings: Consul,
    /// The place in the log up to which is known what was committed.
    last_commit: u64,
    /// Whose sessions these are.
    sessions: BTreeMap<SessionId, ContenderId>,
    /// The keys, as they are committed.
    keys: BTreeMap<Rc<str>, KvPair>,
    /// What the keys have of each lock.
    holds: Vec<Vec<commits::Hold>>,
}

/// Something that happens between servers.
pub(crate) enum ConsulEvent {
    /// A message of another server arrives.
    Peer {
        from: ServerId,
        to: ServerId,
        message: Box<PeerMessage>,
    },
    /// A server learns that the process of another is gone.
    PeerLost { server: ServerId, peer: ServerId },
}

impl ServiceEvent for ConsulEvent {
    fn kind_and_subject(&self) -> (u64, u32) {
        match self {
            Self::Peer { from, to, .. } => (118, u32::from(from.0) << 8 | u32::from(to.0)),
            Self::PeerLost { server, peer } => (119, u32::from(server.0) << 8 | u32::from(peer.0)),
        }
    }
}

impl ServiceMessage for ClientMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self.request, Request::SessionRenew(_))
    }
}

impl ServiceMessage for ServerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self.result, Ok(Response::Renewed(_)))
    }
}

impl ServiceTypes for SimulatedConsul {
    type Server = Server;
    type Client = Client;
    type ServerState = ();
    type ClientState = clients::ClientState;
    type Request = ClientMessage;
    type Reply = ServerMessage;
    type OwnEvent = ConsulEvent;
    const EVENT_NUMBERS: [u64; 8] = [110, 111, 112, 113, 114, 115, 116, 117];
}

impl SimulatedService for SimulatedConsul {
    const WAITERS_ASK_AGAIN: bool = false;

    fn new(plan: &Plan, _tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        servers::formed(plan)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let name = |lock: LockName| Path::from(format!("locks/{}", lock.letter()));
        names.map(name).collect()
    }

    fn on_own_event(world: &mut World<Self>, event: ConsulEvent) {
        match event {
            ConsulEvent::Peer { from, to, message } => world.at_peer(from, to, *message),
            ConsulEvent::PeerLost { server, peer } => world.peer_lost(server, peer),
        }
    }

    fn recipient(world: &World<Self>, event: &ConsulEvent) -> Recipient {
        match event {
            ConsulEvent::Peer { to, .. }
                if !world.host.servers[usize::from(to.0)].process.is_up() =>
            {
                Recipient::World
            }
            ConsulEvent::Peer { to: server, .. } | ConsulEvent::PeerLost { server, .. } => {
                Recipient::Server(*server)
            }
        }
    }

    fn trace_lost(world: &mut World<Self>, event: &ConsulEvent) {
        if let ConsulEvent::Peer { from, to, message } = event {
            let message: &PeerMessage = message;
            world.trace_between((*from, *to), Lost, message, PeerMessage::is_sign_of_life);
        }
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, _index: u32) -> Read {
        handle::bystander(shared, thread)
    }

    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let machine = &world.host.clients[client.0 as usize].machine;
            machine.calls_under_way() == 0
        })
    }

    /// By its own clock, a contender may know that its session may have ended when its time to live has passed since
    /// the last renewal: that counts as the time without a connection.
    fn session_timeout(world: &World<Self>, _by: ContenderId) -> Option<Duration> {
        Some(world.service.settings.session_ttl)
    }

    fn belief_began(world: &mut World<Self>, by: ContenderId, _lock: LockId) {
        world.session_renewed(by);
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.server_named(name)
    }

    fn leads(world: &World<Self>, contender: ContenderName) -> bool {
        let leader = world.server_named(ServerName::Leader);
        leader.is_some() && leader == world.server_named(ServerName::Of(contender))
    }

    fn waits_behind(world: &mut World<Self>, by: ContenderId) -> Option<(NameId, ContenderId)> {
        world.ownerships[world.lock_of(by).0 as usize].head()
    }

    fn can_serve(world: &World<Self>, side: &Side) -> Result<(), &'static str> {
        match side.len() * 2 > usize::from(world.service.settings.servers) {
            true => Ok(()),
            false => Err("what is left has no quorum"),
        }
    }
}
