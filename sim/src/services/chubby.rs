//! A Chubby cell in the world: replicas, clients, and what they say to each other.

mod clients;
mod handle;
mod replicas;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, LockId, NameId, Token};
use picklock_chubby::client::Client;
use picklock_chubby::{PeerMessage, Replica};
use picklock_clients::chubby::{
    ClientBody, ClientMessage, HandleId, ServerBody, ServerMessage, SessionId,
};
use picklock_clients::env::Env;
use picklock_clients::zookeeper::Path;

use crate::engine::Tape;
use crate::network::{ServerId, Side};
use crate::plan::chubby::Chubby;
use crate::plan::{ContenderName, LockName, Plan, ServerName};
use crate::process::Thread;
use crate::world::{
    HostedServer, PeerEvent, Read, Recipient, ServiceMessage, ServiceTypes, Shared,
    SimulatedService, World,
};

/// What the files of locks begin with.
const CELL: &str = "/ls/local/";
/// What bystanders read.
const BYSTANDER_FILE: &str = "/ls/local/elsewhere";

/// A cell as the world sees it.
pub(crate) struct SimulatedChubby {
    settings: Chubby,
    /// The contenders of sessions.
    sessions: BTreeMap<SessionId, ContenderId>,
    /// The locks that handles hold, and by which grant.
    holds: BTreeMap<(SessionId, HandleId), (LockId, Token)>,
}

impl ServiceMessage for ClientMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self.body, ClientBody::KeepAlive(_))
    }
}

impl ServiceMessage for ServerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self.body, ServerBody::KeptAlive { .. })
    }
}

impl ServiceTypes for SimulatedChubby {
    type Server = Replica;
    type Client = Client;
    type ServerState = ();
    type ClientState = clients::ClientState;
    type Request = ClientMessage;
    type Reply = ServerMessage;
    type OwnEvent = PeerEvent<PeerMessage>;
    const EVENT_NUMBERS: [u64; 8] = [80, 81, 82, 83, 84, 85, 86, 87];
}

impl SimulatedService for SimulatedChubby {
    /// The master tells who waits; a recipe that polls asks again.
    const WAITERS_ASK_AGAIN: bool = false;

    fn new(plan: &Plan, _tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        replicas::formed(plan)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let name = |lock: LockName| Path::from(format!("{CELL}lock-{}", lock.letter()));
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

    fn belief_began(world: &mut World<Self>, by: ContenderId, _lock: LockId) {
        world.note_session_state(by);
    }

    /// Its client says when the lease has ended by its own clock.
    fn session_timeout(_world: &World<Self>, _by: ContenderId) -> Option<Duration> {
        Some(Duration::ZERO)
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
