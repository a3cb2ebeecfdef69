//! Timers by the clock of a process.
//!
//! A clock may change its pace while a timer runs. A timer fires when the clock of its process shows its deadline, and
//! so the timers of a process are armed again whenever its clock drifts.

use std::time::Duration;

use picklock_checker::{ContenderId, VirtualTime};
use picklock_clients::completion::Completion;

use super::SimulatedService;
use super::World;
use super::tasks::Tasks;
use crate::event::Event;
use crate::plan::{Fault, Plan};
use crate::process::ProcessId;

/// The timers of those processes whose clocks will drift. Those of all others stand in the timeline.
pub(crate) struct LocalTimers {
    drifting: Vec<ProcessId>,
    armed: Vec<LocalTimer>,
}

struct LocalTimer {
    process: ProcessId,
    /// What the clock of its process shows when it fires.
    deadline: VirtualTime,
    done: Completion<()>,
}

impl LocalTimers {
    /// None is armed yet.
    pub fn of(plan: &Plan) -> Self {
        let tasks = Tasks::of_workload(&plan.workload);
        let drifts = plan.faults.iter().filter_map(|fault| match fault.inject {
            Fault::ClockDrift { target, .. } => Some(tasks.process_of(ContenderId(target.0))),
            _ => None,
        });
        Self {
            drifting: drifts.collect(),
            armed: Vec::new(),
        }
    }
}

impl<S: SimulatedService> World<S> {
    /// Completes `done` after this long by the clock of a process.
    pub fn sleep(&mut self, process: ProcessId, duration: Duration, done: Completion<()>) {
        let owner = &self.processes[process.0 as usize];
        let deadline = owner.monotonic(self.now) + duration;
        let until = owner.world_time(deadline);
        if !self.local_timers.drifting.contains(&process) {
            self.timeline.add(until, Event::Timer { process, done });
            return;
        }
        self.timeline.add(until, Event::LocalTimer { process });
        self.local_timers.armed.push(LocalTimer {
            process,
            deadline,
            done,
        });
    }

    /// Fires the timers of a process whose deadlines its clock has reached, the first that was armed first.
    #[cold]
    pub(crate) fn fire_local_timers(&mut self, process: ProcessId) {
        let now = self.processes[process.0 as usize].monotonic(self.now);
        let due = |timer: &mut LocalTimer| timer.process == process && timer.deadline <= now;
        let due: Vec<LocalTimer> = self.local_timers.armed.extract_if(.., due).collect();
        for timer in due {
            timer.done.complete(());
        }
    }

    /// A process has died, and its timers with it.
    pub(crate) fn drop_local_timers(&mut self, process: ProcessId) {
        self.local_timers
            .armed
            .retain(|timer| timer.process != process);
    }

    /// The clock of a process has changed its pace: its timers, and those of its clients, fire when it shows their
    /// deadlines. Events that were added before find no timer that is due.
    pub(crate) fn rearm_local_timers(&mut self, process: ProcessId) {
        let owner = &self.processes[process.0 as usize];
        for timer in &self.local_timers.armed {
            if timer.process == process {
                let until = owner.world_time(timer.deadline).max(self.now);
                self.timeline.add(until, Event::LocalTimer { process });
            }
        }
        self.rearm_clients(process);
    }

    /// What the clock of a process shows.
    #[inline]
    pub(crate) fn local_now(&self, process: ProcessId) -> VirtualTime {
        if self.clocks_agree {
            self.now
        } else {
            self.processes[process.0 as usize].monotonic(self.now)
        }
    }
}
