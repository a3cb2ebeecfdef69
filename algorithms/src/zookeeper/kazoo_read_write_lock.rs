//! kazoo's `ReadLock` and `WriteLock` on one path, with a listener that ends the section when the connection is lost.
//!
//! # Source
//!
//! kazoo 2.11, `recipe/lock.py`: `ReadLock`, `WriteLock`. Both are `Lock` (`kazoo_lock`) with other names.
//!
//! # Steps
//!
//! Those of `kazoo_lock`, but for the nodes of which the last lower one is ahead:
//!
//! - `WriteLock` makes `UUID__lock__` nodes, and waits for those with `__lock__` or `__rlock__` in their names.
//! - `ReadLock` makes `UUID__rlock__` nodes, and waits for those with `__lock__`: for the writer nearest below.
//!
//! # Guarantees
//!
//! - As of `kazoo_lock`; readers hold the lock together, and no writer starves (`fifo`).
//!
//! # Hazards
//!
//! - Those of `kazoo_lock`. There is no token.
//! - `ReadLock` used to wait for writers with higher numbers, too, which wait for it in turn (#649;
//!   `shared_locks_later_writers`, scenario `zookeeper/shared-locks`).

use std::time::Duration;

use async_trait::async_trait;

use super::kazoo_lock::{KazooLock, Names};
use crate::clients::kazoo::KazooClient;
use crate::{Build, CancelCall, Held, Lock, LockError, OwnershipRule, Place, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "kazoo-read-write-lock",
    summary: "kazoo's ReadLock and WriteLock: two locks in one queue, and a listener.",
    source: "kazoo 2.11, recipe/lock.py, ReadLock and WriteLock",
    ownership: OwnershipRule::readers_and_writers(|name| {
        Some(Place::of_reader_if(name.contains(READ_LOCK.node_name)))
    }),
    build: Build::ZooKeeper(&|zk, env, path| {
        let client = KazooClient::of_process(zk, &env);
        let lock = |names| KazooLock::new(client.clone(), path.clone(), &env, names);
        Box::new(ReadWriteLock {
            read_lock: lock(READ_LOCK),
            write_lock: lock(WRITE_LOCK),
        })
    }),
    ..super::kazoo_lock::RECIPE
};

const READ_LOCK: Names = Names {
    node_name: "__rlock__",
    exclude_names: &["__lock__"],
};

const WRITE_LOCK: Names = Names {
    node_name: "__lock__",
    exclude_names: &["__lock__", "__rlock__"],
};

struct ReadWriteLock {
    read_lock: KazooLock,
    write_lock: KazooLock,
}

/// Whether it is held to read.
fn reads(held: &Held) -> bool {
    held.path_or_key.contains(READ_LOCK.node_name)
}

#[async_trait(?Send)]
impl Lock for ReadWriteLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.write_lock.acquire().await
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.write_lock.acquire_within(time).await
    }

    async fn acquire_shared(&mut self) -> Result<Held, LockError> {
        self.read_lock.acquire().await
    }

    async fn acquire_shared_within(&mut self, time: Duration) -> Result<Held, LockError> {
        self.read_lock.acquire_within(time).await
    }

    fn cancel_call(&self) -> Option<CancelCall> {
        self.write_lock.cancel_call()
    }

    fn cancel_call_shared(&self) -> Option<CancelCall> {
        self.read_lock.cancel_call()
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        match reads(&held) {
            true => self.read_lock.release(held).await,
            false => self.write_lock.release(held).await,
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        match reads(held) {
            true => self.read_lock.lost(held).await,
            false => self.write_lock.lost(held).await,
        }
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
