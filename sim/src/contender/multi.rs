//! Several locks by one call, as a multi-lock acquires them: all of them, or none.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::{Held, Lock, LockError, MultiLock, MultiLockCall};
use picklock_checker::{ContenderId, EventKind, LockId, Mode};
use picklock_clients::completion::Answer;
use picklock_clients::env::LocalFuture;

use super::calls::has_resolved;
use super::locks::Locks;
use super::nested::{Round, Taken};
use super::{Contender, TRY_AGAIN_AFTER};
use crate::plan::{ContenderName, LockCall};
use crate::world::{Shared, SimulatedService};

/// A call that acquires or releases several locks.
struct MultiCall<S: SimulatedService> {
    shared: Rc<Shared<S>>,
    by: ContenderId,
    /// Interrupts the call: the lock that it calls then ends with an error, and so does every later one that it would
    /// wait for.
    cancelled: RefCell<Option<Answer<()>>>,
    interrupted: Cell<bool>,
}

impl<S: SimulatedService> MultiCall<S> {
    fn new(by: &Contender<S>, of: LockCall) -> Self {
        Self {
            shared: Rc::clone(&by.shared),
            by: by.id,
            cancelled: RefCell::new(by.cancellation(of)),
            interrupted: Cell::new(false),
        }
    }

    /// Whether the thread is interrupted.
    fn is_interrupted(&self, context: &mut Context<'_>) -> bool {
        if !self.interrupted.get() && has_resolved(&mut self.cancelled.borrow_mut(), context) {
            self.interrupted.set(true);
        }
        self.interrupted.get()
    }

