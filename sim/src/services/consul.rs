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
use crate::network::{ServerId, Side};
use crate::plan::consul::Consul;
use crate::plan::{ContenderName, LockName, Plan, ServerName};
use crate::process::Thread;
use crate::world::{
    HostedServer, PeerEvent, Read, Recipient, ServiceMessage, ServiceTypes, Shared,
    SimulatedService, World,
};

/// Consul as the world sees it.
pub(crate) struct SimulatedConsul {
    settings: Consul,
    /// The place in the log up to which is known what was committed.
    last_commit: u64,
    /// The contenders of sessions.
    sessions: BTreeMap<SessionId, ContenderId>,
    /// The keys, as they are committed.
    keys: BTreeMap<Rc<str>, KvPair>,
    /// What the keys have of each lock.
    holds: Vec<Vec<commits::Hold>>,
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
    type OwnEvent = PeerEvent<PeerMessage>;
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

    /// By its own clock, a contender may know that its session may have ended when its time to live has passed since
    /// the last renewal: that counts as the time without a connection.
    fn session_timeout(world: &World<Self>, _by: ContenderId) -> Option<Duration> {
        Some(world.service.settings.session_ttl)
    }

    fn belief_began(world: &mut World<Self>, by: ContenderId, _lock: LockId) {
        world.session_renewed(by);
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
