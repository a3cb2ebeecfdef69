//! Sections that hold several locks at once: each lock is acquired while those before it are held, and they are given
//! back in reverse, as nested blocks of `try` and `finally` do it.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use picklock_algorithms::{Held, Lock, LockError};
use picklock_checker::{EventKind, LockId, Token};

use super::calls::{failure, until_cancelled};
use super::locks::Locks;
use super::{Contender, Interrupted, TRY_AGAIN_AFTER};
use crate::plan::LockCall;
use crate::world::SimulatedService;

/// A lock that a section holds.
pub(super) struct Taken {
    pub(super) lock: LockId,
    pub(super) held: Held,
    notice: Notice,
}

/// What has come of a lock that it holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notice {
    None,
    /// A request to give the lock back.
    Revoked,
    /// It does not hold the lock any more.
    Lost,
}

impl Taken {
    pub(super) fn new(lock: LockId, held: Held) -> Self {
        let notice = Notice::None;
        Self { lock, held, notice }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.notice == Notice::Lost
    }
}

/// How far a round has come when it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Done,
    /// A call of `acquire` was dropped for good.
    Cancelled,
    /// A lock could not be had, or was lost: it is to be tried again.
    Failed,
}

impl<S: SimulatedService> Contender<S> {
    /// A round whose section holds several locks at once. Answers whether it is over.
    pub(super) async fn round_of_several(&mut self) -> bool {
        let multi = self.world().plan.recipe.build.multi_lock();
        match multi {
            Some(multi) => self.multi_round(multi).await,
            None => self.nested_round().await,
        }
    }

    /// Acquires each lock of the round, does the section, and gives them back. Answers whether the round is over.
    async fn nested_round(&mut self) -> bool {
        self.renew_if_closed();
        let (order, mode) = (self.locks_of_round(), self.mode_of_round());
        self.mode = mode;
        // They stand apart from the contender meanwhile: one is called while others are listened to.
        let mut locks = std::mem::take(&mut self.locks);
        let mut taken = Vec::with_capacity(order.len());
        let mut round = Round::Done;
        for lock in order {
            round = self.take(lock, &mut locks, &mut taken).await;
            if round != Round::Done {
                break;
            }
        }
        if round == Round::Done {
            round = self.nested_section(&locks, &mut taken).await;
        }
        self.give_back(&mut locks, taken).await;
        self.locks = locks;
        if round == Round::Failed {
            self.sleep(TRY_AGAIN_AFTER).await;
        }
        round != Round::Failed
    }

    /// Acquires one more lock, while those that are taken are held.
    async fn take(&mut self, lock: LockId, locks: &mut Locks, taken: &mut Vec<Taken>) -> Round {
        self.world().contenders[self.id.0 as usize].lock = lock;
        let cancel = locks.cancel_call(lock, self.mode);
        self.begin_call(lock, self.mode, cancel).await;
        let limits = self.limits(locks.have_timed_acquire());
        // `cancel` of an object that has such a call is never called: the thread itself waits.
        let stops = self.world().plan.recipe.is_interruptible();
        let result = {
            let (lock, others) = locks.one_and_others(lock);
            let call = limits.call(lock);
            self.while_holding(call, &others, taken, stops).await
        };
        self.world().set_acquiring(self.id, false);
        match result {
            // A waiting thread that learns of a loss is interrupted, where the library lets that out.
            None => {
                self.note_cancelled().await;
                return Round::Failed;
            }
            Some(None) => {
                self.note_cancelled().await;
                return Round::Cancelled;
            }
            Some(Some(Err(error))) => {
                self.note_failed(error).await;
                return Round::Failed;
            }
            Some(Some(Ok(held))) => {
                self.note_acquired(&held).await;
                taken.push(Taken::new(lock, held));
            }
        }
        match taken.iter().all(|hold| hold.notice == Notice::None) {
            true => Round::Done,
            false => Round::Failed,
        }
    }

