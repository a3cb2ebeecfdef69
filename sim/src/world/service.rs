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

use super::{Shared, World};
use crate::engine::Tape;
use crate::event::{Event, ServiceEvent};
use crate::network::{ServerId, Side};
use crate::plan::{ContenderName, Fault, Plan, ServerName};
use crate::process::{ProcessId, Thread};

/// What a bystander does again and again: it reads something; answers whether there was an answer.
pub(crate) type Read = Box<dyn Fn() -> LocalFuture<'static, bool>>;

/// A service in the world: its servers, its clients, and what they say to each other.
pub(crate) trait SimulatedService: Sized + 'static {
    /// What happens at it.
    type Event: ServiceEvent;
    /// Whether whoever waits for the lock asks for it again and again, and hears nothing unasked.
    const WAITERS_ASK_AGAIN: bool;

    /// The service of a plan.
    fn new(plan: &Plan, tape: &mut Tape) -> Self;

    /// The path or the key of each lock.
    fn lock_names(plan: &Plan) -> Vec<Rc<str>>;

    /// Sets going what goes on by itself.
    fn start(_world: &mut World<Self>) {}

    /// Lets an event happen.
    fn on_event(world: &mut World<Self>, event: Self::Event);

    /// Answers the event if whom it comes to runs. For one that stands still it is kept; at a dead one it is lost.
    fn deliver(world: &mut World<Self>, event: Self::Event) -> Option<Event<Self::Event>>;

    /// What has come to a process that is dead is lost.
    fn drop_for_dead_process(_: &mut World<Self>, _process: ProcessId, _: &Self::Event) {}

    /// Whether every server runs.
    fn all_run(&self) -> bool;

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
    fn is_idle(world: &World<Self>, by: ContenderId) -> bool;

    /// Every connection of a contender breaks.
    fn cut_off(world: &mut World<Self>, target: ContenderName);

    /// A process has died: its clients die with it, and its kernel closes its connections.
    fn process_died(world: &mut World<Self>, process: ProcessId);

    /// A process that stood still goes on, and has read what had come meanwhile.
    fn process_resumed(_world: &mut World<Self>, _process: ProcessId) {}

    /// The clock of a process has changed its pace: its clients look at it when it shows their deadlines.
    fn clock_drifts(_world: &mut World<Self>, _process: ProcessId) {}

    /// The server that a name means at the moment; `None` if there is none.
    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId>;

    /// A server's process dies. Its kernel closes its connections.
    fn crash(world: &mut World<Self>, server: ServerId);

    /// A dead server comes back with what was safe on its disk.
    fn restart(world: &mut World<Self>, server: ServerId);

    /// A server stands still.
    fn hang(world: &mut World<Self>, server: ServerId);

    /// A server that stood still goes on.
    fn resume(world: &mut World<Self>, server: ServerId);

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

    /// Whom a contender waits for, and by which node or key.
    fn waits_behind(_world: &mut World<Self>, _by: ContenderId) -> Option<(NameId, ContenderId)> {
        None
    }

    /// Until when a fault that is over still strikes, because its server was kept from it before: never, for most.
    fn struck_until(_world: &World<Self>) -> Option<VirtualTime> {
        None
    }

    /// The list that is too long for anybody to read, if that is why nothing happens any more.
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
