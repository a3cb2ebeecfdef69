//! The door: what a service brings into the world, and all that the world knows of it.
//!
//! The world is made for one service, [`World<S>`](World), and calls it by nothing but [`SimulatedService`]. What a
//! service does, it does to the world that it is in: between two of its steps a fault may strike it.

use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, ListTooLong, LockId, NameId, VirtualTime};
use picklock_clients::env::Env;
use picklock_clients::env::LocalFuture;

use super::event::HostEvent;
use super::machines::{HostedClient, HostedServer, Recipient};
use super::server_process::ServerProcess;
use super::types::{ClientInput, ClientOutput, ServerInput, ServerOutput, ServiceTypes};
use crate::engine::Tape;
use crate::event::ClientId;
use crate::network::{ConnectionId, ServerId, Side};
use crate::plan::{ContenderName, Fault, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::world::moment::Moment;
use crate::world::{MessageFate, Shared, World};

/// What a bystander does again and again: it reads something; answers whether there was an answer.
pub(crate) type Read = Box<dyn Fn() -> LocalFuture<'static, bool>>;

/// A service in the world: what its machines do to the world that they are in.
pub(crate) trait SimulatedService: ServiceTypes {
    /// Whether contenders that wait for the lock ask for it again and again, and are sent nothing unasked.
    const WAITERS_ASK_AGAIN: bool;

    /// The service of a plan, and its servers.
    fn new(plan: &Plan, tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>);

    /// The path or the key of each lock.
    fn lock_names(plan: &Plan) -> Vec<Rc<str>>;

    /// Sets going what goes on by itself besides servers.
    fn start(_world: &mut World<Self>) {}

    /// The machine of a new client.
    fn new_client(world: &mut World<Self>) -> Self::Client;

    /// A client was added.
    fn client_added(_world: &mut World<Self>, _client: ClientId) {}

    /// The clients of a process that has died die with it: what the service has of this one goes.
    fn client_died(_world: &mut World<Self>, _client: ClientId) {}

    /// Whether nothing will ever come of a client any more.
    fn is_over(_client: &Self::Client) -> bool {
        false
    }

    /// How many requests of a client have no answer yet.
    fn requests_in_flight(client: &Self::Client) -> usize;

    /// The connections that a client has, or is making.
    fn connections(slot: &HostedClient<Self>) -> impl Iterator<Item = ConnectionId>;

    /// Whether a connection is one of these.
    fn uses(slot: &HostedClient<Self>, connection: ConnectionId) -> bool {
        Self::connections(slot).any(|other| other == connection)
    }

    /// Whether a client wants to know that this connection is gone.
    fn reads_reset(_slot: &HostedClient<Self>, _connection: ConnectionId) -> bool {
        true
    }

    /// What a client is told when a connection is open or gone, or a message has come.
    fn opened(connection: ConnectionId) -> ClientInput<Self>;
    fn broken(connection: ConnectionId, was_opened: bool) -> ClientInput<Self>;
    fn received(connection: ConnectionId, message: Self::Reply) -> ClientInput<Self>;

    /// Does what a client wants done.
    fn on_client_output(world: &mut World<Self>, client: ClientId, output: ClientOutput<Self>);

    /// Lets a server handle an input, and does what has to be done before its outputs.
    fn handle(world: &mut World<Self>, server: ServerId, input: ServerInput<Self>);

    /// Does what a server wants done.
    fn on_server_output(world: &mut World<Self>, server: ServerId, output: ServerOutput<Self>);

    /// The process of a server, or of another machine that has the number of one.
    fn process(world: &mut World<Self>, server: ServerId) -> &mut ServerProcess<HostEvent<Self>> {
        &mut world.host.servers[usize::from(server.0)].process
    }

    /// Whether a request for a connection is kept waiting, until somebody looks at it again.
    fn keeps_waiting(_world: &mut World<Self>, _connection: ConnectionId) -> bool {
        false
    }

    /// Whether a server takes connections.
    fn accepts(world: &mut World<Self>, server: ServerId) -> bool {
        Self::process(world, server).is_up()
    }

    /// A server has taken a connection, or refuses it; a client has closed it.
    fn accepted(_world: &mut World<Self>, _server: ServerId, _connection: ConnectionId) {}
    fn refuses(_world: &mut World<Self>, _server: ServerId, _connection: ConnectionId) {}
    fn client_gone(_world: &mut World<Self>, _server: ServerId, _connection: ConnectionId) {}

    /// A request has come to a server that runs.
    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: Self::Request,
    );

    /// What becomes of a message that a server sends by a connection, perhaps because of its own client:
    /// [`MessageFate::Swallowed`] leaves the connection alone.
    fn fate_of_reply(
        world: &mut World<Self>,
        server: ServerId,
        by: (ConnectionId, bool),
        message: &Self::Reply,
    ) -> Option<MessageFate>;

    /// When a message of a server sets out: it is busy until then.
    fn reply_departs(
        world: &mut World<Self>,
        _server: ServerId,
        _connection: ConnectionId,
        _message: &Self::Reply,
    ) -> VirtualTime {
        world.now
    }

    /// A server has something to say by a connection that is gone.
    fn cannot_reply(_: &mut World<Self>, _connection: ConnectionId, _message: &Self::Reply) {}

    /// A message has come to a client by a connection, and is read, or not. Answers the moment of an answer that
    /// faults may wait for.
    fn reply_arrives(
        world: &mut World<Self>,
        client: ClientId,
        by: (ConnectionId, bool),
        message: &Self::Reply,
    ) -> Option<Moment>;

    /// A message has come to a process that is dead.
    fn reply_died(_: &mut World<Self>, _: ProcessId, _: ConnectionId, _message: &Self::Reply) {}

    /// Whether the kernel of a client gives up what it sends now and would arrive at a time, and that of a server what
    /// sets out and would arrive at these times.
    fn gives_up_request(_: &mut World<Self>, _: ConnectionId, _at: VirtualTime) -> bool {
        false
    }
    fn gives_up_reply(
        _: &mut World<Self>,
        _: ConnectionId,
        _departs_and_at: (VirtualTime, VirtualTime),
    ) -> bool {
        false
    }

    /// Something of a client has come to a machine that is down.
    fn undelivered(_world: &mut World<Self>, _server: ServerId, _connection: ConnectionId) {}

    /// Answers an event that comes to a client if the client reads it now.
    fn reads(
        _world: &mut World<Self>,
        _client: ClientId,
        event: HostEvent<Self>,
    ) -> Option<HostEvent<Self>> {
        Some(event)
    }

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
    fn is_idle(world: &World<Self>, by: ContenderId) -> bool;

    /// A process that stood still goes on, and has read what had come meanwhile.
    fn process_resumed(_world: &mut World<Self>, _process: ProcessId) {}

    /// The server that a name means at the moment; `None` if there is none.
    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId>;

    /// The process of a server has died. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId);

    /// A dead server has come back, with what was safe on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId);

    /// A server that stood still goes on, and reads what has queued up.
    fn resumed(world: &mut World<Self>, server: ServerId, backlog: Vec<HostEvent<Self>>);

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

    /// Whether machines that hear each other can serve, whatever else heals; if not, what they lack.
    fn can_serve(_world: &World<Self>, _side: &Side) -> Result<(), &'static str> {
        Ok(())
    }

    /// Whether a client that reaches these machines, and no others, finds who can serve it.
    fn serves_client_reaching(_world: &World<Self>, reached: &Side) -> bool {
        !reached.is_empty()
    }
}
