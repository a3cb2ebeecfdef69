//! The calls of a lock that a contender makes to get it.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use picklock_algorithms::{Held, Lock, LockError};
use picklock_checker::{EntryStep, EventKind, Failure, Mode};
use picklock_clients::completion::Answer;
use picklock_clients::env::LocalFuture;

use super::{Contender, Recorded};
use crate::plan::{ContenderName, LockCall};
use crate::world::SimulatedService;

/// A call of `acquire`, and what may end it before it returns.
pub(super) struct Call<'a> {
    /// Until the client has a session, nothing is called: an application waits for its connection first.
    first_session: Option<LocalFuture<'a, ()>>,
    acquire: LocalFuture<'a, Result<Held, LockError>>,
    /// The time for which we wanted to wait is over.
    late: Option<Answer<()>>,
    cancelled: Option<Answer<()>>,
    cancel: Cancel,
}

/// What becomes of a call that is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cancel {
    /// It is dropped.
    Drops,
    /// The lock object has been told, and the call goes on until it looks.
    IsHeard,
    /// This has come to pass.
    WasHeard,
}

impl Future for Call<'_> {
    /// `None` if it was cancelled.
    type Output = Option<Result<Held, LockError>>;

    /// An acquired lock counts, even if the call is about to give up at the same time.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.has_session(context)
            && let Poll::Ready(result) = self.acquire.as_mut().poll(context)
        {
            let cancelled = result == Err(LockError::Cancelled) && self.was_cancelled(context);
            return Poll::Ready((!cancelled).then_some(result));
        }
        if has_resolved(&mut self.late, context) {
            return Poll::Ready(Some(Err(LockError::TimedOut)));
        }
        if has_resolved(&mut self.cancelled, context) {
            if self.cancel == Cancel::Drops {
                return Poll::Ready(None);
            }
            (self.cancel, self.cancelled) = (Cancel::WasHeard, None);
        }
        Poll::Pending
    }
}

/// What limits a call of `acquire`, and in which mode it is.
pub(super) struct Limits {
    first_session: Option<LocalFuture<'static, ()>>,
    timeout: Option<Duration>,
    late: Option<Answer<()>>,
    cancelled: Option<Answer<()>>,
    reads: bool,
}

impl Limits {
    /// Calls `acquire` of a lock within these limits.
    pub(super) fn call(self, lock: &mut dyn Lock) -> Call<'_> {
        let has_cancel_call = self.cancelled.is_some()
            && match self.reads {
                true => lock.cancel_call_shared().is_some(),
                false => lock.cancel_call().is_some(),
            };
        let acquire = match self.timeout {
            Some(timeout) if self.late.is_none() => match self.reads {
                true => lock.acquire_shared_within(timeout),
                false => lock.acquire_within(timeout),
            },
            Some(_) | None if self.reads => lock.acquire_shared(),
            Some(_) | None => lock.acquire(),
        };
        Call {
            first_session: self.first_session,
            acquire,
            late: self.late,
            cancelled: self.cancelled,
            cancel: match has_cancel_call {
                true => Cancel::IsHeard,
                false => Cancel::Drops,
            },
        }
    }
}

impl Call<'_> {
    #[inline(always)]
    fn has_session(&mut self, context: &mut Context<'_>) -> bool {
        self.first_session.is_none() || self.has_session_now(context)
    }

    /// Whether this call was cancelled, and not an earlier one.
    #[cold]
    fn was_cancelled(&mut self, context: &mut Context<'_>) -> bool {
        self.cancel == Cancel::WasHeard || has_resolved(&mut self.cancelled, context)
    }

    #[cold]
    fn has_session_now(&mut self, context: &mut Context<'_>) -> bool {
        if let Some(first) = &mut self.first_session
            && first.as_mut().poll(context).is_pending()
        {
            return false;
        }
        self.first_session = None;
        true
    }
}

