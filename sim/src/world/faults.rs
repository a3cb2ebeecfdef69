//! Injects faults, and heals them.

use std::time::Duration;

use picklock_checker::{EventKind, FaultId, VirtualTime, time::whole_micros};

use super::SimulatedService;
use super::message_fates::fate_by;
use super::{MessageFate, Operation, Task, World};
use crate::event::Event;
use crate::plan::{ContenderName, Fault, FaultDuration, LockCall};
use crate::process::{ProcessId, ProcessState, Thread};

impl<S: SimulatedService> World<S> {
    /// A fault that strikes again and again does so once more, unless the storm is over.
    #[cold]
    pub(crate) fn strike_again(&mut self, fault: usize) {
        match self.faults[fault].strikes_left.checked_sub(1) {
            None => self.over(fault),
            Some(left) => {
                self.faults[fault].strikes_left = left;
                let _of_no_answer = self.strike(fault);
            }
        }
    }

    /// A fault strikes. Answers what becomes of the answer to the request that it strikes, if it is about that.
    #[cold]
    pub(crate) fn strike(&mut self, fault: usize) -> Option<MessageFate> {
        let every = self.plan.faults[fault].repeat.and_then(|again| again.every);
        if let Some(every) = every
            && self.faults[fault].strikes_left > 0
        {
            self.faults_active += 1;
            self.timeline
                .add(self.now + every, Event::StrikeAgain { fault });
        }
        self.record(EventKind::FaultFired {
            fault: FaultId(fault as u32),
        });
        let plan = std::rc::Rc::clone(&self.plan);
        self.striking = fault;
        self.all_run = false;
        let lasts = self.inject(&plan.faults[fault].inject);
        match lasts {
            None => self.over(fault),
            Some(length) => self.timeline.add(self.now + length, Event::Heal { fault }),
        }
        if plan.faults[fault].inject.is_for_good() {
            self.note_gone_for_good(fault);
        }
        self.chain(fault);
        self.update_all_run();
        fate_by(&plan.faults[fault].inject)
    }

    /// Breaks something; answers how long it lasts, if it has to be healed.
    fn inject(&mut self, fault: &Fault) -> Option<Duration> {
        match *fault {
            Fault::Pause { target, length } => {
                self.pause(self.process_named(target), length);
                length.duration()
            }
            Fault::Crash {
                target,
                restart_after,
            } => {
                // One that is dead already stays as dead as it is.
                let dies = self.crash(self.process_named(target), restart_after.is_some());
                restart_after.filter(|_| dies)
            }
            Fault::Cancel { target, call } => {
                self.cancel(target, call);
                None
            }
            Fault::Stop { target } => {
                self.stop(target);
                None
            }
            Fault::Cut { target } => {
                self.cut_connections_of(self.process_named(target));
                None
            }
            Fault::BlackHole { .. }
            | Fault::SlowLink { .. }
            | Fault::LosePackets { .. }
            | Fault::Flap { .. } => self.inject_on_link(fault),
            Fault::LoseRequest { .. } => {
                self.request_fate = Some(MessageFate::Lost);
                None
            }
            Fault::DelayRequest { by, .. } => {
                self.request_fate = Some(MessageFate::Late(whole_micros(by)));
                None
            }
            // What becomes of an answer, the strike says.
            Fault::SwallowReply { .. }
            | Fault::LoseReply { .. }
            | Fault::LoseMessage { .. }
            | Fault::DelayReply { .. } => None,
            Fault::ClockJump { target, by_millis } => {
                let process = self.process_named(target);
                self.processes[process.0 as usize].jump(by_millis.saturating_mul(1_000));
                None
            }
            Fault::ClockDrift {
                target,
                parts_per_million,
                ..
            } => {
                self.clocks_agree = false;
                self.clock_changes_pace(self.process_named(target), parts_per_million.into());
                let length = self.plan.lasts(fault)?.duration()?;
                self.lasts_until(self.now + length);
                Some(length)
            }
            Fault::CrashServer { .. }
            | Fault::HangServer { .. }
            | Fault::IsolateServer { .. }
            | Fault::Partition { .. }
            | Fault::HoldLink { .. } => self.inject_at_server(fault),
            // What only this service has.
            _ => S::inject(self, fault),
        }
    }

    /// A contender drops its pending call.
    fn cancel(&mut self, target: ContenderName, call: LockCall) {
        let contender = &mut self.contenders[target.0 as usize];
        let cancel = match call {
            LockCall::Acquire => contender.cancel.take(),
            LockCall::Release => contender.cancel_release.take(),
        };
        if let Some(cancel) = cancel {
            cancel.complete(());
        }
        // It is a call of an object, which remembers it, also when no acquire is pending.
        if let (LockCall::Acquire, Some(cancel)) = (call, &contender.cancel_call) {
            cancel();
        }
    }

    /// A contender is asked to stop: the section that it is in is its last, and it waits for no other.
    fn stop(&mut self, target: ContenderName) {
        let contender = &mut self.contenders[target.0 as usize];
        contender.stops = true;
        contender.stop_calls.iter().for_each(|stop| stop());
        if contender.acquiring && self.plan.recipe.cancellable {
            self.cancel(target, LockCall::Acquire);
        }
    }

    /// A fault is undone.
    #[cold]
    pub(crate) fn heal(&mut self, fault: usize) {
        let plan = std::rc::Rc::clone(&self.plan);
        match &plan.faults[fault].inject {
            Fault::Pause { target, .. } => self.resume(self.process_named(*target)),
            Fault::Crash { target, .. } => self.restart(self.process_named(*target)),
            Fault::CrashServer { .. } | Fault::PowerLoss { .. } | Fault::HangServer { .. } => {
                self.heal_servers(fault);
            }
            Fault::ClockDrift { target, .. } => self.drift_ends(fault, *target),
            Fault::SlowLink { target, .. } | Fault::LosePackets { target, .. } => {
                self.delays_end(fault, *target);
            }
            inject => S::heal(self, fault, inject),
        }
        self.record(EventKind::FaultHealed {
            fault: FaultId(fault as u32),
        });
        self.over(fault);
        self.update_all_run();
    }

