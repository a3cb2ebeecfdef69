//! Contenders: who wants the lock, what they do while they have it, and what they believe.

mod calls;
mod conversion;
mod locks;
mod multi;
mod nested;
mod process_memory;
mod reaper;
mod recorded;
mod restored_lock;
mod section;

use std::cell::{RefCell, RefMut};
use std::ops::ControlFlow::{self, Break, Continue};
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::{CancelCall, Held, LockError};
use picklock_checker::{ContenderId, EventKind, LockId, Mode, Token};
use picklock_clients::Env;
use picklock_clients::completion::{Answer, Completions, completion};

use crate::plan::{Arrival, ContenderName, LockCall};
use crate::process::{ProcessId, ProcessState};
use crate::simulated_environment::environment;
use crate::world::Shared;
use crate::world::SimulatedService;
use crate::world::World;
use calls::{failure, until_cancelled};
use locks::Locks;
use process_memory::ProcessMemory;
use recorded::Recorded;

/// Whether a contender comes for the first time, or in the place of one that has died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    First,
    Again,
}

/// After a failed `acquire`, or a hold that was lost before its section was done, a contender comes back so much later.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Runs a contender: as many rounds as it has left, and then it has finished.
///
/// While it waits for the lock, it is polled after each message. So the call stands in no other future, and what it
/// does not need then lies elsewhere: all that a poll looks at here is in one line of the cache.
pub(crate) async fn run<S: SimulatedService>(shared: Rc<Shared<S>>, id: ContenderId, start: Start) {
    let mut contender = Box::new(Contender::new(shared, id));
    if start == Start::First {
        contender.arrive().await;
    }
    if let Some(interval) = contender.reaper_interval() {
        return contender.reap(interval).await;
    }
    if contender.is_releaser() {
        return contender.release_for_others().await;
    }
    while contender.has_rounds_left() {
        if contender.holds_several() {
            let round = Box::pin(contender.round_of_several());
            if round.await && contender.ends_round() {
                contender.think().await;
            }
            continue;
        }
        let got = loop {
            contender.begin().await;
            let result = contender.call().await;
            if let Break(got) = contender.handle_result(result).await {
                break got;
            }
        };
        if contender.has_used(got).await && contender.ends_round() {
            contender.think().await;
        }
    }
    contender.finish();
}

struct Contender<S: SimulatedService> {
    shared: Rc<Shared<S>>,
    id: ContenderId,
    process: ProcessId,
    env: Env,
    /// What it has in common with the other tasks of its process, if there are any.
    memory: Option<Rc<ProcessMemory>>,
    locks: Locks,
    /// The lock that it takes in this round, and in which mode.
    lock: LockId,
    mode: Mode,
    /// What a fault cancels the `acquire` by that it is about to call.
    cancelled: Option<Answer<()>>,
    /// What sleeps and answers of the resource came in before, and others may again.
    sleeps: Completions<()>,
    answers: Completions<i64>,
    /// The answer to the write that it has sent last, until it has come.
    unanswered: RefCell<Option<Answer<i64>>>,
}

/// How a section ended early: which lock is not held any more, and how that is known.
struct Interrupted {
    lock: LockId,
    why: LockError,
}

impl<S: SimulatedService> Contender<S> {
    fn new(shared: Rc<Shared<S>>, id: ContenderId) -> Self {
        let thread = shared.world.borrow().thread_of(id);
        let process = thread.process;
        let memory = ProcessMemory::of(&shared, thread);
        let env = match &memory {
            Some(memory) => memory.env(&shared, thread),
            None => environment(&shared, thread),
        };
        let locks = Locks::connect(&shared, id, &env, memory.as_deref());
        let helpers = locks.renew_sessions();
        let stop_calls = locks.stop_calls();
        {
            let contender = &mut shared.world.borrow_mut().contenders[id.0 as usize];
            (contender.has_helpers, contender.stop_calls) = (helpers, stop_calls);
        }
        Self {
            shared,
            id,
            process,
            env,
            memory,
            locks,
            lock: LockId::default(),
            mode: Mode::Exclusive,
            cancelled: None,
            sleeps: Completions::default(),
            answers: Completions::default(),
            unanswered: RefCell::default(),
        }
    }

