//! Locks on one node: the contender that creates it, or writes into it, has the lock.

use std::future::pending;
use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::clients::zookeeper::{
    CreateMode, Path, Stat, ZkError, ZooKeeper, until_answered,
};
use picklock_algorithms::zookeeper::queue::child;
use picklock_algorithms::{
    Env, Held, Lock, LockError, OwnershipRule, Recipe, RecipeInput, timeout,
};

use crate::foreign_locks::common::{ForeignLock, Version, until_lost};

pub const LOCKS: [ForeignLock; 2] = [
    ForeignLock {
        name: "breaks-stale-locks",
        source: "lock files of cron wrappers, carried over to ZooKeeper in blog posts",
        flaw: "A waiter that finds a lock older than ten seconds by the wall clocks of two machines deletes it.",
        breaks: "own-release-only",
        takes: "a wall clock that jumps, of the holder or of a waiter",
        held_out: false,
        world: r#"
[service.zookeeper]
servers = 1
session-timeout = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "3s"
"#,
        recipe: |version| Recipe {
            ownership: OwnershipRule::NODE,
            inputs: &[RecipeInput::WallClock],
            ..Recipe::over_zookeeper("breaks-stale-locks", move |zk, env, lock| {
                let node = child(&lock, "holder");
                Box::new(StaleBreaker {
                    zk,
                    env,
                    node,
                    version,
                })
            })
        },
    },
    ForeignLock {
        name: "takes-over-unseen",
        source: "Kubernetes client-go, leader election without resourceVersion; HBASE-16144",
        flaw: "A waiter that sees no heartbeat for two leases writes its name without the version that it has read.",
        breaks: "mutual-exclusion",
        takes: "the death of a holder, and two who wait for the same time",
        held_out: true,
        world: r#"
[service.zookeeper]
servers = 1
session-timeout = "6s"
[workload]
contenders = 3
hold = "4s"
"#,
        recipe: |version| Recipe {
            ownership: OwnershipRule::DATA,
            ..Recipe::over_zookeeper("takes-over-unseen", move |zk, env, lock| {
                let node = child(&lock, "record");
                Box::new(Heartbeat {
                    zk,
                    env,
                    node,
                    version,
                    name: String::new(),
                })
            })
        },
    },
];

struct StaleBreaker {
    zk: ZooKeeper,
    env: Env,
    node: Path,
    version: Version,
}

const STALE: Duration = Duration::from_secs(10);

impl StaleBreaker {
    fn is_stale(&self, data: &[u8]) -> bool {
        let since = std::str::from_utf8(data)
            .ok()
            .and_then(|text| text.parse().ok());
        let since = Duration::from_millis(since.unwrap_or(u64::MAX));
        self.version == Version::AsWritten && self.env.wall() > since.saturating_add(STALE)
    }
}

#[async_trait(?Send)]
impl Lock for StaleBreaker {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Self { zk, env, node, .. } = &*self;
        loop {
            let now = env.wall().as_millis().to_string();
            match zk.create(node, now.as_bytes(), CreateMode::Ephemeral).await {
                Ok(_)
                | Err(ZkError::NodeExists | ZkError::ConnectionLoss | ZkError::RequestTimeout) => {}
                Err(error) => return Err(error.into()),
            }
            match until_answered(|| zk.data_and_watch(node)).await {
                Ok((_, stat, _)) if stat.ephemeral_owner == zk.session() => {
                    return Ok(Held::at(Path::clone(node)).with_token(stat.czxid.0));
                }
                Ok((since, _, _)) if self.is_stale(&since) => {
                    let _broken = zk.delete(node, None).await;
                }
                Ok((_, _, changed)) => {
                    timeout(env, Duration::from_secs(1), changed.next()).await;
                }
                Err(ZkError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let there = until_answered(|| self.zk.exists(&held.path_or_key)).await?;
        if there.is_none_or(|stat| Some(stat.czxid.0) != held.token) {
            return Ok(());
        }
        match self.zk.delete(&held.path_or_key, None).await {
            Ok(()) | Err(ZkError::NoNode) => Ok(()),
            // The node may be there, and goes with the session at the latest.
            Err(ZkError::ConnectionLoss | ZkError::RequestTimeout) => {
                Box::pin(self.release(held)).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        until_lost(&self.zk, &held.path_or_key).await
    }
}

/// A record that its holder writes again and again.
struct Heartbeat {
    zk: ZooKeeper,
    env: Env,
    node: Path,
    version: Version,
    name: String,
}

const LEASE: Duration = Duration::from_secs(3);

impl Heartbeat {
    /// Waits until the record is free, or has not changed for two leases. Answers which version may be written over.
    async fn free(&self) -> Result<Option<i32>, LockError> {
        let Self { zk, env, node, .. } = self;
        loop {
            match until_answered(|| zk.data_and_watch(node)).await {
                Ok((data, stat, _)) if data.is_empty() => return Ok(Some(stat.version)),
                Ok((_, stat, changed)) => {
                    if timeout(env, LEASE * 2, changed.next()).await.is_none() {
                        let seen = Some(stat.version);
                        return Ok(seen.filter(|_| self.version == Version::Mended));
                    }
                }
                Err(ZkError::NoNode) => match zk.create(node, b"", CreateMode::Persistent).await {
                    Ok(_) | Err(ZkError::NodeExists | ZkError::ConnectionLoss) => {}
                    Err(error) => return Err(error.into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The record, if it is ours.
    async fn ours(&self) -> Result<Stat, LockError> {
        let (data, stat) = until_answered(|| self.zk.data(&self.node)).await?;
        match *data == *self.name.as_bytes() {
            true => Ok(stat),
            false => Err(LockError::PlaceLost),
        }
    }

    /// Writes the record again and again: a holder that cannot for half a lease holds it no longer.
    async fn beats(&self) -> Result<(), LockError> {
        let mut seen = self.ours().await?.version;
        loop {
            self.env.sleep(LEASE / 4).await;
            let beat = self
                .zk
                .set_data(&self.node, self.name.as_bytes(), Some(seen));
            let beaten = timeout(&self.env, LEASE / 2, beat).await;
            seen = beaten.ok_or(LockError::TimedOut)??.version;
        }
    }
}

#[async_trait(?Send)]
impl Lock for Heartbeat {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            let seen = self.free().await?;
            self.name = self.env.guid();
            match self
                .zk
                .set_data(&self.node, self.name.as_bytes(), seen)
                .await
            {
                Ok(stat) => return Ok(Held::at(Path::clone(&self.node)).with_token(stat.mzxid.0)),
                Err(ZkError::BadVersion) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        loop {
            let seen = match self.ours().await {
                Ok(stat) => stat.version,
                Err(LockError::PlaceLost) => return Ok(()),
                Err(error) => return Err(error),
            };
            match self.zk.set_data(&held.path_or_key, b"", Some(seen)).await {
                Ok(_) => return Ok(()),
                Err(ZkError::BadVersion | ZkError::ConnectionLoss | ZkError::RequestTimeout) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match self.beats().await {
            Err(error) => error,
            Ok(()) => pending().await,
        }
    }
}
