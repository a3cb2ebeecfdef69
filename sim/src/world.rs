//! The world: everything in one simulation, and what happens next.

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

/// The world and its executor.
pub(crate) struct Shared<S: ServiceTypes> {
    pub world: RefCell<World<S>>,
    pub executor: Executor<Thread>,
    /// Which contenders are tasks of which process.
    pub tasks: Tasks,
    /// How many random numbers the contenders' code has drawn.
    pub drawn: Cell<u64>,
    /// How many calls of their clients and environments are left to the contenders until something else has happened.
    pub calls_left: Cell<u64>,
}

/// The costs of a call in the budget: of one that only reads, and of one that takes memory.
pub(crate) const READ_COST: u64 = 1;
pub(crate) const CALL_COST: u64 = 10;

impl<S: SimulatedService> Shared<S> {
    /// The contenders' code calls. If it has done so again and again while nothing else happened, it never will.
    #[inline]
    pub fn charge(&self, cost: u64) {
        match self.calls_left.get().checked_sub(cost) {
            Some(left) => self.calls_left.set(left),
            None => self.calls_too_often(),
        }
    }

    /// The thread whose code calls: of several tasks of a process that have an object, a handle, or an environment in
    /// common, the one that runs. Otherwise it is whose the thing is that is called.
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
        // An object dropped while another run is being cleaned up behind a panic may say good-bye.
        if !std::thread::panicking() {
            let world = self.world.borrow();
            let did = "it calls its client and its environment again and again";
            let why = never_waits(did, world.now);
            drop(world);
            break_off(why);
        }
    }
}

/// What an operator does with a shell.
pub(crate) type Operation<S> = Box<dyn FnOnce(Rc<Shared<S>>) -> LocalFuture<'static, ()>>;