    fn world(&self) -> RefMut<'_, World<S>> {
        self.shared.world.borrow_mut()
    }

    fn sleep(&self, duration: Duration) -> Answer<()> {
        let (done, slept) = self.sleeps.completion();
        self.world().sleep(self.process, duration, done);
        slept
    }

    /// Waits for its turn to come to the lock at all.
    async fn arrive(&self) {
        let (arrive, after) = {
            let workload = &self.shared.world.borrow().plan.workload;
            let name = ContenderName(self.id.0);
            let own = workload.settings_of(name);
            (workload.arrive, own.and_then(|own| own.arrive_after))
        };
        if let Some(after) = after {
            self.sleep(after).await;
        }
        match arrive {
            Arrival::Together => self.world().start(self.id),
            Arrival::Within(span) => {
                let wait = self.world().draw((Duration::ZERO, span));
                self.sleep(wait).await;
                self.world().start(self.id);
            }
            Arrival::InOrder | Arrival::BehindHolder | Arrival::InOrderBehindHolder => {
                let (go, gone) = completion();
                if self.world().wait_to_start(self.id, go) {
                    gone.await;
                }
            }
        }
    }

    async fn think(&self) {
        let think = {
            let mut world = self.world();
            let range = world.plan.workload.think_of(ContenderName(self.id.0));
            if range == (Duration::ZERO, Duration::ZERO) {
                return;
            }
            world.draw(range)
        };
        if !think.is_zero() {
            self.sleep(think).await;
        }
    }

    fn has_rounds_left(&self) -> bool {
        let contender = &self.world().contenders[self.id.0 as usize];
        contender.rounds_left > 0 && !contender.stops
    }

    /// A round is over. Answers whether there are others.
    fn ends_round(&self) -> bool {
        self.world().contenders[self.id.0 as usize].rounds_left -= 1;
        self.has_rounds_left()
    }

    fn finish(&self) {
        let mut world = self.world();
        world.record(EventKind::Finished { by: self.id });
        world.leaves(self.id);
    }

    /// Is about to try to get the lock.
    async fn begin(&mut self) {
        self.renew_if_closed();
        let (lock, mode) = (self.lock_of_round(), self.mode_of_round());
        let cancel = self.locks.cancel_call(lock, mode);
        self.begin_call(lock, mode, cancel).await;
    }

    /// Is about to call `acquire` of a lock, which may have a call of its own to cancel it.
    async fn begin_call(&mut self, lock: LockId, mode: Mode, cancel: Option<CancelCall>) {
        let by = self.id;
        (self.lock, self.mode) = (lock, mode);
        self.cancelled = self.cancellation(LockCall::Acquire);
        self.world().contenders[by.0 as usize].cancel_call = cancel;
        self.record(EventKind::AcquireStarted { by, lock, mode })
            .await;
    }

    /// Handles the result of a call: the lock is held, or the call was cancelled, or is to be tried again.
    async fn handle_result(
        &mut self,
        done: Option<Result<Held, LockError>>,
    ) -> ControlFlow<Option<Held>> {
        self.world().set_acquiring(self.id, false);
        match done {
            None => {
                self.note_cancelled().await;
                Break(None)
            }
            Some(Ok(held)) => Break(Some(held)),
            Some(Err(error)) => {
                self.note_failed(error).await;
                self.sleep(TRY_AGAIN_AFTER).await;
                match self.has_rounds_left() {
                    true => Continue(()),
                    false => Break(None),
                }
            }
        }
    }

    /// The call of `acquire` was dropped.
    fn note_cancelled(&self) -> Recorded<'_, S> {
        let (by, lock) = (self.id, self.lock);
        self.record(EventKind::Cancelled { by, lock })
    }

    /// The call of `acquire` has failed.
    fn note_failed(&self, error: LockError) -> Recorded<'_, S> {
        let (by, lock) = (self.id, self.lock);
        let (why, definite) = (failure(error), error.definite());
        self.record(EventKind::AcquireFailed {
            by,
            lock,
            why,
            definite,
        })
    }

    /// The call of `acquire` has returned the lock.
    fn note_acquired(&self, held: &Held) -> Recorded<'_, S> {
        let (by, lock, mode) = (self.id, self.lock, self.mode);
        let token = held.token.map(Token);
        self.world().belief_begins(by, lock, held);
        self.record(EventKind::Acquired {
            by,
            lock,
            token,
            mode,
        })
    }

    /// Whether a round is over: its section is done, or was given up. One that has lost the lock wants it still.
    async fn has_used(&mut self, got: Option<Held>) -> bool {
        match got {
            Some(held) => self.use_lock(held).await,
            None => true,
        }
    }

    /// Uses the lock, and gives it back. Answers whether the section was done.
    async fn use_lock(&mut self, held: Held) -> bool {
        let (by, lock) = (self.id, self.lock);
        self.note_acquired(&held).await;
        let entered = self.enter_again().await;
        let ended = if let Err(why) = entered {
            Err(Interrupted { lock, why })
        } else {
            self.section_of(&held).await
        };
        let (held, ended) = match (ended, self.conversion()) {
            (Ok(()), Some(to)) => self.convert(held, to).await,
            (ended, Some(_) | None) => (held, ended),
        };
        let ended = match ended {
            Err(Interrupted {
                why: LockError::Revoked,
                ..
            }) => {
                self.revoked(lock).await;
                Ok(())
            }
            ended => ended,
        };
        self.world().belief_ends(by, lock);
        match ended {
            Ok(()) => {
                let cancelled = self.cancellation(LockCall::Release);
                self.record(EventKind::ReleaseStarted { by, lock }).await;
                let result = if let Some(to) = self.releaser() {
                    self.send_owner(lock, to).await
                } else {
                    let release = self.locks.of_mut(lock).release(held);
                    until_cancelled(release, cancelled).await
                };
                self.note_released(lock, result).await;
                true
            }
            Err(Interrupted { why: error, .. }) => {
                let why = failure(error);
                self.record(EventKind::Lost { by, lock, why }).await;
                // A request that was sent cannot be called back: no other contender may own the lock before it is
                // answered, as far as this one can help it.
                self.write_answered().await;
                // Whatever is left of it is given back; if the session is gone, nothing is.
                let _nothing_left = self.locks.of_mut(lock).release(held).await;
                self.sleep(TRY_AGAIN_AFTER).await;
                false
            }
        }
    }

    /// A holder that is asked for the lock gives it back before its section is done, and has had its turn. A request
    /// that it sent cannot be called back: it is still the owner when that is answered.
    #[cold]
    async fn revoked(&self, lock: LockId) {
        let by = self.id;
        self.record(EventKind::Revoked { by, lock }).await;
        self.write_answered().await;
    }

    /// The call of `release` has ended; `None`: it was dropped.
    fn note_released(
        &self,
        lock: LockId,
        result: Option<Result<(), LockError>>,
    ) -> Recorded<'_, S> {
        let by = self.id;
        self.record(match result {
            None => EventKind::ReleaseCancelled { by, lock },
            Some(Ok(())) => EventKind::Released { by, lock },
            Some(Err(error)) => {
                let why = failure(error);
                EventKind::ReleaseFailed { by, lock, why }
            }
        })
    }

    /// Says what has happened. A fault that waits for it may stop the process right here.
    ///
    /// It is written into each place that says something, so that the compiler knows there what is said.
    #[inline(always)]
    fn record(&self, what: EventKind) -> Recorded<'_, S> {
        let mut world = self.world();
        world.record_contender_event(self.id, what);
        drop(world);
        self.goes_on()
    }

    /// Whether its process has died, so that nothing of it is recorded any more.
    fn is_dead(&self) -> bool {
        let state = self.world().processes[self.process.0 as usize].state;
        state == ProcessState::Crashed
    }

    /// Resolves when it may go on: mostly at once.
    fn goes_on(&self) -> Recorded<'_, S> {
        let runs = self.world().runs(self.process);
        Recorded { by: self, runs }
    }
}
