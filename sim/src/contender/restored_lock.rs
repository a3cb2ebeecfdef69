//! A lock that one contender takes and another gives back: the owner's name travels in a message of the application.

use picklock_algorithms::LockError;
use picklock_checker::{ContenderId, LockId};
use picklock_clients::completion::completion;

use super::Contender;
use super::calls::until_cancelled;
use crate::plan::ContenderName;
use crate::world::{RestoredLock, RestoredLocks, SimulatedService};

impl<S: SimulatedService> Contender<S> {
    /// Whether it wants no lock, and gives back what the others hold.
    pub(super) fn is_releaser(&self) -> bool {
        let releaser = self.shared.world.borrow().plan.workload.releaser();
        releaser == Some(ContenderName(self.id.0))
    }

    /// The contender that gives back what this one holds, if not itself.
    pub(super) fn releaser(&self) -> Option<ContenderId> {
        let releaser = self.shared.world.borrow().plan.workload.releaser();
        releaser.map(|name| ContenderId(name.0))
    }

    /// Sends the owner of a lock to another contender, and waits until that one has given it back. `None` if no word of
    /// it comes for a lease: the message is lost with a process that dies.
    pub(super) async fn send_owner(
        &self,
        lock: LockId,
        to: ContenderId,
    ) -> Option<Result<(), LockError>> {
        let Some(owner) = self.locks.of(lock).owner() else {
            return Some(Err(LockError::NotHeld));
        };
        let (takes, limit) = {
            let mut world = self.world();
            world.ownerships[lock.0 as usize].sends_owner(self.id, to);
            (world.message_takes(self.process), world.lease)
        };
        self.sleep(takes).await;
        let (released, answer) = completion();
        let sent = RestoredLock {
            lock,
            owner,
            released,
        };
        self.world().contenders[to.0 as usize].restored.send(sent);
        until_cancelled(Box::pin(answer), Some(self.sleep(limit))).await
    }

    /// Gives back what others hold, for as long as the process lives. The end of the run does not wait for it.
    pub(super) async fn release_for_others(&mut self) {
        if let Some(first) = S::first_session(&self.shared, self.id) {
            first.await;
        }
        // What was sent to a process that has died is lost with it.
        self.world().contenders[self.id.0 as usize].restored = RestoredLocks::default();
        self.finish();
        loop {
            let RestoredLock {
                lock,
                owner,
                released,
            } = self.next_restored().await;
            released.complete(self.locks.of_mut(lock).release_by(&owner).await);
        }
    }

    async fn next_restored(&self) -> RestoredLock {
        loop {
            let next = self.world().contenders[self.id.0 as usize].restored.next();
            match next {
                Ok(lock) => return lock,
                Err(more) => more.await,
            }
        }
    }
}
