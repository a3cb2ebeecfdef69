//! The world: everybody and everything in one simulation, and what happens next.

mod clients;
mod commits;
mod delivery;
mod end;
mod faults;
mod moments;
mod people;
mod servers;

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use picklock_algorithms::clients::completion::Completion;
use picklock_algorithms::clients::zookeeper::{Path, RequestKind, SessionId};
use picklock_algorithms::env::LocalFuture;
use picklock_checker::{ContenderId, Ended, LockId, VirtualTime, What, time::whole_micros};

use crate::engine::{Tape, Timeline};
use crate::event::{ClientId, Event, ResourceRequest};
use crate::network::{ClientLink, Connections, Latency, Link};
use crate::ownership::Ownership;
use crate::plan::{Ensemble, Plan, Service};
use crate::process::{Process, ProcessId};
use crate::recorder::Recorder;
use crate::resource::Storage;
use crate::samples::Samples;
use crate::shared::Shared;
use crate::zookeeper::client::{Client, Output as ClientOutput};
use crate::zookeeper::messages::{ConnectionId, ServerId, Xid};
use crate::zookeeper::state::{Output as ServerOutput, Server, Settings};

/// The one lock that everybody wants.
pub(crate) const LOCK: LockId = LockId(0);
/// Its node.
pub(crate) const LOCK_PATH: &str = "/locks/a";
/// What bystanders read.
pub(crate) const BYSTANDER_PATH: &str = "/elsewhere";

/// Everybody and everything in one simulation.
pub(crate) struct World {
    pub now: VirtualTime,
    pub tape: Tape,
    pub timeline: Timeline<Event>,
    pub recorder: Recorder,
    pub samples: Samples,
    pub plan: Rc<Plan>,
    pub ensemble: Ensemble,
    pub processes: Vec<Process>,
    pub contenders: Vec<Contender>,
    pub clients: Vec<ClientSlot>,
    pub connections: Connections,
    pub servers: Vec<ServerSlot>,
    pub ownership: Ownership,
    pub storage: Storage,
    /// Tasks to be added before the next step.
    pub spawned: Vec<(ProcessId, LocalFuture<'static, ()>)>,
    /// Processes whose tasks are to be dropped before the next step.
    pub killed: Vec<ProcessId>,
    /// Tasks that may run again.
    pub awakened: Vec<crate::engine::TaskId>,
    /// Nobody is paused, hung, or dead: every event comes to somebody who runs.
    pub all_run: bool,
    /// No process has a clock of its own, and nothing is in the way between clients and servers.
    clocks_agree: bool,
    links_clear: bool,
    /// Set when the run is over.
    pub ended: Option<Ended>,
    pub progress_bound: Duration,
    pub lease: Duration,
    /// Whether the queue drains: the last release was one that somebody waited for.
    pub draining: bool,
    shared: Weak<Shared>,
    /// Between servers: from each to each.
    links: Vec<Link>,
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
    last_commit: u64,
    last_release: VirtualTime,
    request_fate: Option<Fate>,
    reply_fate: Option<Fate>,
    /// The answer that a server sends at this moment.
    answering: Option<(ConnectionId, Xid)>,
    doomed_replies: Vec<(ConnectionId, Xid, Fate)>,
    struck_servers: Vec<ServerId>,
    settled_waiters: usize,
    values: i64,
    client_outputs: Vec<ClientOutput>,
    server_outputs: Vec<ServerOutput>,
}

/// A contender as the world sees it.
#[derive(Default)]
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
    /// It was started, if it had to wait for others to come first.
    pub started: bool,
    pub go: Option<Completion<()>>,
    /// Drops the pending `acquire`.
    pub cancel: Option<Completion<()>>,
    /// Waits until nothing is under way.
    pub settled: Option<Completion<()>>,
    pub rounds_left: u32,
    pub finished: bool,
    pub link: ClientLink,
    /// When its last message to the resource, and the resource's to it, arrives.
    pub to_resource: VirtualTime,
    pub from_resource: VirtualTime,
}

