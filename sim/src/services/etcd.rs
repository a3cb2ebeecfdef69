//! etcd in the world: members, clients, and what they say to each other.

mod clients;
mod commits;
mod handle;
mod members;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, LockId, NameId};
use picklock_clients::env::Env;
use picklock_clients::etcd::{ClientBody, ClientMessage, LeaseId, ServerBody, ServerMessage};
use picklock_clients::zookeeper::Path;
use picklock_etcd::client::Client;
use picklock_etcd::{Input, Member, PeerMessage};

use crate::engine::Tape;
use crate::event::ServiceEvent;
use crate::network::{ServerId, Side};
use crate::plan::etcd::Etcd;
use crate::plan::{ContenderName, Fault, LockName, Plan, ServerName};
use crate::process::Thread;
use crate::trace::MessageStep::Lost;
use crate::world::{
    HostedServer, Read, Recipient, ServiceMessage, ServiceTypes, Shared, SimulatedService, World,
};

/// What the keys of locks begin with.
const LOCKS: &str = "locks";
/// What bystanders read.
const BYSTANDER_KEY: &str = "elsewhere";

/// A cluster as the world sees it.
pub(crate) struct SimulatedEtcd {
    settings: Etcd,
    /// The place in the log up to which is known what was committed.
    last_commit: usize,
    /// Whose leases these are.
    leases: BTreeMap<LeaseId, ContenderId>,
}

/// Something that happens between members.
pub(crate) enum EtcdEvent {
    /// A message of another member arrives.
    Peer {
        from: ServerId,
        to: ServerId,
        message: Box<PeerMessage>,
    },
    /// A member learns that the process of another is gone.
    PeerLost { server: ServerId, peer: ServerId },
}

impl ServiceEvent for EtcdEvent {
    fn kind_and_subject(&self) -> (u64, u32) {
        match self {
            Self::Peer { from, to, .. } => (68, u32::from(from.0) << 8 | u32::from(to.0)),
            Self::PeerLost { server, peer } => (69, u32::from(server.0) << 8 | u32::from(peer.0)),
        }
    }
}

impl ServiceMessage for ClientMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self.body, ClientBody::LeaseKeepAlive(_))
    }
}

impl ServiceMessage for ServerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self.body, ServerBody::LeaseKeepAlive(..))
    }
}

impl ServiceTypes for SimulatedEtcd {
    type Server = Member;
    type Client = Client;
    type ServerState = ();
    type ClientState = clients::ClientState;
    type Request = ClientMessage;
    type Reply = ServerMessage;
    type OwnEvent = EtcdEvent;
    const EVENT_NUMBERS: [u64; 8] = [60, 61, 62, 63, 64, 65, 66, 67];
}

impl SimulatedService for SimulatedEtcd {
    const WAITERS_ASK_AGAIN: bool = false;

    fn new(plan: &Plan, tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        members::formed(plan, tape)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let name = |lock: LockName| Path::from(format!("{LOCKS}/{}", lock.letter()));
        names.map(name).collect()
    }

    fn on_own_event(world: &mut World<Self>, event: EtcdEvent) {
        match event {
            EtcdEvent::Peer { from, to, message } => world.at_peer(from, to, *message),
            EtcdEvent::PeerLost { server, peer } => world.peer_lost(server, peer),
        }
    }

    fn recipient(world: &World<Self>, event: &EtcdEvent) -> Recipient {
        match event {
            EtcdEvent::Peer { to, .. }
                if !world.host.servers[usize::from(to.0)].process.is_up() =>
            {
                Recipient::World
            }
            EtcdEvent::Peer { to: server, .. } | EtcdEvent::PeerLost { server, .. } => {
                Recipient::Server(*server)
            }
        }
    }

    fn trace_lost(world: &mut World<Self>, event: &EtcdEvent) {
        if let EtcdEvent::Peer { from, to, message } = event {
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

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        match *fault {
            Fault::DeleteKey { of } => {
                world.delete_key_of(of);
                None
            }
            Fault::StallRaft { target, length } => {
                let member = world.member(target)?;
                world.strikes_server(member, length);
                world.server_input(member, Input::RaftStalls);
                length.duration()
            }
            _ => None,
        }
    }

    fn heal(world: &mut World<Self>, number: usize, fault: &Fault) {
        if let Fault::StallRaft { .. } = fault {
            for member in world.servers_healed_of(number) {
                world.server_input(member, Input::RaftGoesOn);
            }
        }
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.member(name)
    }

    fn leads(world: &World<Self>, contender: ContenderName) -> bool {
        let leader = world.member(ServerName::Leader);
        leader.is_some() && leader == world.member(ServerName::Of(contender))
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
