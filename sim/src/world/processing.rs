//! The time that passes in a process between what arrives and what its code does about it.
//!
//! A task that is woken, by an answer, a notification, or a timer, runs when the time of its contender has passed, and
//! then sees all that has arrived meanwhile. A process that stands still meanwhile goes on with it afterwards.

use std::time::Duration;

use picklock_checker::ContenderId;

use super::SimulatedService;
use super::World;
use super::moment::{Moment, MomentKind};
use crate::engine::{Tape, TaskId};
use crate::event::Event;
use crate::network::{Latency, RequestId};
use crate::plan::{ContenderName, Plan, Trigger};
use crate::process::{ProcessId, Thread};

/// How long the code of each contender takes, and the tasks that have been woken and have not run yet.
pub(crate) struct Processing {
    times: Vec<Latency>,
    woken: Vec<WokenTask>,
    last_number: u32,
}

/// A task that has been woken, and runs when it is due.
struct WokenTask {
    number: u32,
    thread: Thread,
    task: TaskId,
    due: bool,
}

impl Processing {
    /// None, if no contender takes any time.
    pub(crate) fn of(plan: &Plan) -> Option<Box<Self>> {
        if plan.processing_at_most().is_zero() {
            return None;
        }
        let names = (0..plan.workload.contenders).map(ContenderName);
        let times = names.map(|name| Latency::new(plan.workload.processing_of(name)));
        Some(Box::new(Self {
            times: times.collect(),
            woken: Vec::new(),
            last_number: 0,
        }))
    }

    /// When a task that is to run does so. `None`: now.
    fn begin(&mut self, thread: Thread, task: TaskId, tape: &mut Tape) -> Option<(u32, Duration)> {
        let times = self.times.get(thread.contender.0 as usize)?;
        let time = times.draw(tape);
        if time == 0 {
            return None;
        }
        self.last_number += 1;
        let number = self.last_number;
        self.woken.push(WokenTask {
            number,
            thread,
            task,
            due: false,
        });
        Some((number, Duration::from_micros(time)))
    }
}

impl<S: SimulatedService> World<S> {
    /// Whether every task that is woken runs at once.
    #[inline]
    pub fn all_run_at_once(&self) -> bool {
        self.all_run && self.processing.is_none()
    }

    /// Whether the time has passed that a contender takes until a task of it runs. If not, the task runs when it has.
    pub(crate) fn has_processed(&mut self, thread: Thread, task: TaskId) -> bool {
        let Some(processing) = &mut self.processing else {
            return true;
        };
        let mut woken = processing.woken.iter();
        if let Some(found) = woken.position(|woken| woken.task == task) {
            let due = processing.woken[found].due;
            if due {
                processing.woken.remove(found);
            }
            return due;
        }
        let Some((number, time)) = processing.begin(thread, task, &mut self.tape) else {
            return true;
        };
        let process = thread.process;
        let event = Event::Processed { process, number };
        self.timeline.add(self.now + time, event);
        false
    }

    /// The time has passed after which a task runs.
    #[cold]
    pub(crate) fn processed(&mut self, number: u32) {
        let Some(processing) = &mut self.processing else {
            return;
        };
        // It may have died with its process.
        let mut all = processing.woken.iter_mut();
        if let Some(woken) = all.find(|woken| woken.number == number) {
            woken.due = true;
            self.awakened.push(woken.task);
        }
    }

    /// The tasks of a process that has died do not run any more.
    pub(crate) fn drop_woken_tasks(&mut self, process: ProcessId) {
        if let Some(processing) = &mut self.processing {
            let woken = &mut processing.woken;
            woken.retain(|task| task.thread.process != process);
        }
    }

    /// Whether a task of a contender has been woken, and has not run yet.
    #[inline]
    pub(crate) fn is_processing(&self, by: ContenderId) -> bool {
        let processing = self.processing.as_ref();
        processing.is_some_and(|state| state.woken.iter().any(|task| task.thread.contender == by))
    }

    /// Whether a fault or the log of moments needs to know which answers reach their clients.
    fn watches_answers(&self) -> bool {
        let waits = |when: &Trigger| matches!(when, Trigger::Received { .. });
        let mut faults = self.plan.faults.iter();
        faults.any(|fault| waits(&fault.when)) || self.notes_received()
    }

    /// Whether it is a moment to aim at that an answer has been received: where no time passes until the code of the
    /// process runs on, it is as good as the moment at which the answer is sent.
    fn notes_received(&self) -> bool {
        self.seen.is_some() && self.processing.is_some()
    }

    /// An answer sets out to the contender that asked.
    pub(crate) fn answer_sets_out(&mut self, by: u32, request: RequestId, kind: MomentKind) {
        if let MomentKind::Answered(kind) = kind
            && self.watches_answers()
        {
            self.answers_under_way.push((by, request, kind));
        }
    }

    /// An answer of those that fit, the first, is about to reach its client. What there is to be said when it has.
    pub(crate) fn answer_arrives(&mut self, fits: impl Fn(RequestId) -> bool) -> Option<Moment> {
        let mut under_way = self.answers_under_way.iter();
        let found = under_way.position(|(_, request, _)| fits(*request))?;
        let (by, request, kind) = self.answers_under_way.remove(found);
        Some(Moment::new(by, MomentKind::Received(kind)).about(request))
    }
}
