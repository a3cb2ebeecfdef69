//! What the world asks ZooKeeper, and what ZooKeeper is made of.

use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, ListTooLong, LockId, NameId};
use picklock_clients::env::{Env, LocalFuture};
use picklock_clients::zookeeper::{Path, SessionState};
use picklock_zookeeper::client::{Client, Input as ClientInput};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage};
use picklock_zookeeper::quorum_messages::PeerMessage;
use picklock_zookeeper::state::Server;

use super::clients::ClientState;
use super::{LOCKS_PATH, ServerState, SimulatedZooKeeper, ZooKeeperEvent, handle, setup};
use crate::engine::Tape;
use crate::network::{ServerId, Side};
use crate::plan::{ContenderName, Fault, LockName, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::trace::MessageStep::Lost;
use crate::world::{
    HostedServer, Read, Recipient, ServiceMessage, ServiceTypes, Shared, SimulatedService, World,
};

impl ServiceMessage for ClientMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self, Self::Ping)
    }
}

impl ServiceMessage for ServerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }

    fn is_sign_of_life(&self) -> bool {
        matches!(self, Self::Pong)
    }
}

impl ServiceTypes for SimulatedZooKeeper {
    type Server = Server;
    type Client = Client;
    type ServerState = ServerState;
    type ClientState = ClientState;
    type Request = ClientMessage;
    type Reply = ServerMessage;
    type OwnEvent = ZooKeeperEvent;
    const EVENT_NUMBERS: [u64; 8] = [1, 2, 3, 4, 5, 6, 9, 10];
}

impl SimulatedService for SimulatedZooKeeper {
    const WAITERS_ASK_AGAIN: bool = false;

    fn new(plan: &Plan, _tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        setup::formed(plan)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let path = |lock: LockName| Path::from(format!("{LOCKS_PATH}/{}", lock.letter()));
        names.map(path).collect()
    }

    #[inline(always)]
    fn on_own_event(world: &mut World<Self>, event: ZooKeeperEvent) {
        match event {
            ZooKeeperEvent::IsroProbe { client, server } => world.on_isro_probe(client, server),
            ZooKeeperEvent::IsroReply { client, server } => {
                world.client_input(client, ClientInput::RwServerFound { server });
            }
            ZooKeeperEvent::Peer {
                from,
                to,
                life,
                departed,
                message,
            } => world.at_peer((from, life, departed), to, message),
            ZooKeeperEvent::PeerLost { server, peer } => world.peer_lost(server, peer),
        }
    }

    fn recipient(_: &World<Self>, event: &ZooKeeperEvent) -> Recipient {
        match event {
            ZooKeeperEvent::Peer { to: server, .. } | ZooKeeperEvent::PeerLost { server, .. } => {
                Recipient::Server(*server)
            }
            ZooKeeperEvent::IsroReply { client, .. } => Recipient::Client(*client),
            ZooKeeperEvent::IsroProbe { .. } => Recipient::World,
        }
    }

    fn trace_lost(world: &mut World<Self>, event: &ZooKeeperEvent) {
        if let ZooKeeperEvent::Peer {
            from, to, message, ..
        } = event
        {
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

    fn first_session(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
    ) -> Option<LocalFuture<'static, ()>> {
        handle::first_session(shared, by)
    }

    /// A closed session never comes back.
    fn is_closed(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let machine = &world.host.clients[client.0 as usize].machine;
            machine.state() == SessionState::Closed
        })
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, _place: u32) -> Read {
        handle::bystander(shared, thread)
    }

    #[inline]
    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let machine = &world.host.clients[client.0 as usize].machine;
            machine.requests_in_flight() == 0 && machine.state() == SessionState::Connected
        })
    }

    fn process_resumed(world: &mut World<Self>, process: ProcessId) {
        world.unblock_events(process);
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.server(name)
    }

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        world.inject_at_ensemble(fault)
    }

    fn heal(world: &mut World<Self>, number: usize, fault: &Fault) {
        match fault {
            Fault::BlockEvents { target, .. } => {
                world.unblock_events(world.process_named(*target));
            }
            Fault::LagServer { .. } | Fault::SlowDisk { .. } => world.slowness_ends(number),
            _ => {}
        }
    }

    fn belief_began(world: &mut World<Self>, by: ContenderId, lock: LockId) {
        world.note_new_belief(by, lock);
    }

    fn session_timeout(world: &World<Self>, by: ContenderId) -> Option<Duration> {
        let client = world.contenders[by.0 as usize].client?;
        Some(world.host.clients[client.0 as usize].machine.timeout())
    }

    fn leads(world: &World<Self>, contender: ContenderName) -> bool {
        let leader = world.server(ServerName::Leader);
        leader.is_some() && leader == world.server(ServerName::Of(contender))
    }

    fn waits_behind(world: &mut World<Self>, by: ContenderId) -> Option<(NameId, ContenderId)> {
        world.waits_behind(by)
    }

    fn list_too_long(world: &World<Self>) -> Option<ListTooLong> {
        world.unreadable_list()
    }

    fn can_serve(world: &World<Self>, side: &Side) -> Result<(), &'static str> {
        world.has_quorum(side)
    }
}
