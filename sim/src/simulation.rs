//! A simulation: one plan, one tape, one run.

mod observed;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use picklock_checker::{Broken, ContenderId, Counts, Ended, Facts, History, Run};
use picklock_clients::env::LocalFuture;

use crate::broken::{break_off, caught};
use crate::budget::{Budget, EventLimit, Limit, never_waits, woken_from_outside};
use crate::bystander;
use crate::contender::{self, Start};
use crate::engine::sandbox::Sandbox;
use crate::engine::{Executor, Tape, TaskId};
use crate::latency_samples::Samples;
use crate::plan::Plan;
use crate::process::{ProcessId, Thread};
use crate::services::with_adapter;
use crate::watchdog::InSimulation;
use crate::world::{NO_CONTENDER, Shared, SimulatedService, Task, Tasks, World};

pub use observed::{simulate_recorded, simulate_seen, simulate_traced};

/// What came of a simulation.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The history, and what is needed to judge it.
    pub run: Run,
    /// The rolling hash of everything that could be observed.
    pub hash: u64,
    /// Latencies.
    pub samples: Samples,
    /// The choices that were made.
    pub choices: Vec<u32>,
}

impl Simulated {
    /// What came of a run that broke off before there was anything to tell, or after there was.
    fn broken_off(why: Broken) -> Self {
        let history = History {
            broken: Some(why),
            ..History::default()
        };
        Self {
            run: Run {
                history,
                facts: Facts::default(),
                counts: Counts::default(),
                lease_resets: Vec::new(),
                late_extensions: Vec::new(),
                for_good: Default::default(),
                awaited: Vec::new(),
                permits_left: Vec::new(),
            },
            hash: 0,
            samples: Samples::default(),
            choices: Vec::new(),
        }
    }

    /// The same, if the run came to an end. If it broke off, so does whatever was begun with [`caught`].
    #[must_use]
    pub fn whole(self) -> Self {
        match self.broken() {
            Some(why) => break_off(why.clone()),
            None => self,
        }
    }

    /// Why the run broke off, if it did.
    pub fn broken(&self) -> Option<&Broken> {
        self.run.history.broken.as_ref()
    }
}

/// Runs a plan with the choices of a seed.
pub fn simulate(plan: &Plan, seed: u64) -> Simulated {
    simulate_with(plan, Tape::explored(plan.network.chance, seed))
}

/// Runs a plan with the choices of a tape.
pub fn simulate_with(plan: &Plan, tape: Tape) -> Simulated {
    with_adapter!(plan, simulated(plan, tape))
}

fn simulated<S: SimulatedService>(plan: &Plan, tape: Tape) -> Simulated {
    // The sandbox's own seed feeds what must not be asked; any difference that it made would be a bug.
    Sandbox::run(0, |sandbox| {
        let done = caught(|| Simulation::<S>::new(plan, tape).run(sandbox));
        done.unwrap_or_else(Simulated::broken_off)
    })
}

/// What can be seen of the world when a plan has been run with the choices of a seed.
#[cfg(test)]
pub(crate) fn world_after<S: SimulatedService, T>(
    plan: &Plan,
    seed: u64,
    look: impl FnOnce(&World<S>) -> T,
) -> T {
    Sandbox::run(0, |sandbox| {
        let tape = Tape::explored(plan.network.chance, seed);
        let simulation = Simulation::<S>::new(plan, tape);
        let shared = Rc::clone(&simulation.shared);
        simulation.run(sandbox);
        let world = shared.world.borrow();
        look(&world)
    })
}

struct Simulation<S: SimulatedService> {
    shared: Rc<Shared<S>>,
    ready: Vec<TaskId>,
    /// By task: whether a recipe has spawned it.
    helpers: Vec<bool>,
    events: u64,
    limit: Limit,
    budget: Budget,
    watched: InSimulation,
}

