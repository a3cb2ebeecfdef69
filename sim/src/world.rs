//! The world: everybody and everything in one simulation, and what happens next.

mod beliefs;
mod client_requests;
mod clients;
mod contenders;
mod delivery;
mod event_threads;
mod faults;
mod for_good;
mod isro_probe;
mod list_too_long;
mod message_size;
mod ownership_events;
mod partitions;
mod phases;
mod redis;
mod replication_triggers;
mod resolve;
mod resource;
mod server_faults;
mod servers;
mod setup;
mod sleeps;
mod timeline_lanes;
mod triggers;
mod watch_delivery;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::clients::RequestKind;
use picklock_algorithms::clients::completion::Completion;
use picklock_algorithms::clients::zookeeper::{Path, SessionId};
use picklock_algorithms::env::LocalFuture;
use picklock_checker::{ContenderId, Ended, EventKind, LockId, VirtualTime};

use crate::engine::{Tape, Timeline, timeline};
use crate::event::{ClientId, Event};
use crate::latency_samples::Samples;
use crate::network::{ClientLink, Connections, Latency, Links};
use crate::ownership::Ownership;
pub(crate) use crate::plan::LOCK_KEY;
use crate::plan::{Ensemble, Plan};
use crate::process::{Process, ProcessId};
use crate::recorder::Recorder;
use crate::resource::Storage;
use crate::zookeeper::client::{Client, Input, Output as ClientOutput};
use crate::zookeeper::messages::{ConnectionId, ServerId, Xid};
use crate::zookeeper::state::{Output as ServerOutput, Server};
use replication_triggers::Spreading;
pub(crate) use triggers::Seen;
pub use triggers::SeenMoment;

/// The one lock that everybody wants.
pub(crate) const LOCK: LockId = LockId(0);
/// Its node in ZooKeeper.
pub(crate) const LOCK_PATH: &str = "/locks/a";
/// What bystanders read in ZooKeeper.
pub(crate) const BYSTANDER_PATH: &str = "/elsewhere";
/// What they read in Redis: in a cluster, it is in the slot of the lock's key.
pub(crate) const BYSTANDER_KEY: &str = "elsewhere:{lock:a}";

