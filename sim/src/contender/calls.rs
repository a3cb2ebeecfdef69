//! The calls of a lock that a contender makes to get it.

use futures_lite::future;
use picklock_algorithms::{Held, LockError};

use super::Contender;
use crate::engine::ahead::Place;

impl Contender {
    /// `None` if it was cancelled.
    pub(super) async fn acquire(&mut self) -> Option<Result<Held, LockError>> {
        let cancelled = {
            let mut world = self.world();
            world.set_acquiring(self.process, true);
            world.cancellable(self.process)
        };
        let patience = self.shared.world.borrow().plan.workload.patience;
        // A recipe without such a call is dropped where it waits when the time is up.
        let limit = patience.filter(|_| !self.lock.has_timed_acquire());
        let limit = limit.map(|limit| {
            let (up, time) = self.sleeps.completion();
            self.world().sleep(self.process, limit, up);
            time
        });
        let acquire = match patience {
            Some(patience) if limit.is_none() => self.lock.acquire_within(patience),
            Some(_) | None => self.lock.acquire(),
        };
        let place = self.process.0 as usize;
        self.shared.world.borrow_mut().contenders[place].call = Place::of(&*acquire);
        let acquire = async {
            match limit {
                None => acquire.await,
                Some(time) => {
                    let late = async {
                        time.await;
                        Err(LockError::TimedOut)
                    };
                    future::or(acquire, late).await
                }
            }
        };
        let result = match cancelled {
            None => Some(acquire.await),
            Some(cancelled) => {
                let acquire = async { Some(acquire.await) };
                let cancelled = async {
                    cancelled.await;
                    None
                };
                future::or(acquire, cancelled).await
            }
        };
        self.world().set_acquiring(self.process, false);
        result
    }

    /// Enters the lock again, and leaves all but the first entry.
    pub(super) async fn enter_again(&mut self) -> Result<(), LockError> {
        let again = self.shared.world.borrow().plan.workload.entries - 1;
        let mut entered = Vec::new();
        for _ in 0..again {
            self.world().set_acquiring(self.process, true);
            let held = self.lock.acquire().await;
            self.world().set_acquiring(self.process, false);
            entered.push(held?);
        }
        while let Some(held) = entered.pop() {
            self.lock.release(held).await?;
        }
        Ok(())
    }
}