/// A client handle and where it is.
pub(crate) struct ClientSlot {
    pub process: ProcessId,
    pub machine: Client,
    pub alive: bool,
    pub connection: Option<ConnectionId>,
    wake: VirtualTime,
    /// The kinds of requests that are not answered yet; kept only if faults may ask.
    sent: Vec<(Xid, RequestKind)>,
    counted: usize,
    /// It has been connected before.
    pub greeted: bool,
}

/// A server and what it does at the moment.
pub(crate) struct ServerSlot {
    pub machine: Server,
    pub up: bool,
    /// When it has died so far.
    deaths: Vec<VirtualTime>,
    hung: bool,
    backlog: Vec<Event>,
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
    pub fn new(plan: Rc<Plan>, tape: Tape, shared: Weak<Shared>) -> Self {
        let Service::ZooKeeper(ensemble) = plan.service.clone();
        let settings = Rc::new(Settings::from(&ensemble));
        let nodes = ["/locks", LOCK_PATH, BYSTANDER_PATH].map(Path::from);
        let machines = Server::formed(&settings, &nodes);
        let servers = machines.into_iter().map(ServerSlot::new).collect();
        let contenders = plan.workload.contenders as usize;
        let mut recorder = Recorder::default();
        recorder.history.contenders = (1..=contenders)
            .map(|number| format!("contender-{number}"))
            .collect();
        recorder.history.faults = plan.faults.iter().map(|fault| fault.text.clone()).collect();
        // Roughly what each round has to tell.
        let rounds = contenders * plan.workload.rounds as usize;
        recorder.history.events.reserve((12 * rounds).min(1 << 12));
        recorder.history.names.reserve(rounds.min(1 << 10));
        recorder.history.locks = vec![LOCK_PATH.to_owned()];
        let lease = end::lease(&ensemble);
        let mut world = Self {
            now: VirtualTime::ZERO,
            tape,
            timeline: Timeline::default(),
            recorder,
            samples: Samples::default(),
            processes: (0..=contenders + plan.workload.bystanders as usize)
                .map(|_| Process::new())
                .collect(),
            contenders: (0..contenders)
                .map(|_| Contender {
                    rounds_left: plan.workload.rounds,
                    ..Contender::default()
                })
                .collect(),
            clients: Vec::with_capacity(contenders + 1),
            connections: Connections::default(),
            servers,
            ownership: Ownership::new(plan.recipe.ownership, LOCK),
            storage: Storage::new(plan.workload.section.initial_value(), plan.resource.fenced),
            spawned: Vec::new(),
            killed: Vec::new(),
            awakened: Vec::new(),
            all_run: true,
            clocks_agree: true,
            links_clear: true,
            ended: None,
            progress_bound: end::progress_bound(&plan, &ensemble),
            lease,
            draining: false,
            shared,
            links: vec![Link::default(); usize::from(ensemble.servers).pow(2)],
            sessions: BTreeMap::new(),
            client_latency: Latency::new(plan.network.client_latency),
            server_latency: Latency::new(plan.network.server_latency),
            faults: vec![
                FaultState {
                    seen: 0,
                    armed: true
                };
                plan.faults.len()
            ],
            faults_armed: plan.faults.len(),
            faults_active: 0,
            calm: false,
            settling: false,
            contenders_active: contenders,
            resource_in_flight: 0,
            busy: Busy {
                unstarted: contenders,
                ..Busy::default()
            },
            last_commit: 0,
            last_release: VirtualTime::ZERO,
            request_fate: None,
            reply_fate: None,
            answering: None,
            doomed_replies: Vec::new(),
            struck_servers: Vec::new(),
            settled_waiters: 0,
            values: 0,
            client_outputs: Vec::new(),
            server_outputs: Vec::new(),
            ensemble,
            plan,
        };
        world.arm_start();
        world
    }

