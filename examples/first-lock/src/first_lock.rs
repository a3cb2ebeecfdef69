//! A queue of sequential nodes.

use picklock::algorithms::clients::zookeeper::{Path, ZooKeeper, until_answered};
use picklock::algorithms::zookeeper::queue::{
    delete_own, if_there, make_ticket_with_guid, predecessor, session_lost,
};
use picklock::algorithms::{Env, Held, Lock, LockError, Recipe, async_trait};

/// A waiter that is woken has the lock, or looks at the queue again.
pub fn recipe(name: &'static str, looks_again: bool) -> Recipe {
    Recipe::over_zookeeper(name, move |zk, env, lock| {
        Box::new(FirstLock {
            zk,
            env,
            lock,
            looks_again,
        })
    })
}

struct FirstLock {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    looks_again: bool,
}

#[async_trait(?Send)]
impl Lock for FirstLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let (zk, lock) = (&self.zk, &self.lock);
        let ticket = make_ticket_with_guid(zk, lock, &self.env.guid()).await?;
        loop {
            let queue = until_answered(|| zk.children(lock)).await?;
            let Some(ahead) = predecessor(queue, lock, &ticket)? else {
                break;
            };
            let watch = until_answered(|| zk.exists_and_watch(&ahead)).await?;
            if let Some(gone) = if_there(watch) {
                gone.next().await;
            }
            if !self.looks_again {
                break;
            }
        }
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
