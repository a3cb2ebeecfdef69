//! How a world begins: all processes in place, and nothing has happened yet.

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_algorithms::LockKind;
use picklock_checker::{ContenderId, LockId, VirtualTime, Vocabulary};
use slab::Slab;

use super::SimulatedService;
use super::beliefs::Beliefs;
use super::for_good::ActiveFaults;
use super::local_timers::LocalTimers;
use super::processing::Processing;
use super::regions::Places;
use super::{Contender, FaultState, Host, PendingWork, Tasks, World, phases};
use crate::engine::{Tape, Timeline};
use crate::event::Event;
use crate::latency_samples::Samples;
use crate::network::{Connections, Latency, Links};
use crate::ownership::Ownership;
use crate::plan::{ContenderName, Plan, PlannedFault};
use crate::process::{Process, ProcessId};
use crate::recorder::Recorder;
use crate::resource::Storage;

impl<S: SimulatedService> World<S> {
    pub fn new(plan: Rc<Plan>, tape: Tape) -> Self {
        let mut world = Self::at_rest(plan, tape);
        world.arm_start();
        world
    }

    /// Everything is there, and nothing is going to happen yet.
    fn at_rest(plan: Rc<Plan>, mut tape: Tape) -> Self {
        let (service, servers) = S::new(&plan, &mut tape);
        let lock_names = S::lock_names(&plan);
        let locks = 0..plan.workload.locks;
        let contenders = plan.workload.contenders as usize;
        Self {
            now: VirtualTime::ZERO,
            tape,
            timeline: Timeline::default(),
            recorder: recorder(&plan, &lock_names),
            lock_names,
            service,
            host: Host::of(servers, contenders + 1),
            samples: Samples::default(),
            processes: processes(&plan),
            contenders: contenders_of(&plan),
            tasks: Tasks::of_workload(&plan.workload),
            ownerships: ownerships(&plan),
            storages: locks.map(|_| storage(&plan)).collect(),
            beliefs: Beliefs::default(),
            local_timers: LocalTimers::of(&plan),
            memories: Vec::new(),
            spawned: Vec::new(),
            killed: Vec::new(),
            awakened: Vec::new(),
            all_run: true,
            clocks_agree: true,
            links_clear: true,
            processing: Processing::of(&plan),
            client_links: BTreeMap::new(),
            partitions: Vec::new(),
            seen: None,
            trace: None,
            ended: None,
            progress_bound: phases::progress_bound(&plan),
            lease: plan.service.lease_at_most(),
            lease_resets: Vec::new(),
            late_extensions: Vec::new(),
            in_turn: VirtualTime::NEVER,
            draining: false,
            connections: Connections::default(),
            links: Links::of(plan.service.machines()),
            client_latency: Latency::new(plan.network.client_latency),
            own_latencies: own_latencies(&plan),
            server_latency: Latency::new(plan.network.server_latency),
            places: Places::of(&plan),
            faults: plan.faults.iter().map(armed).collect(),
            faults_armed: plan.faults.len(),
            faults_active: 0,
            late_until: VirtualTime::ZERO,
            calm: false,
            settling: false,
            contenders_active: contenders,
            resource_in_flight: 0,
            resource_calls: Slab::new(),
            busy: busy(contenders),
            woken_process: None,
            last_release: VirtualTime::ZERO,
            pending_writes: Vec::new(),
            request_fate: None,
            planned_fates: Vec::new(),
            answers_under_way: Vec::new(),
            striking: 0,
            struck: ActiveFaults::default(),
            settled_waiters: BTreeMap::new(),
            values: 0,
            plan,
        }
    }

    fn arm_start(&mut self) {
        self.arrive_in_turn();
        self.arm_servers();
        S::start(self);
        self.arm_timed_faults();
        self.begin_calm_if_over();
        if !self.calm {
            let storm = phases::storm_limit(&self.plan);
            self.timeline
                .add(VirtualTime::ZERO + storm, Event::StormEnds);
        }
    }
}

