//! The world: the state of one simulation, and the handling of its events. The simulation takes the next event off the
//! timeline, and `World::dispatch_at` changes the state, adds events, and completes futures. Then the executor runs the
//! contenders' tasks that have waited for these.

mod beliefs;
mod connections;
mod contender_links;
mod contenders;
mod delivery;
mod faults;
mod for_good;
mod host;
mod local_timers;
mod message_fates;
mod message_trace;
pub(crate) mod moment;
mod notifications;
mod partitions;
mod phases;
mod processing;
mod regions;
mod replication_triggers;
mod resource;
mod restored_locks;
mod server_faults;
pub(crate) mod service_events;
mod setup;
mod tasks;
pub(crate) mod timeline_lanes;
pub(crate) mod triggers;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use picklock_algorithms::{CancelCall, StopCall};
use picklock_checker::{ContenderId, Ended, EventKind, LateExtension, LockId, VirtualTime};
use picklock_clients::RequestKind;
use picklock_clients::completion::Completion;
use picklock_clients::env::LocalFuture;
use slab::Slab;

use crate::broken::break_off;
use crate::budget::never_waits;
use crate::engine::{Executor, Tape, Timeline, timeline};
use crate::event::{ClientId, Event, ResourceCall};
use crate::latency_samples::Samples;
use crate::network::{ClientLink, Connections, Latency, Links, RequestId};
use crate::ownership::Ownership;
use crate::plan::Plan;
use crate::process::{Process, ProcessId, Thread};
use crate::recorder::Recorder;
use crate::resource::Storage;
use crate::trace::TracedMessage;
pub(crate) use host::*;
pub(crate) use moment::MessageFate;
use replication_triggers::PendingWrite;
pub(crate) use restored_locks::{RestoredLock, RestoredLocks};
pub(crate) use tasks::{NO_CONTENDER, Tasks};
pub(crate) use triggers::MomentLog;
pub use triggers::SeenMoment;

/// The world and the executor of its tasks.
pub(crate) struct Shared<S: ServiceTypes> {
    pub world: RefCell<World<S>>,
    pub executor: Executor<Thread>,
    /// Which contenders are tasks of which process.
    pub tasks: Tasks,
    /// How many random numbers the contenders' code has drawn.
    pub drawn: Cell<u64>,
    /// How many calls the contenders may still make before another event happens.
    pub calls_left: Cell<u64>,
}

/// What a call costs of `calls_left`: one that only reads, and one that takes memory.
pub(crate) const READ_COST: u64 = 1;
pub(crate) const CALL_COST: u64 = 10;

impl<S: SimulatedService> Shared<S> {
    /// Charges a call of the contenders' code. A run in which nothing else happens for too many calls breaks off.
    #[inline]
    pub fn charge(&self, cost: u64) {
        match self.calls_left.get().checked_sub(cost) {
            Some(left) => self.calls_left.set(left),
            None => self.calls_too_often(),
        }
    }

    /// The thread whose code calls. Tasks of a process may share an object, a handle, or an environment: then it is the
    /// task that runs, otherwise the owner of what is called.
    #[inline]
    pub fn caller(&self, owner: Thread) -> Thread {
        if self.tasks.are_alone() {
            return owner;
        }
        let running = self.executor.running().map(|running| running.label);
        running
            .filter(|thread| thread.process == owner.process)
            .unwrap_or(owner)
    }

    #[cold]
    fn calls_too_often(&self) {
        // An object that is dropped after a panic may still call.
        if !std::thread::panicking() {
            let world = self.world.borrow();
            let did = "it calls its client and its environment again and again";
            let why = never_waits(did, world.now);
            drop(world);
            break_off(why);
        }
    }
}

/// The commands of an operator with a shell.
pub(crate) type Operation<S> = Box<dyn FnOnce(Rc<Shared<S>>) -> LocalFuture<'static, ()>>;