/// A task that is to be begun.
pub(crate) enum Task {
    /// What a recipe does in the background.
    OfRecipe(LocalFuture<'static, ()>),
    /// The contender of the process begins again, with nothing in memory.
    ContenderAgain,
    /// What an operator does.
    Operation(Operation),
}

/// What an operator does with a shell.
pub(crate) enum Operation {
    /// Deletes a node.
    DeleteNode(Path),
    /// Deletes the lock's own node with all below it, and makes it anew.
    RecreateLock,
}

/// Everybody and everything in one simulation.
pub(crate) struct World {
    pub now: VirtualTime,
    pub tape: Tape,
    pub timeline: Timeline<Event>,
    pub recorder: Recorder,
    pub samples: Samples,
    pub plan: Rc<Plan>,
    /// The lock's own node or key; all share the path.
    pub lock_path: Path,
    pub ensemble: Ensemble,
    pace: servers::Pace,
    pub processes: Vec<Process<Event>>,
    pub contenders: Vec<Contender>,
    pub clients: Vec<ClientSlot>,
    pub connections: Connections,
    pub servers: Vec<ServerSlot>,
    /// Redis, if that is the service; then there is no ensemble.
    pub redis: redis::Redis,
    pub ownership: Ownership,
    pub storage: Storage,
    beliefs: beliefs::Beliefs,
    sleeps: sleeps::Sleeps,
    /// At this moment, tasks run in the order in which they were woken.
    in_turn: VirtualTime,
    /// Tasks to be added before the next step.
    pub spawned: Vec<(ProcessId, Task)>,
    /// Processes whose tasks are to be dropped before the next step.
    pub killed: Vec<ProcessId>,
    /// Tasks that may run again.
    pub awakened: Vec<crate::engine::TaskId>,
    /// Nobody is paused, hung, or dead: every event comes to somebody who runs.
    pub all_run: bool,
    /// No process has a clock of its own, and nothing is in the way between clients and servers.
    clocks_agree: bool,
    links_clear: bool,
    partitions: Vec<partitions::Partition>,
    /// The moments of the run so far, if somebody asked for them.
    pub seen: Option<Seen>,
    /// Set when the run is over.
    pub ended: Option<Ended>,
    /// Whether clients still ask in vain for a list that is too long.
    list_retries: list_too_long::ListRetries,
    pub progress_bound: Duration,
    pub lease: Duration,
    /// When new leaders gave every session its full time again.
    pub lease_resets: Vec<VirtualTime>,
    /// Whether the queue drains: the last release was one that somebody waited for.
    pub draining: bool,
    links: Links,
    sessions: BTreeMap<SessionId, ContenderId>,
    client_latency: Latency,
    server_latency: Latency,
    faults: Vec<FaultState>,
    faults_armed: usize,
    faults_active: usize,
    calm: bool,
    settling: bool,
    contenders_active: usize,
    /// Messages to and from the resource.
    resource_in_flight: usize,
    /// Requests and notifications of contenders under way.
    busy: Busy,
    /// Who has just been told something that it waited for.
    told: Option<ProcessId>,
    last_commit: u64,
    last_release: VirtualTime,
    /// Writes that faults wait for, and which are not where they are to be.
    spreading: Vec<Spreading>,
    request_fate: Option<Fate>,
    reply_fate: Option<Fate>,
    /// The answer that a server sends at this moment.
    answering: Option<(ConnectionId, Xid)>,
    doomed_replies: Vec<(ConnectionId, Xid, Fate)>,
    /// The fault that strikes at this moment.
    striking: usize,
    struck: for_good::Struck,
    /// Who waits until nothing is under way.
    settled_waiters: BTreeMap<ProcessId, Completion<()>>,
    values: i64,
    client_outputs: Vec<ClientOutput>,
    server_outputs: Vec<ServerOutput>,
    /// The server of which several outputs are being done, and what it came to say meanwhile.
    speaking: Option<ServerId>,
    said_meanwhile: Vec<ServerOutput>,
}

/// A contender as the world sees it. What is looked at whenever it has run comes first, in one line of the cache.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Contender {
    pub client: Option<ClientId>,
    /// It is inside `acquire`.
    pub acquiring: bool,
    /// It believes that it holds the lock.
    pub holding: bool,
    /// Everything it has asked is answered, and it waits to be told something.
    pub waiting: bool,
    /// It was told something since it last waited.
    pub woken: bool,
    /// Its recipe has tasks of its own, so it does not wait as long as one of them has something to do.
    pub has_helpers: bool,
    /// It was started, if it had to wait for others to come first.
    pub started: bool,
    pub finished: bool,
    /// How many of its tasks pause between two tries: meanwhile it waits for nobody.
    pub pauses: u32,
    pub rounds_left: u32,
    pub go: Option<Completion<()>>,
    /// Drops the pending `acquire`.
    pub cancel: Option<Completion<()>>,
    pub link: ClientLink,
    /// When its last message to the resource, and the resource's to it, arrives.
    pub to_resource: VirtualTime,
    pub from_resource: VirtualTime,
}

/// A client handle and where it is. What every message touches comes first; it lies in three lines of the cache.
#[repr(C, align(64))]
pub(crate) struct ClientSlot {
    pub process: ProcessId,
    counted: u32,
    pub alive: bool,
    pub machine: Client,
    pub connection: Option<ConnectionId>,
    /// When it is woken by its own clock, and when that is in the world's time. An event that comes earlier is of an
    /// alarm that another has replaced.
    wake: VirtualTime,
    alarm: VirtualTime,
    /// The kinds of requests that are not answered yet; kept only if faults may ask.
    sent: Vec<(Xid, RequestKind)>,
    /// It has been connected before.
    pub greeted: bool,
    held: event_threads::Held,
}

/// A server and what it does at the moment.
pub(crate) struct ServerSlot {
    pub machine: Server,
    pub up: bool,
    /// When it has died so far.
    deaths: Vec<VirtualTime>,
    hung: bool,
    backlog: Vec<Event>,
    /// When it is woken. An event that comes earlier is of an alarm that another has replaced.
    wake: VirtualTime,
    busy_until: VirtualTime,
    lag: u64,
    lag_until: VirtualTime,
}