/// Whether an optional answer has resolved.
pub(super) fn has_resolved(answer: &mut Option<Answer<()>>, context: &mut Context<'_>) -> bool {
    let answer = answer.as_mut().map(|answer| Pin::new(answer).poll(context));
    answer.is_some_and(|answer| answer.is_ready())
}

impl<S: SimulatedService> Contender<S> {
    /// Calls `acquire`.
    pub(super) fn call(&mut self) -> Call<'_> {
        let timed = self.locks.have_timed_acquire();
        let limits = self.limits(timed);
        limits.call(self.locks.of_mut(self.lock))
    }

    /// What limits the call of `acquire` that is about to be made, of locks that have a timed one, or not.
    pub(super) fn limits(&mut self, have_timed_acquire: bool) -> Limits {
        let cancelled = self.cancelled.take();
        let timeout = {
            let mut world = self.world();
            world.set_acquiring(self.id, true);
            let name = ContenderName(self.id.0);
            world.plan.workload.acquire_timeout_of(name)
        };
        // A recipe without such a call is dropped where it waits when the time is up.
        let limit = timeout.filter(|_| !have_timed_acquire);
        let late = limit.map(|limit| self.sleep(limit));
        let first_session = S::first_session(&self.shared, self.id);
        Limits {
            first_session,
            timeout,
            late,
            cancelled,
            reads: self.mode == Mode::Shared,
        }
    }

    /// What a fault cancels such a call by. It is there before the history says that the call begins: a fault may wait
    /// for just that.
    pub(super) fn cancellation(&self, of: LockCall) -> Option<Answer<()>> {
        self.world().cancellable(self.id, of)
    }

    /// Enters the lock again, and leaves all but the first entry.
    pub(super) async fn enter_again(&mut self) -> Result<(), LockError> {
        let again = self.world().plan.workload.reentrancy_depth - 1;
        let mut entered = Vec::new();
        for _ in 0..again {
            self.reentry(EntryStep::Asks).await;
            self.world().set_acquiring(self.id, true);
            let lock = self.locks.of_mut(self.lock);
            let held = match self.mode {
                Mode::Exclusive => lock.acquire().await,
                Mode::Shared => lock.acquire_shared().await,
            };
            self.world().set_acquiring(self.id, false);
            entered.push(held?);
            self.reentry(EntryStep::Enters).await;
        }
        while let Some(held) = entered.pop() {
            self.locks.of_mut(self.lock).release(held).await?;
            self.reentry(EntryStep::Leaves).await;
        }
        Ok(())
    }

    fn reentry(&self, step: EntryStep) -> Recorded<'_, S> {
        let (by, lock) = (self.id, self.lock);
        self.record(EventKind::Reentry { by, lock, step })
    }
}

/// What a call of `release` comes to. `None` if it is dropped where it waits.
pub(super) async fn until_cancelled(
    mut release: LocalFuture<'_, Result<(), LockError>>,
    cancelled: Option<Answer<()>>,
) -> Option<Result<(), LockError>> {
    let Some(mut cancelled) = cancelled else {
        return Some(release.await);
    };
    // An answer counts, even if the call is about to give up at the same time.
    poll_fn(|context| match release.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => Pin::new(&mut cancelled).poll(context).map(|()| None),
    })
    .await
}

/// Why a call failed, as the history has it.
pub(super) fn failure(error: LockError) -> Failure {
    match error {
        LockError::SessionExpired => Failure::SessionExpired,
        LockError::ConnectionLoss => Failure::ConnectionLoss,
        LockError::PlaceLost => Failure::PlaceLost,
        LockError::Disconnected => Failure::Disconnected,
        LockError::Refused | LockError::NotHeld | LockError::Revoked => Failure::Refused,
        LockError::AlreadyHeld => Failure::AlreadyHeld,
        LockError::Cancelled => Failure::Cancelled,
        LockError::TimedOut | LockError::AcquireTimeout => Failure::TimedOut,
        LockError::LeaseLapsed => Failure::LeaseLapsed,
    }
}