/// A task that is to be begun.
pub(crate) enum Task<S: ServiceTypes> {
    /// What a recipe does in the background.
    OfRecipe(LocalFuture<'static, ()>),
    /// The contender begins again, with nothing in memory.
    ContenderAgain,
    /// What an operator does with a shell.
    Operation(Operation<S>),
}

/// Everything in one simulation.
pub(crate) struct World<S: ServiceTypes> {
    pub now: VirtualTime,
    pub tape: Tape,
    pub timeline: Timeline<Event<HostEvent<S>>>,
    pub recorder: Recorder,
    pub samples: Samples,
    pub plan: Rc<Plan>,
    /// The path or the key of each lock; all share it.
    pub lock_names: Vec<Rc<str>>,
    /// The service that the lock stands on.
    pub service: S,
    /// Its servers and clients.
    pub host: Host<S>,
    pub processes: Vec<Process<Event<HostEvent<S>>>>,
    pub contenders: Vec<Contender>,
    /// Which contenders are tasks of which process.
    pub tasks: Tasks,
    /// Of each lock, who owns it, and the resource that it protects.
    pub ownerships: Vec<Ownership>,
    pub storages: Vec<Storage>,
    pub beliefs: beliefs::Beliefs,
    pub local_timers: local_timers::LocalTimers,
    /// At this moment, tasks run in the order in which they were woken.
    pub in_turn: VirtualTime,
    /// By process: what its tasks have in common, if it has several.
    pub memories: Vec<Weak<dyn Any>>,
    /// Tasks to be added before the next step.
    pub spawned: Vec<(Thread, Task<S>)>,
    /// Processes whose tasks are to be dropped before the next step.
    pub killed: Vec<ProcessId>,
    /// Tasks that may run again.
    pub awakened: Vec<crate::engine::TaskId>,
    /// No process is paused, hung, or dead: every event comes to one that runs.
    pub all_run: bool,
    /// No process has a clock of its own, and nothing is in the way between clients and servers.
    pub clocks_agree: bool,
    pub links_clear: bool,
    /// How long processes take until their tasks run, if any of them takes time.
    pub processing: Option<Box<processing::Processing>>,
    /// What is in the way between a process and the service, if anything ever was.
    pub client_links: BTreeMap<ProcessId, ClientLink>,
    pub partitions: Vec<partitions::Partition>,
    /// The moments of the run so far, if they are recorded.
    pub seen: Option<MomentLog>,
    /// The messages of the run so far, if they are traced.
    pub trace: Option<Vec<TracedMessage>>,
    /// Set when the run is over.
    pub ended: Option<Ended>,
    pub progress_bound: Duration,
    pub lease: Duration,
    /// When new leaders gave every session its full time again.
    pub lease_resets: Vec<VirtualTime>,
    /// Leases that were extended for contenders that did not believe in the lock any more.
    pub late_extensions: Vec<LateExtension>,
    /// Whether the queue drains: a contender waited for the last release.
    pub draining: bool,
    /// Between clients and servers.
    pub connections: Connections,
    /// Between servers.
    pub links: Links,
    pub client_latency: Latency,
    /// Of processes that are nearer or farther than the others.
    pub own_latencies: BTreeMap<ProcessId, Latency>,
    pub server_latency: Latency,
    /// The regions of all machines, if there are regions.
    pub places: Option<Box<regions::Places>>,
    pub faults: Vec<FaultState>,
    pub faults_armed: usize,
    pub faults_active: usize,
    /// Until when something comes late because of a fault that is over.
    pub late_until: VirtualTime,
    pub calm: bool,
    pub settling: bool,
    pub contenders_active: usize,
    /// Messages to and from the resource.
    pub resource_in_flight: usize,
    /// Requests to the resource that have not arrived.
    pub resource_calls: Slab<ResourceCall>,
    /// Requests and notifications of contenders under way.
    pub busy: PendingWork,
    /// The process whose client just received an event that a contender waited for.
    pub woken_process: Option<ProcessId>,
    pub last_release: VirtualTime,
    /// Writes that faults wait for, and which are not where they are to be.
    pub pending_writes: Vec<PendingWrite>,
    pub request_fate: Option<MessageFate>,
    /// What faults have planned for answers that are not sent yet.
    pub planned_fates: Vec<(RequestId, MessageFate)>,
    /// Answers that are to be noted when they reach their clients, and whose contender's they are.
    pub answers_under_way: Vec<(u32, RequestId, RequestKind)>,
    /// The fault that strikes at this moment.
    pub striking: usize,
    pub struck: for_good::ActiveFaults,
    /// Holders that wait until nothing is under way.
    pub settled_waiters: BTreeMap<ContenderId, Completion<()>>,
    pub values: i64,
}

/// A contender as the world sees it. What is looked at whenever it has run comes first, in one line of the cache.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Contender {
    /// The client that its handle stands on.
    pub client: Option<ClientId>,
    /// It is inside `acquire`.
    pub acquiring: bool,
    /// It believes that it holds the lock.
    pub holding: bool,
    /// Everything it has asked is answered, and it waits for an event.
    pub waiting: bool,
    /// It got an event since it last waited.
    pub woken: bool,
    /// Its recipe has tasks of its own, so it does not wait as long as one of them has something to do.
    pub has_helpers: bool,
    /// It was started, if it had to wait for others to come first.
    pub started: bool,
    pub finished: bool,
    /// How many of its tasks pause between two tries: a pausing task waits for no holder.
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
    /// When it began a release of what was its own no more, and how many of its requests had no answer then.
    pub releases_in_vain: Option<(VirtualTime, u64)>,
    /// When its last message to the resource, and the resource's to it, arrives.
    pub to_resource: VirtualTime,
    pub from_resource: VirtualTime,
}

/// Where a fault of the plan is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FaultState {
    /// How often what it waits for has happened.
    pub seen: u32,
    /// Whether it waits.
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
    /// Contenders that have not come yet.
    pub unstarted: usize,
}

impl<S: SimulatedService> World<S> {
    /// Writes an event of the history down.
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

    /// The same while a process does not run: the event may be put aside.
    #[inline(never)]
    fn dispatch_if_running(&mut self, place: timeline::Place) {
        let event = self.timeline.take_from(place);
        self.note_event(&event);
        self.dispatch_from_backlog(event);
    }

    /// Lets an event happen that was noted before, unless its recipient does not run.
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

    /// What the engine does is part of what can be observed.
    fn note_event(&mut self, event: &Event<HostEvent<S>>) {
        self.recorder.mix(self.now.micros() ^ event.word() << 20);
    }

    /// It is handed over in memory, and looked at there: it is too large to be held otherwise.
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

    /// Does everything that stands in one of our lists, and keeps the list's room. Mostly there is one thing or none.
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