/// Where a fault of the plan is.
#[derive(Clone, Copy, Debug, Default)]
struct FaultState {
    seen: u32,
    armed: bool,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Lost,
    Late(u64),
}

impl Fate {
    /// It never comes, and its connection stays.
    const NEVER: Self = Self::Late(u64::MAX);
}

#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    requests: usize,
    notifications: usize,
    waiting: usize,
    /// Contenders inside `acquire`.
    acquiring: usize,
    /// Contenders that have not come yet.
    unstarted: usize,
}

impl World {
    /// Writes an event of the history down.
    #[inline(always)]
    pub fn record(&mut self, what: EventKind) {
        self.recorder.record(self.now, what);
    }

    /// Lets the event happen that is due now, which is taken from its place.
    #[inline(always)]
    pub fn dispatch_at(&mut self, place: timeline::Place) {
        if self.all_run {
            let event = self.timeline.take_from(place);
            self.dispatch_and_note(event);
        } else {
            self.dispatch_if_running(place);
        }
    }

    /// The same while not everybody runs: it may be put aside.
    #[inline(never)]
    fn dispatch_if_running(&mut self, place: timeline::Place) {
        let event = self.timeline.take_from(place);
        self.note_event(&event);
        self.dispatch_from_backlog(event);
    }

    /// Lets an event happen that was noted before, unless whom it comes to does not run.
    #[inline(never)]
    pub fn dispatch_from_backlog(&mut self, event: Event) {
        let event = if self.all_run {
            Some(event)
        } else {
            self.deliver(event)
        };
        if let Some(event) = event {
            self.dispatch(event);
        }
    }

    /// What the engine does is part of what can be observed.
    fn note_event(&mut self, event: &Event) {
        self.recorder.mix(self.now.micros() ^ event.word() << 20);
    }

    /// It is handed over in memory, and looked at there: it is too large to be held otherwise.
    #[inline(never)]
    fn dispatch_and_note(&mut self, event: Event) {
        self.note_event(&event);
        self.dispatch(event);
    }

    #[inline(always)]
    fn dispatch(&mut self, event: Event) {
        match event {
            Event::ToServer {
                connection,
                message,
            } => self.at_server(connection, message),
            Event::ToClient {
                connection,
                message,
            } => self.at_client(connection, message),
            Event::ConnectRequest { connection } => self.connect_request(connection),
            Event::ConnectionOpened { connection } => self.opened(connection),
            Event::ConnectionReset { connection } => self.broken(connection),
            Event::ClientClosed { connection } => self.gone(connection),
            Event::IsroProbe { client, server } => self.asked_for_writer(client, server),
            Event::IsroReply { client, server } => {
                self.client_input(client, Input::Writer { server })
            }
            Event::Redis(event) => self.dispatch_redis(event),
            Event::Peer {
                from,
                to,
                life,
                departed,
                message,
            } => self.at_peer((from, life, departed), to, message),
            Event::PeerLost { server, peer } => self.peer_lost(server, peer),
            Event::ServerWake { server } => self.server_wake(server),
            Event::ClientWake { client } => self.client_wake(client),
            Event::Timer { done, .. } => done.complete(()),
            Event::Alarm { process } => self.wake_sleepers(process),
            Event::Resource {
                process,
                request,
                answer,
            } => {
                self.at_resource(process, request, answer);
            }
            Event::Answer { value, answer, .. } => {
                self.resource_in_flight -= 1;
                answer.complete(value);
            }
            Event::Strike { fault, request } => self.strike(fault, request),
            Event::Heal { fault } => self.heal(fault),
            Event::QuiescenceCheck => {}
            Event::StormEnds => self.storm_ends(),
            Event::StormMayEnd => self.begin_calm_if_over(),
            Event::BoundReached => self.ended = self.ended.or(Some(Ended::BoundReached)),
            Event::Drained => self.ended = self.ended.or(Some(Ended::AllFinished)),
        }
    }
}