/// A task that the executor adds before the next step.
pub(crate) enum Task<S: ServiceTypes> {
    /// A background task of a recipe.
    OfRecipe(LocalFuture<'static, ()>),
    /// The contender begins again, with nothing in memory.
    ContenderAgain,
    /// The commands of an operator.
    Operation(Operation<S>),
}

/// The state of one simulation.
pub(crate) struct World<S: ServiceTypes> {
    pub now: VirtualTime,
    pub tape: Tape,
    pub timeline: Timeline<Event<HostEvent<S>>>,
    pub recorder: Recorder,
    pub samples: Samples,
    pub plan: Rc<Plan>,
    /// The path or the key of each lock.
    pub lock_names: Vec<Rc<str>>,
    /// The service that the locks stand on, and its servers and clients.
    pub service: S,
    pub host: Host<S>,
    pub processes: Vec<Process<Event<HostEvent<S>>>>,
    pub contenders: Vec<Contender>,
    /// Which contenders are tasks of which process.
    pub tasks: Tasks,
    /// For each lock its owner, and the resource that it protects.
    pub ownerships: Vec<Ownership>,
    pub storages: Vec<Storage>,
    pub beliefs: beliefs::Beliefs,
    pub local_timers: local_timers::LocalTimers,
    /// At this time tasks run in the order in which they were woken.
    pub in_turn: VirtualTime,
    /// For each process of several tasks, the memory that they share.
    pub memories: Vec<Weak<dyn Any>>,
    /// Tasks to be added before the next step.
    pub spawned: Vec<(Thread, Task<S>)>,
    /// Processes whose tasks are to be dropped before the next step.
    pub killed: Vec<ProcessId>,
    /// Tasks that may run again.
    pub awakened: Vec<crate::engine::TaskId>,
    /// Whether no process is paused, hung, or dead, so that no event has to wait.
    pub all_run: bool,
    /// Whether no process has a clock of its own, and whether no fault affects the links between clients and servers.
    pub clocks_agree: bool,
    pub links_clear: bool,
    /// How long processes take until their tasks run, if that takes time.
    pub processing: Option<Box<processing::Processing>>,
    /// The links between processes and the service that a fault has ever affected.
    pub client_links: BTreeMap<ProcessId, ClientLink>,
    pub partitions: Vec<partitions::Partition>,
    /// The moments and the messages of the run so far, if these are recorded.
    pub seen: Option<MomentLog>,
    pub trace: Option<Vec<TracedMessage>>,
    /// Why the run is over, once it is.
    pub ended: Option<Ended>,
    pub progress_bound: Duration,
    pub lease: Duration,
    /// When a new leader gave every session its full timeout again.
    pub lease_resets: Vec<VirtualTime>,
    /// Leases that were extended for contenders that no longer believed that they held the lock.
    pub late_extensions: Vec<LateExtension>,
    /// Whether the queue drains: a contender waited at the last release.
    pub draining: bool,
    /// Between clients and servers.
    pub connections: Connections,
    /// Between servers.
    pub links: Links,
    pub client_latency: Latency,
    /// Latencies of processes that are nearer or farther than the others.
    pub own_latencies: BTreeMap<ProcessId, Latency>,
    pub server_latency: Latency,
    /// The regions of all machines, if there are regions.
    pub places: Option<Box<regions::Places>>,
    pub faults: Vec<FaultState>,
    pub faults_armed: usize,
    pub faults_active: usize,
    /// Until when messages arrive late because of a fault that is over.
    pub late_until: VirtualTime,
    pub calm: bool,
    pub settling: bool,
    pub contenders_active: usize,
    /// Messages to and from the resource.
    pub resource_in_flight: usize,
    /// Requests to the resource that have not arrived.
    pub resource_calls: Slab<ResourceCall>,
    /// The contenders' work under way: requests, notifications, calls.
    pub busy: PendingWork,
    /// The process whose client has just received an event that a contender waited for.
    pub woken_process: Option<ProcessId>,
    pub last_release: VirtualTime,
    /// Writes that faults wait for, until the server that the fault names has applied them.
    pub pending_writes: Vec<PendingWrite>,
    pub request_fate: Option<MessageFate>,
    /// What faults have planned for answers that are not sent yet.
    pub planned_fates: Vec<(RequestId, MessageFate)>,
    /// Answers to record when they reach their clients, each with its contender.
    pub answers_under_way: Vec<(u32, RequestId, RequestKind)>,
    /// The fault that strikes at this moment.
    pub striking: usize,
    pub struck: for_good::ActiveFaults,
    /// Holders that wait until nothing is under way.
    pub settled_waiters: BTreeMap<ContenderId, Completion<()>>,
    pub values: i64,
}

/// A contender as the world sees it. The fields that are read after each of its runs come first, in one cache line.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Contender {
    /// The client that its handle stands on.
    pub client: Option<ClientId>,
    /// It is inside `acquire`.
    pub acquiring: bool,
    /// It believes that it holds the lock.
    pub holding: bool,
    /// All its requests are answered, and it waits for an event.
    pub waiting: bool,
    /// It got an event since it last waited.
    pub woken: bool,
    /// Its recipe has background tasks, so it does not wait while one of them has something to do.
    pub has_helpers: bool,
    /// It has started; a contender that comes in order waits for those before it.
    pub started: bool,
    pub finished: bool,
    /// How many of its tasks pause between two tries, and so wait for no holder.
    pub pauses: u32,
    pub rounds_left: u32,
    /// The lock that it wants or holds, or had last.
    pub lock: LockId,
    pub go: Option<Completion<()>>,
    /// Drops the pending `acquire`.
    pub cancel: Option<Completion<()>>,
    /// Drops the pending `release`.
    pub cancel_release: Option<Completion<()>>,
    /// The lock object's own call that cancels an `acquire`, pending or not, if it has one.
    pub cancel_call: Option<CancelCall>,
    /// What asks its lock objects to stop, and whether it was asked, and begins no other round.
    pub stop_calls: Vec<StopCall>,
    pub stops: bool,
    /// What others have sent it to give back.
    pub restored: RestoredLocks,
    /// When it began to release a lock that it no longer owned, and how many of its requests had no answer then.
    pub releases_in_vain: Option<(VirtualTime, u64)>,
    /// When its last message to the resource arrives, and the resource's last message to it.
    pub to_resource: VirtualTime,
    pub from_resource: VirtualTime,
}

