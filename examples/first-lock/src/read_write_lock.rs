//! A read-write lock over ZooKeeper: one queue of readers and writers.

use std::rc::Rc;

use picklock::algorithms::clients::zookeeper::{Path, ZooKeeper, until_answered};
use picklock::algorithms::zookeeper::queue::{
    Ticket, child, delete_own, if_there, make_ticket_of, session_lost,
};
use picklock::algorithms::{Env, Held, Lock, LockError, OwnershipRule, Place, Recipe, async_trait};

const READ: &str = "-read-";
const WRITE: &str = "-write-";

/// A reader waits for the nearest writer ahead of it, or only for a writer just ahead.
pub fn recipe(name: &'static str, looks_past_readers: bool) -> Recipe {
    let ownership =
        OwnershipRule::readers_and_writers(|name| Some(Place::of_reader_if(name.contains(READ))));
    let build = move |zk, env, lock| -> Box<dyn Lock> {
        Box::new(ReadWriteLock {
            zk,
            env,
            lock,
            looks_past_readers,
        })
    };
    Recipe {
        ownership,
        ..Recipe::over_zookeeper(name, build)
    }
}

struct ReadWriteLock {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    looks_past_readers: bool,
}

impl ReadWriteLock {
    /// Queues with this mark in the name of the node, and waits until its turn has come.
    async fn queue(&self, mark: &str) -> Result<Ticket, LockError> {
        let guid = self.env.guid();
        let prefix: Path = [&*self.lock, "/", &guid, mark].concat().into();
        let ticket = make_ticket_of(&self.zk, &self.lock, &guid, &prefix).await?;
        loop {
            let children = until_answered(|| self.zk.children(&self.lock)).await?;
            let queue = children.sorted_by_sequence();
            let ours = queue.position(ticket.name());
            let ours = ours.ok_or(LockError::PlaceLost)?;
            let mut ahead = (0..ours).rev().filter_map(|index| queue.get(index));
            let is_writer = |name: &&Rc<str>| name.contains(WRITE);
            let ahead = match (mark, self.looks_past_readers) {
                (READ, true) => ahead.find(is_writer),
                (READ, false) => ahead.next().filter(is_writer),
                _ => ahead.next(),
            };
            let Some(ahead) = ahead else {
                return Ok(ticket);
            };
            let ahead = child(&self.lock, ahead);
            let watch = until_answered(|| self.zk.exists_and_watch(&ahead)).await?;
            if let Some(gone) = if_there(watch) {
                gone.next().await;
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for ReadWriteLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let ticket = self.queue(WRITE).await?;
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        Ok(Held::at(self.queue(READ).await?.path))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