    /// The section under all locks.
    pub(super) async fn nested_section(&mut self, locks: &Locks, taken: &mut [Taken]) -> Round {
        let with_token = |hold: &Taken| (hold.lock, hold.held.token.map(Token));
        let held: Vec<(LockId, Option<Token>)> = taken.iter().map(with_token).collect();
        let ended = {
            let section = self.section(&held);
            self.while_holding(section, &locks.all(), taken, true).await
        };
        match ended {
            Some(Ok(())) => return Round::Done,
            Some(Err(Interrupted { lock, why })) => {
                let of_lock = taken.iter_mut().find(|hold| hold.lock == lock);
                of_lock.into_iter().for_each(|hold| self.notify(hold, why));
            }
            None => {}
        }
        // A request that was sent cannot be called back: no other contender may own the lock before it is answered, as
        // far as this one can help it.
        self.write_answered().await;
        // A holder that was asked for a lock, and has lost none, has had its turn.
        match taken.iter().any(Taken::is_lost) {
            true => Round::Failed,
            false => Round::Done,
        }
    }

    /// Gives back what was taken, in reverse.
    async fn give_back(&mut self, locks: &mut Locks, mut taken: Vec<Taken>) {
        while let Some(Taken { lock, held, notice }) = taken.pop() {
            let (by, lost) = (self.id, notice == Notice::Lost);
            if !lost {
                self.world().belief_ends(by, lock);
            }
            let cancelled = match lost {
                true => None,
                false => self.cancellation(LockCall::Release),
            };
            if !lost {
                self.record(EventKind::ReleaseStarted { by, lock }).await;
            }
            let result = {
                let (lock, others) = locks.one_and_others(lock);
                let release = until_cancelled(lock.release(held), cancelled);
                self.while_holding(release, &others, &mut taken, false)
                    .await
            };
            // What is left of a lost lock is given back, and the result is ignored.
            if let Some(result) = result
                && !lost
            {
                self.note_released(lock, result).await;
            }
        }
    }

    /// What a future comes to. Meanwhile it may be told that it has lost what it holds, or is to give it back;
    /// `None` if that stops it.
    async fn while_holding<T>(
        &self,
        future: impl Future<Output = T>,
        locks: &[(LockId, &dyn Lock)],
        taken: &mut [Taken],
        stops: bool,
    ) -> Option<T> {
        let mut future = pin!(future);
        let holds: Vec<Held> = taken.iter().map(|hold| hold.held.clone()).collect();
        let mut news = Vec::new();
        for (index, hold) in holds.iter().enumerate() {
            let mut known = locks.iter().filter(|(lock, _)| *lock == taken[index].lock);
            if let Some((_, lock)) = known.next().filter(|_| !taken[index].is_lost()) {
                news.push((index, *lock, lock.lost(hold)));
            }
        }
        poll_fn(|context| {
            // A contender that has decided to write when it stood still writes before it hears of anything.
            if let Poll::Ready(done) = future.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            news.retain_mut(|(index, lock, lost)| {
                let Poll::Ready(why) = lost.as_mut().poll(context) else {
                    return true;
                };
                self.notify(&mut taken[*index], why);
                if taken[*index].is_lost() {
                    return false;
                }
                // What is only asked for may be lost before it is given back.
                *lost = lock.lost(&holds[*index]);
                context.waker().wake_by_ref();
                true
            });
            let stopped = taken.iter().any(|hold| hold.notice != Notice::None);
            match stopped && stops {
                true => Poll::Ready(None),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// It is notified that it does not hold a lock any more, or is to give it back.
    fn notify(&self, taken: &mut Taken, why: LockError) {
        let (by, lock) = (self.id, taken.lock);
        let mut world = self.world();
        if why == LockError::Revoked {
            taken.notice = Notice::Revoked;
            world.record_contender_event(by, EventKind::Revoked { by, lock });
            return;
        }
        let why = failure(why);
        taken.notice = Notice::Lost;
        world.belief_ends(by, lock);
        world.record_contender_event(by, EventKind::Lost { by, lock, why });
    }
}