    /// What a call of `acquire` of one of the locks comes to, unless the thread is interrupted.
    async fn acquire(
        &self,
        lock: LockId,
        mut acquire: LocalFuture<'_, Result<Held, LockError>>,
    ) -> Result<Held, LockError> {
        self.shared.world.borrow_mut().contenders[self.by.0 as usize].lock = lock;
        poll_fn(|context| {
            if !self.interrupted.get()
                && let Poll::Ready(result) = acquire.as_mut().poll(context)
            {
                return Poll::Ready(result);
            }
            match self.is_interrupted(context) {
                true => Poll::Ready(Err(LockError::TimedOut)),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// The result of `release` of one of the locks. An interrupted call sends its request, and does not wait for the
    /// answer.
    async fn release(
        &self,
        mut release: LocalFuture<'_, Result<(), LockError>>,
    ) -> Result<(), LockError> {
        poll_fn(|context| match release.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending if self.is_interrupted(context) => Poll::Ready(Err(LockError::TimedOut)),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// The objects of these locks, as this call calls them.
    fn members<'a>(&'a self, locks: &'a mut Locks, order: &[LockId]) -> Vec<Member<'a, S>> {
        let objects = locks.some_of(order).into_iter();
        let members = objects.map(|(lock, object)| Member {
            lock,
            object,
            call: self,
        });
        members.collect()
    }
}

/// The locks of a call, in its order.
fn all_of<'m, S: SimulatedService>(members: &'m mut [Member<'_, S>]) -> Vec<&'m mut dyn Lock> {
    let mut all: Vec<&mut dyn Lock> = Vec::with_capacity(members.len());
    all.extend(members.iter_mut().map(|member| member as &mut dyn Lock));
    all
}

/// One of the locks of such a call.
struct Member<'a, S: SimulatedService> {
    lock: LockId,
    object: &'a mut dyn Lock,
    call: &'a MultiCall<S>,
}

#[async_trait(?Send)]
impl<S: SimulatedService> Lock for Member<'_, S> {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.call.acquire(self.lock, self.object.acquire()).await
    }

    fn has_timed_acquire(&self) -> bool {
        self.object.has_timed_acquire()
    }

    async fn acquire_within(&mut self, timeout: Duration) -> Result<Held, LockError> {
        let acquire = self.object.acquire_within(timeout);
        self.call.acquire(self.lock, acquire).await
    }

    async fn acquire_leased(
        &mut self,
        timeout: Duration,
        lease: Duration,
    ) -> Result<Held, LockError> {
        let acquire = self.object.acquire_leased(timeout, lease);
        self.call.acquire(self.lock, acquire).await
    }

    async fn expire(&mut self, held: &Held, lease: Duration) -> Result<bool, LockError> {
        self.object.expire(held, lease).await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.call.release(self.object.release(held)).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.object.lost(held).await
    }
}

impl<S: SimulatedService> Contender<S> {
    /// Acquires all locks of the round by one call, does the section, and gives them back by one call. Answers whether
    /// the round is over.
    pub(super) async fn multi_round(&mut self, multi: &'static dyn MultiLock) -> bool {
        self.renew_if_closed();
        let order = self.locks_of_round();
        self.mode = Mode::Exclusive;
        // They stand apart from the contender meanwhile: they are called together.
        let mut locks = std::mem::take(&mut self.locks);
        let round = match self.take_all(multi, &order, &mut locks).await {
            Ok(mut taken) => {
                let round = self.nested_section(&locks, &mut taken).await;
                self.give_back_all(multi, &mut locks, taken).await;
                round
            }
            Err(round) => round,
        };
        self.locks = locks;
        if round == Round::Failed {
            self.sleep(TRY_AGAIN_AFTER).await;
        }
        round != Round::Failed
    }

    /// It asks for all locks of a call.
    async fn begin_all(&mut self, order: &[LockId]) {
        let (by, mode) = (self.id, self.mode);
        for lock in order {
            self.world().contenders[by.0 as usize].lock = *lock;
            let asks = EventKind::AcquireStarted {
                by,
                lock: *lock,
                mode,
            };
            let _all_at_once = self.record(asks);
            if self.is_dead() {
                break;
            }
        }
        self.goes_on().await;
        self.world().set_acquiring(by, true);
        if let Some(first) = S::first_session(&self.shared, by) {
            first.await;
        }
    }

    /// Calls `acquire` of the multi-lock.
    async fn take_all(
        &mut self,
        multi: &'static dyn MultiLock,
        order: &[LockId],
        locks: &mut Locks,
    ) -> Result<Vec<Taken>, Round> {
        let call = MultiCall::new(self, LockCall::Acquire);
        self.begin_all(order).await;
        let by = self.id;
        let plan = Rc::clone(&self.world().plan);
        let asked = MultiLockCall {
            env: &self.env,
            wait: plan.workload.acquire_timeout_of(ContenderName(by.0)),
            lease: plan.service.lease(),
        };
        let result = {
            let mut members = call.members(locks, order);
            multi.acquire(asked, &mut all_of(&mut members)).await
        };
        self.world().set_acquiring(by, false);
        let mut taken = Vec::with_capacity(order.len());
        match result {
            Ok(held) => {
                assert_eq!(
                    held.len(),
                    order.len(),
                    "acquire returns a hold of each lock"
                );
                // One call returns all of them: it stands still before or after that.
                for (lock, held) in order.iter().zip(held) {
                    self.lock = *lock;
                    let _all_at_once = self.note_acquired(&held);
                    if self.is_dead() {
                        break;
                    }
                    taken.push(Taken::new(*lock, held));
                }
                self.goes_on().await;
                Ok(taken)
            }
            Err(error) => {
                let interrupted = call.interrupted.get();
                for lock in order {
                    self.lock = *lock;
                    match interrupted {
                        true => self.note_cancelled().await,
                        false => self.note_failed(error).await,
                    }
                }
                Err(match interrupted {
                    true => Round::Cancelled,
                    false => Round::Failed,
                })
            }
        }
    }

    /// Calls `release` of the multi-lock. Its locks include those that were lost, whose results are ignored.
    async fn give_back_all(
        &mut self,
        multi: &'static dyn MultiLock,
        locks: &mut Locks,
        taken: Vec<Taken>,
    ) {
        let by = self.id;
        let call = MultiCall::new(self, LockCall::Release);
        let still_held = taken.iter().filter(|hold| !hold.is_lost());
        let still_held: Vec<LockId> = still_held.map(|hold| hold.lock).collect();
        for lock in &still_held {
            self.world().belief_ends(by, *lock);
        }
        for lock in &still_held {
            let lock = *lock;
            let _all_at_once = self.record(EventKind::ReleaseStarted { by, lock });
            if self.is_dead() {
                break;
            }
        }
        self.goes_on().await;
        let order: Vec<LockId> = taken.iter().map(|hold| hold.lock).collect();
        let held = taken.into_iter().map(|hold| hold.held).collect();
        let result = {
            let mut members = call.members(locks, &order);
            multi.release(&mut all_of(&mut members), held).await
        };
        let result = (!call.interrupted.get()).then_some(result);
        for lock in still_held {
            self.note_released(lock, result).await;
        }
    }
}
