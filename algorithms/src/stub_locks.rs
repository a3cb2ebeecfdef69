//! Locks of which acquire or release can fail, and the environment of their caller.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::env::{Environment, LocalFuture};
use crate::{Env, Held, Lock, LockError, MultiLock, MultiLockCall};
use async_trait::async_trait;

/// A lock that is free, and what its calls come to.
#[derive(Clone, Default)]
pub(crate) struct StubLock {
    pub(crate) is_acquired: Rc<Cell<bool>>,
    /// What its acquires fail with, one after the other; then they do not.
    pub(crate) acquire_fails: Vec<LockError>,
    pub(crate) release_fails: Option<LockError>,
    /// It is another's by the time that its lease is set.
    pub(crate) is_lost: bool,
    /// For how long it was acquired, and then held.
    pub(crate) leases: Rc<RefCell<Vec<Duration>>>,
    /// For how long it was waited for.
    pub(crate) waits: Rc<RefCell<Vec<Duration>>>,
}

#[async_trait(?Send)]
impl Lock for StubLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if !self.acquire_fails.is_empty() {
            return Err(self.acquire_fails.remove(0));
        }
        self.is_acquired.set(true);
        Ok(Held::at("/lock".into()))
    }

    async fn acquire_within(&mut self, timeout: Duration) -> Result<Held, LockError> {
        self.waits.borrow_mut().push(timeout);
        self.acquire().await
    }

    async fn acquire_leased(
        &mut self,
        timeout: Duration,
        lease: Duration,
    ) -> Result<Held, LockError> {
        self.leases.borrow_mut().push(lease);
        self.acquire_within(timeout).await
    }

    async fn expire(&mut self, _held: &Held, lease: Duration) -> Result<bool, LockError> {
        self.leases.borrow_mut().push(lease);
        Ok(!std::mem::take(&mut self.is_lost))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        if let Some(error) = self.release_fails {
            return Err(error);
        }
        self.is_acquired.set(false);
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        std::future::pending().await
    }
}

/// A task that sleeps here wakes up at once, and later by as much.
#[derive(Default)]
struct Instantly(Rc<Cell<Duration>>);

impl Environment for Instantly {
    fn monotonic(&self) -> Duration {
        self.0.get()
    }
    fn wall(&self) -> Duration {
        self.0.get()
    }
    fn sleep(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.0.set(self.0.get() + duration);
        Box::pin(std::future::ready(()))
    }
    fn spawn(&self, _: LocalFuture<'static, ()>) {}
    fn random(&self) -> u64 {
        0
    }
    fn host(&self) -> String {
        "here".to_owned()
    }
}

/// The environment of a caller.
pub(crate) fn env() -> Env {
    Env::new(Rc::new(Instantly::default()))
}

pub(crate) type Outcome = Result<(), LockError>;

/// The lease that callers ask for.
pub(crate) const LEASE: Duration = Duration::from_secs(10);

fn done<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// What acquire, and then release, come to; and which locks are acquired in the end.
pub(crate) fn acquire_and_release(
    all: &dyn MultiLock,
    wait: Option<Duration>,
    locks: &mut [StubLock],
) -> (Outcome, Option<Outcome>, Vec<bool>) {
    let is_acquired: Vec<Rc<Cell<bool>>> = locks
        .iter()
        .map(|lock| Rc::clone(&lock.is_acquired))
        .collect();
    let mut of: Vec<&mut dyn Lock> = locks.iter_mut().map(|lock| lock as &mut dyn Lock).collect();
    let env = env();
    let call = MultiLockCall {
        env: &env,
        wait,
        lease: LEASE,
    };
    let acquired = done(all.acquire(call, &mut of));
    let (acquired, released) = match acquired {
        Ok(held) => (Ok(()), Some(done(all.release(&mut of, held)))),
        Err(error) => (Err(error), None),
    };
    let acquired_in_the_end = is_acquired.iter().map(|lock| lock.get()).collect();
    (acquired, released, acquired_in_the_end)
}