    fn over(&mut self, fault: usize) {
        self.faults_active -= 1;
        // Not at once: another fault may wait for this one.
        self.hold_off_calm(self.plan.faults[fault].inject.lingers());
    }

    /// The process stands still until the last pause that has struck it is over. One that is dead does so anyway.
    fn pause(&mut self, target: ProcessId, length: FaultDuration) {
        if length == FaultDuration::ForGood {
            self.all_leave(target);
        }
        let until = self.until(length);
        let process = &mut self.processes[target.0 as usize];
        if process.state == ProcessState::Crashed {
            return;
        }
        process.paused_until = process.paused_until.max(until);
        if process.state == ProcessState::Running {
            for by in self.tasks_of(target) {
                self.note_expiry_by_own_clock(by);
            }
            self.processes[target.0 as usize].state = ProcessState::Paused;
            self.record_of_each(target, |by| EventKind::Paused { by });
        }
    }

    fn resume(&mut self, target: ProcessId) {
        let process = &mut self.processes[target.0 as usize];
        if process.state != ProcessState::Paused || process.paused_until > self.now {
            return;
        }
        process.state = ProcessState::Running;
        let backlog = std::mem::take(&mut process.backlog);
        self.awakened.append(&mut process.sleepers);
        self.record_of_each(target, |by| EventKind::Resumed { by });
        for by in self.tasks_of(target) {
            self.runs_again(by);
        }
        for event in backlog {
            self.dispatch_from_backlog(event);
        }
        S::process_resumed(self, target);
    }

    /// A drift is over. Of those that are not, the clocks keep the pace of the last that has struck.
    fn drift_ends(&mut self, fault: usize, target: ContenderName) {
        self.is_over(fault);
        let process = self.process_named(target);
        let plan = std::rc::Rc::clone(&self.plan);
        let mut left = self.struck.lasting.iter().rev();
        let pace = left.find_map(|strike| match plan.faults[strike.fault].inject {
            Fault::ClockDrift {
                target,
                parts_per_million,
                ..
            } if self.process_named(target) == process => Some(parts_per_million),
            _ => None,
        });
        self.clock_changes_pace(process, pace.unwrap_or(0).into());
    }

    /// The clocks of a process run fast, or slow, from now on.
    fn clock_changes_pace(&mut self, target: ProcessId, parts_per_million: i64) {
        for by in self.tasks_of(target) {
            self.note_expiry_by_own_clock(by);
        }
        self.processes[target.0 as usize].drift(self.now, parts_per_million);
        self.rearm_local_timers(target);
    }

    /// The process dies, unless it has, and all of its tasks with it. Its kernel closes its connections.
    fn crash(&mut self, target: ProcessId, comes_back: bool) -> bool {
        if self.processes[target.0 as usize].state == ProcessState::Crashed {
            if !comes_back {
                self.all_leave(target);
            }
            return false;
        }
        for by in self.tasks_of(target) {
            self.beliefs_end_of(by);
            self.ownerships.iter_mut().for_each(|lock| lock.dies(by));
        }
        let process = &mut self.processes[target.0 as usize];
        process.state = ProcessState::Crashed;
        // Another process will take its place, which is not paused.
        process.paused_until = VirtualTime::ZERO;
        let backlog = std::mem::take(&mut process.backlog);
        process.sleepers.clear();
        for event in &backlog {
            self.drop_for_dead_process(target, event);
        }
        self.drop_local_timers(target);
        self.drop_woken_tasks(target);
        self.killed.push(target);
        self.record_of_each(target, |by| EventKind::Crashed { by });
        for by in self.tasks_of(target) {
            self.stops_waiting(by);
            self.set_acquiring(by, false);
            self.contenders[by.0 as usize].holding = false;
        }
        self.clients_die(target);
        if !comes_back {
            self.all_leave(target);
        }
        true
    }

    /// The contenders of a process will do nothing any more.
    fn all_leave(&mut self, target: ProcessId) {
        for by in self.tasks_of(target) {
            self.leaves(by);
        }
    }

    /// An operator does something in a shell.
    pub(crate) fn operate(&mut self, operation: Operation<S>) {
        self.spawned
            .push((self.operator(), Task::Operation(operation)));
    }

    /// A new process takes the place of a dead one, with nothing in memory.
    fn restart(&mut self, target: ProcessId) {
        let crashed = self.processes[target.0 as usize].state == ProcessState::Crashed;
        if !crashed || self.is_process_gone_for_good(target) {
            return;
        }
        self.processes[target.0 as usize].state = ProcessState::Running;
        self.record_of_each(target, |by| EventKind::Restarted { by });
        for contender in self.tasks_of(target) {
            let process = target;
            let thread = Thread { process, contender };
            self.spawned.push((thread, Task::ContenderAgain));
        }
    }

    /// Brings back what a fault has taken from servers, unless another has taken it for longer.
    fn heal_servers(&mut self, fault: usize) {
        let hangs = matches!(self.plan.faults[fault].inject, Fault::HangServer { .. });
        for server in self.servers_healed_of(fault) {
            if self.is_server_gone_for_good(server) {
                continue;
            }
            if hangs {
                self.resume_server(server);
            } else {
                self.restart_server(server);
            }
        }
    }
}
