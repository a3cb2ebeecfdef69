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
use crate::network::{ServerId, Side};
use crate::plan::etcd::Etcd;
use crate::plan::{ContenderName, Fault, LockName, Plan, ServerName};
use crate::process::Thread;
use crate::world::{
    HostedServer, PeerEvent, Read, Recipient, ServiceMessage, ServiceTypes, Shared,
    SimulatedService, World,
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
    /// The contenders of leases.
    leases: BTreeMap<LeaseId, ContenderId>,
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
    type OwnEvent = PeerEvent<PeerMessage>;
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

    fn on_own_event(world: &mut World<Self>, event: PeerEvent<PeerMessage>) {
        world.on_peer_event(event);
    }

    fn recipient(world: &World<Self>, event: &PeerEvent<PeerMessage>) -> Recipient {
        event.recipient(world)
    }

    fn trace_lost(world: &mut World<Self>, event: &PeerEvent<PeerMessage>) {
        world.trace_lost_peer_event(event);
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

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        match *fault {
            Fault::DeleteKey { of } => {
                world.delete_key_of(of);
                None
            }
            Fault::StallRaft { target, length } => {
                let member = world.peer_named(target)?;
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
        world.peer_named(name)
    }

    fn leads(world: &World<Self>, contender: ContenderName) -> bool {
        world.asks_leader(contender)
    }

    fn waits_behind(world: &mut World<Self>, by: ContenderId) -> Option<(NameId, ContenderId)> {
        world.ownerships[world.lock_of(by).0 as usize].head()
    }

    fn can_serve(world: &World<Self>, side: &Side) -> Result<(), &'static str> {
        world.have_quorum(side)
    }
}