impl<S: SimulatedService> Simulation<S> {
    fn new(plan: &Plan, tape: Tape) -> Self {
        let plan = Rc::new(plan.clone());
        let (budget, limit) = (Budget::of(&plan), Limit::of(&plan));
        let workload = plan.workload.clone();
        let tasks = Tasks::of_workload(&workload);
        let shared = Rc::new(Shared {
            world: RefCell::new(World::new(plan, tape)),
            executor: Executor::default(),
            tasks,
            drawn: Cell::new(0),
            calls_left: Cell::new(0),
        });
        for contender in (0..workload.contenders).map(ContenderId) {
            let process = tasks.process_of(contender);
            let task = contender::run(Rc::clone(&shared), contender, Start::First);
            let thread = Thread { process, contender };
            shared.executor.spawn(thread, Box::pin(task));
        }
        for index in 0..workload.bystanders {
            let thread = Thread {
                process: ProcessId(tasks.processes() + index),
                contender: NO_CONTENDER,
            };
            let task = bystander::bystand(Rc::clone(&shared), thread, index);
            shared.executor.spawn(thread, Box::pin(task));
        }
        Self {
            shared,
            ready: Vec::with_capacity(workload.contenders as usize),
            helpers: Vec::new(),
            events: 0,
            limit,
            budget,
            watched: InSimulation::enter(),
        }
    }

    fn run(mut self, mut sandbox: Sandbox) -> Simulated {
        let ended = caught(|| self.run_to_the_end(&mut sandbox));
        self.finish(ended)
    }

    #[inline(never)]
    fn run_to_the_end(&mut self, sandbox: &mut Sandbox) -> Ended {
        loop {
            self.run_ready(sandbox);
            if let Some(why) = self.happen() {
                return why;
            }
        }
    }

    /// Lets the world go on until the contenders' code has something to do, or the run is over.
    fn happen(&mut self) -> Option<Ended> {
        let mut world = self.shared.world.borrow_mut();
        loop {
            if world.may_be_over() {
                world.end_if_over();
                if world.ended.is_some() {
                    return world.ended;
                }
            }
            let Some((at, index)) = world.timeline.take_place() else {
                return Some(Ended::OutOfBudget);
            };
            self.events += 1;
            if self.events > self.limit.events {
                match self.limit.beyond(world.plan.event_budget, world.now) {
                    EventLimit::Half => {}
                    EventLimit::Spent => return Some(Ended::OutOfBudget),
                    EventLimit::Still(events) => {
                        self.shared.executor.blame_latest();
                        break_off(never_waits(&format!("{events} events"), world.now));
                    }
                }
            }
            world.now = at;
            world.dispatch_at(index);
            world.settle();
            if world.wants_tasks() || self.shared.executor.has_ready() {
                return None;
            }
            world.check_notified_contenders();
        }
    }

    /// Runs the contenders' code as long as there is something for it to do.
    fn run_ready(&mut self, sandbox: &mut Sandbox) {
        let shared = Rc::clone(&self.shared);
        let mut world = shared.world.borrow_mut();
        sandbox.advance_to(world.now.micros());
        self.watched.pulse().beat(self.events);
        shared.calls_left.set(self.budget.calls);
        let mut polls = 0;
        loop {
            if world.wants_tasks() {
                drop(world);
                self.take_over();
                world = shared.world.borrow_mut();
            }
            // Mostly it is one task, and nothing keeps it from running.
            let alone = self.ready.is_empty() && world.all_run_at_once();
            drop(world);
            let only = if alone {
                shared.executor.run_only()
            } else {
                None
            };
            world = shared.world.borrow_mut();
            let process = match only {
                Some(thread) => thread.process,
                None => {
                    shared.executor.drain_ready(&mut self.ready);
                    if self.ready.is_empty() {
                        return;
                    }
                    let choice = world.choose_task(self.ready.len());
                    let chosen = self.ready.remove(choice);
                    let Some(started) = shared.executor.start(chosen) else {
                        continue;
                    };
                    if !world.all_run_at_once() && !world.may_run(started.label, chosen) {
                        shared.executor.put_back(chosen);
                        continue;
                    }
                    drop(world);
                    shared.executor.run(chosen);
                    world = shared.world.borrow_mut();
                    started.label.process
                }
            };
            polls += 1;
            if polls > self.budget.polls {
                shared.executor.blame_latest();
                break_off(never_waits(&format!("{polls} polls"), world.now));
            }
            if !world.has_helpers(process) || !self.is_busy(&world, process) {
                world.update_waiting(process);
            }
        }
    }

    /// Whether another task of a process has something to do.
    fn is_busy(&mut self, world: &World<S>, process: ProcessId) -> bool {
        let executor = &self.shared.executor;
        executor.drain_ready(&mut self.ready);
        let mut ready = self.ready.iter();
        ready.any(|task| {
            executor
                .label(*task)
                .is_some_and(|label| label.process == process)
        }) || world.spawned.iter().any(|(of, _)| of.process == process)
    }

