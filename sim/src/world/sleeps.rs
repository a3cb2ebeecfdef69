//! Sleeps, by the clock of the process that sleeps.
//!
//! A clock may change its pace while somebody sleeps. Who sleeps until a moment of this clock wakes when the clock
//! shows it, and so the alarms of a process are set again whenever its clock drifts.

use std::time::Duration;

use picklock_algorithms::clients::completion::Completion;
use picklock_checker::VirtualTime;

use super::World;
use super::faults::process;
use crate::event::{ClientId, Event};
use crate::plan::{Fault, Plan};
use crate::process::ProcessId;

/// The sleeps of those processes whose clocks will drift. All others sleep in the timeline.
pub(super) struct Sleeps {
    drifting: Vec<ProcessId>,
    asleep: Vec<Sleep>,
}

struct Sleep {
    process: ProcessId,
    /// What its clock shows when it has slept enough.
    until: VirtualTime,
    done: Completion<()>,
}

impl Sleeps {
    /// Nobody sleeps yet.
    pub fn of(plan: &Plan) -> Self {
        let drifts = plan.faults.iter().filter_map(|fault| match fault.inject {
            Fault::ClockDrift { target, .. } => Some(process(target)),
            _ => None,
        });
        Self {
            drifting: drifts.collect(),
            asleep: Vec::new(),
        }
    }
}

impl World {
    /// Completes `done` after this long by the clock of a process.
    pub fn sleep(&mut self, process: ProcessId, duration: Duration, done: Completion<()>) {
        let owner = &self.processes[process.0 as usize];
        let local = owner.monotonic(self.now) + duration;
        let until = owner.world_time(local);
        if !self.sleeps.drifting.contains(&process) {
            self.timeline.add(until, Event::Timer { process, done });
            return;
        }
        self.timeline.add(until, Event::Alarm { process });
        self.sleeps.asleep.push(Sleep {
            process,
            until: local,
            done,
        });
    }

    /// Completes the sleeps of a process that are over by its clock, the first that began first.
    #[cold]
    pub(super) fn wake_sleepers(&mut self, process: ProcessId) {
        let now = self.processes[process.0 as usize].monotonic(self.now);
        let over = |sleep: &mut Sleep| sleep.process == process && sleep.until <= now;
        let over: Vec<Sleep> = self.sleeps.asleep.extract_if(.., over).collect();
        for sleep in over {
            sleep.done.complete(());
        }
    }

    /// The dead do not wake.
    pub(super) fn forget_sleepers(&mut self, process: ProcessId) {
        self.sleeps.asleep.retain(|sleep| sleep.process != process);
    }

    /// The clock of a process has changed its pace: whoever waits for a moment of it is woken when it shows it. Alarms
    /// that were set before find nobody.
    pub(super) fn set_alarms_again(&mut self, process: ProcessId) {
        let owner = &self.processes[process.0 as usize];
        for sleep in &self.sleeps.asleep {
            if sleep.process == process {
                let until = owner.world_time(sleep.until).max(self.now);
                self.timeline.add(until, Event::Alarm { process });
            }
        }
        for id in 0..self.clients.len() {
            if self.clients[id].process == process {
                self.set_alarm_again(ClientId(id as u32));
            }
        }
        self.set_alarms_of_redis_clients_again(process);
    }
}
