//! Contenders as the world sees them: when they come, what they say, and when everything has settled.

use std::time::Duration;

use picklock_checker::{ContenderId, EventKind, LockId, ServiceAnswer, VirtualTime};
use picklock_clients::completion::{Answer, Completion, completion};
use picklock_machines::Chance;

use super::SimulatedService;
use super::{NO_CONTENDER, World};
use crate::engine::TaskId;
use crate::event::Event;
use crate::network::Latency;
use crate::plan::{Arrival, Fault, LockCall, PlannedFault};
use crate::process::{ProcessId, ProcessState, Thread};
use crate::world::moment::{Moment, MomentKind};

impl<S: SimulatedService> World<S> {
    /// Writes down what a contender has to say, and tells the faults.
    #[inline(always)]
    pub fn record_contender_event(&mut self, by: ContenderId, what: EventKind) {
        if let EventKind::Released { by, lock } = what
            && let Some(begun) = self.contenders[by.0 as usize].releases_in_vain.take()
        {
            self.note_missing_answer(by, lock, begun);
        }
        self.record(what);
        let kind = match what {
            EventKind::AcquireStarted { .. } => MomentKind::Acquiring,
            EventKind::Acquired { .. } => {
                if self.draining {
                    let took = self.now.micros() - self.last_release.micros();
                    self.samples.handover.push(took);
                }
                self.start_next(by);
                MomentKind::Acquired
            }
            EventKind::Writing { .. } => MomentKind::Writing,
            EventKind::ReleaseStarted { by, lock } => {
                self.note_release_in_vain(by, lock);
                // The queue drains as long as a contender waits for what is released.
                self.draining = self.busy.acquiring > 0;
                self.last_release = self.now;
                MomentKind::Releasing
            }
            EventKind::Released { .. } => MomentKind::Released,
            // What a contender says besides is no moment to aim at.
            _ => return,
        };
        self.moment(Moment::new(by.0, kind));
    }

    /// A contender begins to release a lock: if it owns the lock no more, what it asks from now on is counted.
    #[inline]
    fn note_release_in_vain(&mut self, by: ContenderId, lock: LockId) {
        let in_vain = !self.ownerships[lock.0 as usize].is_owned_by(by);
        let unanswered = in_vain.then(|| S::unanswered(self, by)).flatten();
        self.contenders[by.0 as usize].releases_in_vain =
            unanswered.map(|number| (self.now, number));
    }

    /// A release that was in vain is said to be done: whether a request of it went without an answer, or may have.
    #[cold]
    fn note_missing_answer(&mut self, by: ContenderId, lock: LockId, begun: (VirtualTime, u64)) {
        let (since, unanswered) = begun;
        let long = self.now.since(since) > self.plan.service.tolerated_delay();
        if long || S::unanswered(self, by) > Some(unanswered) {
            let answer = ServiceAnswer::Missing;
            self.record(EventKind::Answered { by, lock, answer });
        }
    }

    /// A contender goes into `acquire`, or comes out of it.
    pub fn set_acquiring(&mut self, by: ContenderId, acquiring: bool) {
        let contender = &mut self.contenders[by.0 as usize];
        match (
            std::mem::replace(&mut contender.acquiring, acquiring),
            acquiring,
        ) {
            (false, true) => self.busy.acquiring += 1,
            (true, false) => {
                self.busy.acquiring -= 1;
                self.stops_waiting(by);
            }
            (true, true) | (false, false) => {}
        }
    }

    /// A contender goes to rest between two tries, or goes on.
    pub fn pauses(&mut self, by: ContenderId, pauses: bool) {
        if let Some(contender) = self.contenders.get_mut(by.0 as usize) {
            contender.pauses = match pauses {
                true => contender.pauses + 1,
                false => contender.pauses.saturating_sub(1),
            };
        }
    }

    /// The signal that cancels such a call of this contender, if the plan does so some time.
    pub fn cancellable(&mut self, by: ContenderId, of: LockCall) -> Option<Answer<()>> {
        let cancels = |fault: &PlannedFault| match fault.inject {
            Fault::Cancel { target, call } => (target.0, call) == (by.0, of),
            Fault::Stop { target } => {
                let drops = self.plan.recipe.cancellable && of == LockCall::Acquire;
                drops && target.0 == by.0
            }
            _ => false,
        };
        self.plan.faults.iter().any(cancels).then(|| {
            let (cancel, cancelled) = completion();
            let contender = &mut self.contenders[by.0 as usize];
            match of {
                LockCall::Acquire => contender.cancel = Some(cancel),
                LockCall::Release => contender.cancel_release = Some(cancel),
            }
            cancelled
        })
    }

    /// A contender comes to the lock.
    pub fn start(&mut self, by: ContenderId) {
        let Some(contender) = self.contenders.get_mut(by.0 as usize) else {
            return;
        };
        if !std::mem::replace(&mut contender.started, true) {
            self.busy.unstarted -= 1;
            if let Some(go) = contender.go.take() {
                go.complete(());
            }
        }
    }

    /// Lets a contender wait until it is to come; answers whether it has to.
    pub fn wait_to_start(&mut self, by: ContenderId, go: Completion<()>) -> bool {
        if by.0 == 0 {
            self.start(by);
        }
        let contender = &mut self.contenders[by.0 as usize];
        if !contender.started {
            contender.go = Some(go);
        }
        !contender.started
    }

