//! The door: what a service brings into the world, and all that the world knows of it.
//!
//! The world is made for one service, [`World<S>`](World), and calls it by nothing but [`SimulatedService`]. What a
//! service does, it does to the world that it is in: between two of its steps a fault may strike it.

use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, ListTooLong, LockId, NameId, PermitsLeft, VirtualTime};
use picklock_clients::env::Env;
use picklock_clients::env::LocalFuture;
use picklock_machines::Machine;

use super::client_side::ClientSide;
use super::event::HostEvent;
use super::machines::{HostedServer, Recipient};
use super::server_side::ServerSide;
use crate::engine::Tape;
use crate::event::Event;
use crate::network::{ServerId, Side};
use crate::plan::{ContenderName, Fault, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::world::{Shared, World};

/// What a bystander does again and again: it reads something; answers whether there was an answer.
pub(crate) type Read = Box<dyn Fn() -> LocalFuture<'static, bool>>;

/// A service in the world, and what the world asks it.
pub(crate) trait SimulatedService: ClientSide + ServerSide {
    /// Whether contenders that wait for the lock ask for it again and again, and are sent nothing unasked.
    const WAITERS_ASK_AGAIN: bool;

    /// The service of a plan, and its servers.
    fn new(plan: &Plan, tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>);

    /// The path or the key of each lock.
    fn lock_names(plan: &Plan) -> Vec<Rc<str>>;

    /// Sets going what goes on by itself besides servers.
    fn start(_world: &mut World<Self>) {}

    /// Lets an event of its own happen.
    fn on_own_event(world: &mut World<Self>, event: Self::OwnEvent);

    /// The machine that an event of its own comes to.
    fn recipient(world: &World<Self>, event: &Self::OwnEvent) -> Recipient;

    /// Writes down that an event of its own has come to a dead machine.
    fn trace_lost(_world: &mut World<Self>, _event: &Self::OwnEvent) {}

    /// Whether everything that is no server runs, too.
    fn others_run(_world: &World<Self>) -> bool {
        true
    }

    /// These locks of a contender, all of which stand on one new client.
    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>>;

    /// Resolves when a contender's client has a session, or will never have one. `None` if it has had one, or needs
    /// none.
    fn first_session(
        _shared: &Rc<Shared<Self>>,
        _by: ContenderId,
    ) -> Option<LocalFuture<'static, ()>> {
        None
    }

    /// Whether nothing will ever come of a contender's client, so that another has to take its place.
    fn is_closed(_world: &World<Self>, _by: ContenderId) -> bool {
        false
    }

    /// What the bystander at this place reads, by a client of its own.
    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, index: u32) -> Read;

    /// Whether everything that a contender has asked is answered, and its client connected.
    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let machine = &world.host.clients[client.0 as usize].machine;
            Self::requests_in_flight(machine) == 0
        })
    }

    /// A server that stood still goes on: it looks at the clock, and reads what has queued up.
    fn resumed(world: &mut World<Self>, server: ServerId, backlog: Vec<HostEvent<Self>>) {
        if world.host.servers[usize::from(server.0)].process.is_up() {
            world.server_input(server, <Self::Server as Machine>::WAKE);
            for event in backlog {
                world.dispatch_from_backlog(Event::Service(event));
            }
        }
    }

    /// A process that stood still goes on, and has read what had come meanwhile.
    fn process_resumed(_world: &mut World<Self>, _process: ProcessId) {}

    /// The server that a name means at the moment; `None` if there is none.
    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId>;

    /// Breaks something that only this service has; answers how long it lasts, if it has to be healed.
    fn inject(_world: &mut World<Self>, _fault: &Fault) -> Option<Duration> {
        None
    }

    /// Heals the fault of this number, which only this service has.
    fn heal(_world: &mut World<Self>, _number: usize, _fault: &Fault) {}

    /// A contender has come to believe that it holds a lock.
    fn belief_began(_world: &mut World<Self>, _by: ContenderId, _lock: LockId) {}

    /// How many of the requests of a contender's clients have had no answer so far; `None` if its session says when its
    /// hold is over.
    fn unanswered(_world: &World<Self>, _by: ContenderId) -> Option<u64> {
        None
    }

    /// How long the session of a contender's client lives without a connection, if it has one.
    fn session_timeout(_world: &World<Self>, _by: ContenderId) -> Option<Duration> {
        None
    }

    /// Whether the server that a contender is connected to leads the others.
    fn leads(_world: &World<Self>, _contender: ContenderName) -> bool {
        false
    }

    /// The contender that a contender waits for, and by which node or key.
    fn waits_behind(_world: &mut World<Self>, _by: ContenderId) -> Option<(NameId, ContenderId)> {
        None
    }

    /// Until when a fault that is over still strikes, because its server was kept from it before: never, for most.
    fn struck_until(_world: &World<Self>) -> Option<VirtualTime> {
        None
    }

    /// The list that is too long for any client to read, if that is why nothing happens any more.
    fn list_too_long(_world: &World<Self>) -> Option<ListTooLong> {
        None
    }

    /// What it counts of the permits of each lock, where it does.
    fn permits_left(_world: &World<Self>) -> Vec<Option<PermitsLeft>> {
        Vec::new()
    }

    /// Whether machines that hear each other can serve, whatever else heals; if not, what they lack.
    fn can_serve(_world: &World<Self>, _side: &Side) -> Result<(), &'static str> {
        Ok(())
    }

    /// Whether a client that reaches these machines, and no others, finds who can serve it.
    fn serves_client_reaching(_world: &World<Self>, reached: &Side) -> bool {
        !reached.is_empty()
    }
}