    fn arm_start(&mut self) {
        for server in 0..self.servers.len() {
            self.arm_server(ServerId(server as u8));
        }
        self.arm_timed_faults();
        self.begin_calm_if_over();
        if !self.calm {
            let storm = end::storm_limit(&self.plan, &self.ensemble);
            self.timeline
                .add(VirtualTime::ZERO + storm, Event::StormEnds);
        }
    }

    /// Writes an event of the history down.
    pub fn record(&mut self, what: What) {
        self.recorder.record(self.now, what);
    }

    /// Lets an event happen, unless whom it comes to does not run.
    pub fn happen(&mut self, event: Event) {
        if self.all_run {
            self.happen_now(event);
        } else if let Some(event) = self.deliver(event) {
            self.happen_now(event);
        }
    }

    fn happen_now(&mut self, event: Event) {
        match event {
            Event::ToServer {
                connection,
                message,
            } => self.at_server(connection, message),
            Event::ToClient {
                connection,
                message,
            } => self.at_client(connection, message),
            Event::Knock { connection } => self.knock(connection),
            Event::Opened { connection } => self.opened(connection),
            Event::Broken { connection } => self.broken(connection),
            Event::Gone { connection } => self.gone(connection),
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
            Event::StormEnds => self.storm_ends(),
            Event::StormMayEnd => self.begin_calm_if_over(),
            Event::BoundReached => self.ended = self.ended.or(Some(Ended::BoundReached)),
            Event::Settled => self.ended = self.ended.or(Some(Ended::AllFinished)),
        }
    }

    /// Completes `done` after this long by the clock of a process.
    pub fn sleep(&mut self, process: ProcessId, duration: Duration, done: Completion<()>) {
        let owner = &self.processes[process.0 as usize];
        let until = owner.world_time(owner.monotonic(self.now) + duration);
        self.timeline.add(until, Event::Timer { process, done });
    }

    /// Sends a request to the resource. A write may travel longer by `extra`, and then nothing waits behind it.
    pub fn ask_resource(
        &mut self,
        process: ProcessId,
        request: ResourceRequest,
        extra: Duration,
        answer: Completion<i64>,
    ) {
        let latency = self.client_latency.draw(&mut self.tape);
        let mut at = VirtualTime::from_micros(self.now.micros() + latency + whole_micros(extra));
        if extra.is_zero() {
            let contender = &mut self.contenders[process.0 as usize];
            contender.to_resource = contender.to_resource.max(at);
            at = contender.to_resource;
        }
        self.resource_in_flight += 1;
        self.timeline.add(
            at,
            Event::Resource {
                process,
                request,
                answer,
            },
        );
    }

    fn at_resource(
        &mut self,
        process: ProcessId,
        request: ResourceRequest,
        answer: Completion<i64>,
    ) {
        let by = ContenderId(process.0);
        let value = match request {
            ResourceRequest::Read => {
                let value = self.storage.value();
                self.record(What::Read {
                    by,
                    lock: LOCK,
                    value,
                });
                value
            }
            ResourceRequest::Write(write) => {
                let before = self.storage.value();
                let accepted = self.storage.write(&write);
                self.record(What::Effect {
                    by,
                    lock: LOCK,
                    token: write.token,
                    before,
                    after: self.storage.value(),
                    based_on: write.based_on,
                    accepted,
                });
                i64::from(accepted)
            }
        };
        let latency = self.client_latency.draw(&mut self.tape);
        let at = VirtualTime::from_micros(self.now.micros() + latency);
        let contender = &mut self.contenders[process.0 as usize];
        contender.from_resource = contender.from_resource.max(at);
        self.timeline.add(
            contender.from_resource,
            Event::Answer {
                process,
                value,
                answer,
            },
        );
    }
}

impl ServerSlot {
    fn new(machine: Server) -> Self {
        Self {
            machine,
            up: true,
            deaths: Vec::new(),
            hung: false,
            backlog: Vec::new(),
            wake: VirtualTime::NEVER,
            busy_until: VirtualTime::ZERO,
            lag: 0,
            lag_until: VirtualTime::ZERO,
        }
    }
}