    /// A contender holds the lock or waits for it: the next contender arrives.
    #[inline]
    pub fn start_next(&mut self, by: ContenderId) {
        match self.plan.workload.arrive {
            Arrival::Together | Arrival::Within(_) => {}
            Arrival::InOrder => self.start(ContenderId(by.0 + 1)),
            Arrival::BehindHolder | Arrival::InOrderBehindHolder => {
                // A contender that dies before it has started starts no other.
                let has_come = by.0 == 0 || self.contenders[by.0 as usize].started;
                if has_come && self.busy.unstarted > 0 {
                    self.arrive_in_turn();
                    for index in 0..self.contenders.len() {
                        self.start(ContenderId(index as u32));
                    }
                }
            }
        }
    }

    /// All contenders come at this moment: in their order, if the plan wants that.
    pub(crate) fn arrive_in_turn(&mut self) {
        if self.plan.workload.arrive == Arrival::InOrderBehindHolder {
            self.in_turn = self.now;
        }
    }

    /// Which of so many tasks that are ready runs: mostly it is up to the tape.
    pub fn choose_task(&mut self, ready: usize) -> usize {
        if self.now == self.in_turn {
            return 0;
        }
        self.tape.choose(ready as u32) as usize
    }

    /// Lets a holder wait until nothing is under way and all that want the lock wait for it.
    pub fn wait_until_settled(&mut self, by: ContenderId, settled: Completion<()>) {
        self.settled_waiters.insert(by, settled);
        // Where the waiting hear of it there is always a ping to come; elsewhere it may be quiet for ever.
        if S::WAITERS_ASK_AGAIN {
            self.timeline
                .add(self.now + Duration::from_secs(1), Event::QuiescenceCheck);
        }
    }

    /// Wakes the holders that wait until everything has settled, if it has.
    #[inline(always)]
    pub fn settle(&mut self) {
        if self.settled_waiters.is_empty() || self.is_unsettled() && !self.never_settles() {
            return;
        }
        self.all_settled();
    }

    /// It stands by itself: what would clean up behind a panic in it would keep the look from being written in.
    #[inline(never)]
    fn all_settled(&mut self) {
        for settled in std::mem::take(&mut self.settled_waiters).into_values() {
            settled.complete(());
        }
    }

    fn is_unsettled(&self) -> bool {
        // A contender that waits by asking again and again always has a request under way.
        (self.busy.requests > 0 && !S::WAITERS_ASK_AGAIN)
            || self.busy.notifications > 0
            || self.busy.unstarted > 0
            || self.busy.waiting < self.busy.acquiring
    }

    /// Whether tasks are to be woken, dropped, or added.
    #[inline]
    pub fn wants_tasks(&self) -> bool {
        // One test, not three: this is asked after every event.
        self.awakened.len() + self.killed.len() + self.spawned.len() > 0
    }

    /// Whether a task of a process may run now. If the process is paused, it will when that is over.
    pub fn may_run(&mut self, thread: Thread, task: TaskId) -> bool {
        let owner = &mut self.processes[thread.process.0 as usize];
        match owner.state {
            ProcessState::Running => self.has_processed(thread, task),
            ProcessState::Paused => {
                owner.sleepers.push(task);
                false
            }
            ProcessState::Crashed => false,
        }
    }

    /// Whether a process neither stands still nor is dead.
    #[inline]
    pub fn runs(&self, process: ProcessId) -> bool {
        self.all_run || self.processes[process.0 as usize].state == ProcessState::Running
    }

    /// Draws a duration from a range.
    pub fn draw(&mut self, range: (Duration, Duration)) -> Duration {
        Duration::from_micros(Latency::new(range).draw(&mut self.tape))
    }

    /// A value that was never written before.
    pub fn next_value(&mut self) -> i64 {
        self.values += 1;
        self.values
    }

    /// What an operator does runs in the last process.
    pub fn operator(&self) -> Thread {
        Thread {
            process: ProcessId(self.processes.len() as u32 - 1),
            contender: NO_CONTENDER,
        }
    }

    /// Looks, after code of a process has run, which of its contenders wait now.
    #[inline]
    pub fn update_waiting(&mut self, process: ProcessId) {
        if self.tasks.are_alone() {
            // A process is its contender, a bystander, or the operator.
            if self.tasks.are_in(process) {
                self.update_waiting_of(ContenderId(process.0));
            }
        } else {
            for by in self.tasks.of(process) {
                self.update_waiting_of(ContenderId(by));
            }
        }
    }

    #[inline]
    fn update_waiting_of(&mut self, by: ContenderId) {
        let contender = &self.contenders[by.0 as usize];
        if !contender.acquiring || contender.waiting || contender.pauses > 0 {
            return;
        }
        if self.is_processing(by) || !S::is_idle(self, by) {
            return;
        }
        let contender = &mut self.contenders[by.0 as usize];
        contender.waiting = true;
        self.busy.waiting += 1;
        if contender.woken && self.draining {
            self.recorder.counts.wasted_wakeups += 1;
        }
        contender.woken = false;
        self.moment(Moment::new(by.0, MomentKind::Waiting));
        self.start_next(by);
    }

    /// Whether other tasks than the contender's own may run in a process: those of its recipe, or another contender.
    #[inline]
    pub fn has_helpers(&self, process: ProcessId) -> bool {
        if self.tasks.are_alone() {
            let contender = self.contenders.get(process.0 as usize);
            return contender.is_some_and(|contender| contender.has_helpers);
        }
        let tasks = self.tasks.of(process);
        tasks.len() > 1 || { tasks }.any(|by| self.contenders[by as usize].has_helpers)
    }

    /// Stops counting a contender as one that waits.
    pub fn stops_waiting(&mut self, by: ContenderId) {
        let contender = &mut self.contenders[by.0 as usize];
        contender.woken = false;
        if contender.waiting {
            contender.waiting = false;
            self.busy.waiting -= 1;
        }
    }
}