    /// Does what the world wants done with tasks.
    fn take_over(&mut self) {
        let (killed, spawned) = {
            let mut world = self.shared.world.borrow_mut();
            self.ready.append(&mut world.awakened);
            (
                std::mem::take(&mut world.killed),
                std::mem::take(&mut world.spawned),
            )
        };
        for process in killed {
            self.shared
                .executor
                .drop_tasks(|label| label.process == process);
        }
        for (thread, task) in spawned {
            let of_recipe = matches!(task, Task::OfRecipe(_));
            let shared = Rc::clone(&self.shared);
            let task: LocalFuture<'static, ()> = match task {
                Task::OfRecipe(task) => task,
                Task::ContenderAgain => {
                    Box::pin(contender::run(shared, thread.contender, Start::Again))
                }
                Task::Operation(operation) => operation(shared),
            };
            let task = self.shared.executor.spawn(thread, task);
            let index = task.0 as usize;
            if self.helpers.len() <= index {
                self.helpers.resize(index + 1, false);
            }
            self.helpers[index] = of_recipe;
        }
    }

    fn finish(self, ended: Result<Ended, Broken>) -> Simulated {
        let mut simulated = {
            let mut world = self.shared.world.borrow_mut();
            match ended {
                Ok(_) if self.shared.executor.strayed() => world.break_off(woken_from_outside()),
                Ok(why) => world.write_the_end(why),
                Err(why) => {
                    let why = self.broken(&world, why);
                    world.break_off(why);
                }
            }
            world.recorder.counts.engine_events = self.events;
            let section = world.plan.workload.section;
            let facts = Facts {
                lease: world.lease,
                lease_least: world.plan.service.lease(),
                reaction: world.reaction(),
                progress_bound: world.progress_bound,
                bypass_bound: world.plan.workload.bypass_bound,
                starvation_bound: world.plan.workload.starvation_bound,
                initial_value: section.initial_value(),
                step: section.step(),
                floor: section.step().filter(|step| *step < 0).map(|_| 0),
                faults_planned: world.plan.faults.len() as u32,
                permits: world.plan.workload.permits(),
                permits_per_acquire: world.plan.workload.permits_per_acquire_of_each(),
                must_contend: world.plan.workload.wants_more_than_permits(),
                rendezvous: world.plan.rendezvous(),
                servers_decide_alone: world.plan.service.decides_alone(),
                held_by_session: world.plan.service.session_tick().is_some(),
            };
            let recorder = std::mem::take(&mut world.recorder);
            let hash = recorder.hash();
            let tape = std::mem::replace(&mut world.tape, Tape::recorded(Vec::new()));
            Simulated {
                run: Run {
                    history: recorder.history,
                    facts,
                    counts: recorder.counts,
                    lease_resets: std::mem::take(&mut world.lease_resets),
                    late_extensions: std::mem::take(&mut world.late_extensions),
                    for_good: world.gone_for_good(),
                    awaited: world.awaited(),
                    permits_left: S::permits_left(&world),
                },
                hash,
                samples: std::mem::take(&mut world.samples),
                choices: tape.into_choices(),
            }
        };
        // Tasks hold on to the world, and the world to what wakes them: let go of the tasks first.
        let executor = &self.shared.executor;
        if let Err(why) = caught(|| executor.drop_tasks(|_| true)) {
            let why = self.broken(&self.shared.world.borrow(), why);
            simulated.hash = !simulated.hash;
            simulated.run.history.broken.get_or_insert(why);
        }
        // What a task owns may do things when it is dropped.
        let spawned = std::mem::take(&mut self.shared.world.borrow_mut().spawned);
        drop(spawned);
        simulated
    }

    /// Why the run broke off, and whose code it was that ran.
    fn broken(&self, world: &World<S>, why: Broken) -> Broken {
        let running = self.shared.executor.running();
        let by = running.filter(|task| task.label.contender != NO_CONTENDER);
        let who = by.map(|task| {
            let by = task.label.contender;
            let name = world.recorder.history.contender(by);
            match self.helpers.get(task.task.0 as usize) {
                Some(true) => format!("a task of {name}"),
                Some(false) | None => format!("{name}'s {}", world.recorder.history.call(by)),
            }
        });
        Broken {
            who: why.who.or(who),
            ..why
        }
    }
}
