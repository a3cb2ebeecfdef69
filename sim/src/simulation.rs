//! A simulation: one plan, one tape, one run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use picklock_checker::{ContenderId, Ended, Facts, Run};

use crate::chance::Chance;
use crate::contender::{self, Start};
use crate::engine::sandbox::Sandbox;
use crate::engine::{Executor, Tape, TaskId};
use crate::plan::Plan;
use crate::process::{ProcessId, ProcessState};
use crate::samples::Samples;
use crate::shared::Shared;
use crate::world::World;

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

/// Runs a plan with the choices of a seed.
pub fn simulate(plan: &Plan, seed: u64) -> Simulated {
    simulate_with(plan, Tape::from_seed(seed))
}

/// Runs a plan with the choices of a tape.
pub fn simulate_with(plan: &Plan, tape: Tape) -> Simulated {
    // The sandbox's own seed feeds what must not be asked; any difference that it made would be a bug.
    Sandbox::run(0, |sandbox| Simulation::new(plan, tape).run(sandbox))
}

struct Simulation {
    shared: Rc<Shared>,
    ready: Vec<TaskId>,
}

impl Simulation {
    fn new(plan: &Plan, tape: Tape) -> Self {
        let plan = Rc::new(plan.clone());
        let workload = plan.workload.clone();
        let shared = Rc::new_cyclic(|shared| Shared {
            world: RefCell::new(World::new(plan, tape, shared.clone())),
            executor: Executor::default(),
            drawn: Cell::new(0),
        });
        for place in 0..workload.contenders {
            let task = contender::run(Rc::clone(&shared), ContenderId(place), Start::First);
            shared.executor.spawn(ProcessId(place), Box::pin(task));
        }
        for place in 0..workload.bystanders {
            let process = ProcessId(workload.contenders + place);
            let task = contender::bystand(Rc::clone(&shared), process);
            shared.executor.spawn(process, Box::pin(task));
        }
        Self {
            shared,
            ready: Vec::new(),
        }
    }

    fn run(mut self, mut sandbox: Sandbox) -> Simulated {
        let budget = self.shared.world.borrow().plan.event_budget;
        let mut events = 0;
        let why = loop {
            self.run_ready();
            let event = {
                let mut world = self.shared.world.borrow_mut();
                world.end_if_over();
                if let Some(why) = world.ended {
                    break why;
                }
                world.timeline.take()
            };
            let Some((at, event)) = event else {
                break Ended::OutOfBudget;
            };
            events += 1;
            if events > budget {
                break Ended::OutOfBudget;
            }
            sandbox.advance_to(at.micros());
            let mut world = self.shared.world.borrow_mut();
            world.now = at;
            world.recorder.mix(at.micros() ^ event.word() << 20);
            world.happen(event);
            world.settle();
        };
        self.finish(why, events)
    }

    /// Runs the contenders' code as long as there is something for it to do.
    fn run_ready(&mut self) {
        loop {
            self.take_over();
            if self.ready.is_empty() {
                return;
            }
            let choice = match self.ready.len() as u32 {
                1 => 0,
                several => self.shared.world.borrow_mut().tape.choose(several),
            };
            let task = self.ready.remove(choice as usize);
            let Some(process) = self.shared.executor.label(task) else {
                continue;
            };
            {
                let mut world = self.shared.world.borrow_mut();
                let owner = &mut world.processes[process.0 as usize];
                match owner.state {
                    ProcessState::Running => {}
                    ProcessState::Paused => {
                        owner.sleepers.push(task);
                        continue;
                    }
                    ProcessState::Crashed => continue,
                }
            }
            self.shared.executor.poll(task);
            self.shared.world.borrow_mut().look_at(process);
        }
    }

    /// Does what the world wants done with tasks, and takes over what is ready.
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
            self.shared.executor.drop_tasks(|label| label == process);
        }
        for (process, task) in spawned {
            self.shared.executor.spawn(process, task);
        }
        self.shared.executor.drain_ready(&mut self.ready);
    }

    fn finish(self, why: Ended, events: u64) -> Simulated {
        let simulated = {
            let mut world = self.shared.world.borrow_mut();
            world.write_the_end(why);
            world.recorder.counts.engine_events = events;
            let section = world.plan.workload.section;
            let facts = Facts {
                lease: world.lease,
                progress_bound: world.progress_bound,
                initial_value: section.initial_value(),
                step: section.step(),
                floor: section.step().filter(|step| *step < 0).map(|_| 0),
                faults_planned: world.plan.faults.len() as u32,
                must_contend: world.plan.workload.contenders > 1,
            };
            let recorder = std::mem::take(&mut world.recorder);
            let hash = recorder.hash();
            let tape = std::mem::replace(&mut world.tape, Tape::recorded(Vec::new()));
            Simulated {
                run: Run {
                    history: recorder.history,
                    facts,
                    counts: recorder.counts,
                },
                hash,
                samples: std::mem::take(&mut world.samples),
                choices: tape.into_choices(),
            }
        };
        // Tasks hold on to the world, and the world to what wakes them: let go of the tasks first.
        self.shared.executor.drop_tasks(|_| true);
        self.shared.world.borrow_mut().spawned.clear();
        simulated
    }
}