/// Of each lock, who owns it: at first no contender does.
fn ownerships(plan: &Plan) -> Vec<Ownership> {
    let locks = (0..plan.workload.locks).map(LockId);
    locks.map(|lock| ownership(plan, lock)).collect()
}

/// Who owns a lock.
fn ownership(plan: &Plan, lock: LockId) -> Ownership {
    let own = plan.workload.contender_settings.iter();
    let reapers = own.filter(|(_, own)| own.reaper_interval.is_some());
    let reapers = reapers.map(|(name, _)| ContenderId(name.0)).collect();
    Ownership::new(plan.recipe.ownership, plan.workload.permits(), lock).with_reapers(reapers)
}

/// The resource that a lock protects.
fn storage(plan: &Plan) -> Storage {
    Storage::new(plan.workload.section.initial_value(), plan.resource.fenced)
}

fn recorder(plan: &Plan, locks: &[Rc<str>]) -> Recorder {
    let mut recorder = Recorder::default();
    let contenders = 1..=plan.workload.contenders;
    recorder.history.contenders = contenders
        .map(|number| format!("contender-{number}"))
        .collect();
    let tasks = plan.workload.tasks_per_process;
    recorder.history.tasks_per_process = if tasks > 1 { tasks } else { 0 };
    recorder.history.vocabulary = match plan.recipe.ownership.kind {
        LockKind::Election => Vocabulary::Election,
        LockKind::DoubleBarrier => Vocabulary::DoubleBarrier,
        LockKind::Barrier => Vocabulary::Barrier,
        LockKind::CountDownLatch => Vocabulary::CountDownLatch,
        LockKind::Mutex | LockKind::MultiLock | LockKind::ReadWrite | LockKind::Semaphore => {
            Vocabulary::Lock
        }
    };
    let faults = plan.faults.iter();
    recorder.history.faults = faults.map(|fault| fault.text_in(&plan.workload)).collect();
    // Roughly what each round has to tell.
    let rounds = plan.workload.sections() as usize;
    recorder.history.events.reserve(13 * rounds.min(1 << 8));
    recorder.history.names.reserve(rounds.min(1 << 8));
    recorder.history.locks = locks.iter().map(|lock| lock.to_string()).collect();
    recorder
}

/// Those of contenders first, then of bystanders, and last the operator's.
fn processes<E>(plan: &Plan) -> Vec<Process<Event<E>>> {
    let tasks = Tasks::of_workload(&plan.workload);
    let people = tasks.processes() + plan.workload.bystanders;
    let mut processes: Vec<_> = (0..=people).map(|_| Process::new()).collect();
    for index in 0..tasks.processes() {
        let mut of_process = tasks.of(ProcessId(index)).map(ContenderName);
        let offset = of_process.find_map(|name| plan.workload.clock_offset_of(name));
        processes[index as usize].jump(offset.unwrap_or(0).saturating_mul(1_000));
    }
    processes
}

/// A fault that waits for its trigger.
fn armed(fault: &PlannedFault) -> FaultState {
    FaultState {
        seen: 0,
        armed: true,
        strikes_left: fault.strikes(),
        due: None,
    }
}

/// Of processes that are nearer or farther than the others.
fn own_latencies(plan: &Plan) -> BTreeMap<ProcessId, Latency> {
    let tasks = Tasks::of_workload(&plan.workload);
    let process = |name: &ContenderName| tasks.process_of(ContenderId(name.0));
    let own = plan.workload.contender_settings.iter();
    own.filter_map(|(name, own)| Some((process(name), Latency::new(own.latency?))))
        .collect()
}

fn contenders_of(plan: &Plan) -> Vec<Contender> {
    let names = (0..plan.workload.contenders).map(ContenderName);
    let contender = |name| Contender {
        rounds_left: plan.workload.rounds_of(name),
        ..Contender::default()
    };
    names.map(contender).collect()
}

fn busy(contenders: usize) -> PendingWork {
    PendingWork {
        unstarted: contenders,
        ..PendingWork::default()
    }
}