/// The progress of a fault of the plan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FaultState {
    /// How often its trigger has come.
    pub seen: u32,
    /// Whether it waits for its trigger.
    pub armed: bool,
    /// How often it may still strike.
    pub strikes_left: u32,
    /// When it is to strike, once its trigger has come.
    pub due: Option<VirtualTime>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingWork {
    pub requests: usize,
    pub notifications: usize,
    pub waiting: usize,
    /// Contenders inside `acquire`.
    pub acquiring: usize,
    /// Contenders that have not started.
    pub unstarted: usize,
}

impl<S: SimulatedService> World<S> {
    /// Adds an event to the history.
    #[inline(always)]
    pub fn record(&mut self, what: EventKind) {
        self.recorder.record(self.now, what);
    }

    /// How often all locks together have been granted so far.
    pub fn grants(&self) -> u64 {
        self.ownerships.iter().map(Ownership::grants).sum()
    }

    /// The lock that a contender wants or holds, or had last.
    pub fn lock_of(&self, by: ContenderId) -> LockId {
        let contender = self.contenders.get(by.0 as usize);
        contender.map_or(LockId::default(), |contender| contender.lock)
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

    /// The same while a process does not run: an event for that process is put aside.
    #[inline(never)]
    fn dispatch_if_running(&mut self, place: timeline::Place) {
        let event = self.timeline.take_from(place);
        self.note_event(&event);
        self.dispatch_from_backlog(event);
    }

    /// Lets a noted event happen, unless its recipient does not run.
    #[inline(never)]
    pub fn dispatch_from_backlog(&mut self, event: Event<HostEvent<S>>) {
        let event = if self.all_run {
            Some(event)
        } else {
            self.deliver(event)
        };
        if let Some(event) = event {
            self.dispatch(event);
        }
    }

    /// Adds the event to the hash of the run.
    fn note_event(&mut self, event: &Event<HostEvent<S>>) {
        self.recorder.mix(self.now.micros() ^ event.word() << 20);
    }

    /// Notes the event and lets it happen. Never inlined: the event is too large for registers.
    #[inline(never)]
    fn dispatch_and_note(&mut self, event: Event<HostEvent<S>>) {
        self.note_event(&event);
        self.dispatch(event);
    }

    #[inline(always)]
    fn dispatch(&mut self, event: Event<HostEvent<S>>) {
        match event {
            Event::Service(event) => self.on_host_event(event),
            Event::Timer { done, .. } => done.complete(()),
            Event::LocalTimer { process } => self.fire_local_timers(process),
            Event::Processed { number, .. } => self.processed(number),
            Event::Resource { call, .. } => self.at_resource(call),
            Event::Answer { value, answer, .. } => {
                self.resource_in_flight -= 1;
                answer.complete(value);
            }
            Event::Strike { fault, request } => {
                let fate = self.strike(fault);
                self.plan_fate_of_reply(request, fate);
            }
            Event::StrikeAgain { fault } => self.strike_again(fault),
            Event::LinkDown { fault, until } => self.link_goes_down(fault, until),
            Event::Heal { fault } => self.heal(fault),
            Event::QuiescenceCheck => {}
            Event::StormEnds => self.storm_ends(),
            Event::StormMayEnd => self.begin_calm_if_over(),
            Event::BoundReached => self.ended = self.ended.or(Some(Ended::BoundReached)),
            Event::Drained => self.ended = self.ended.or(Some(Ended::AllFinished)),
        }
    }

    /// Does everything in one of the lists, and keeps the list's memory. Mostly there is one thing or none.
    #[inline]
    pub(crate) fn do_each<T>(
        &mut self,
        list: impl Fn(&mut Self) -> &mut Vec<T>,
        mut does: impl FnMut(&mut Self, T),
    ) {
        if list(self).len() > 1 {
            let mut things = std::mem::take(list(self));
            for thing in things.drain(..) {
                does(self, thing);
            }
            *list(self) = things;
        } else if let Some(thing) = list(self).pop() {
            does(self, thing);
        }
    }
}
