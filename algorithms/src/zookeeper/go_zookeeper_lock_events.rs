//! The `Lock` of go-zookeeper/zk in the hands of an application that listens to its `Conn`.
//!
//! # Source
//!
//! go-zookeeper/zk 1.0, `lock.go`, and `conn.go`: the channel of events that `Connect` returns, and `Close`, which
//! ends the session and all that was made in it. What a holder has to do with them is that of Curator's Tech Note 10.
//!
//! # Steps
//!
//! 1. Before `Lock` is called, note what the channel of events has said so far, and make a new `Lock` object.
//! 2. Call `LockWithData`, with a guid for data, and then look whether the node with the lowest number bears it: `Lock`
//!    does not ask whether its own is still there. If anything fails, or another bears it, or the channel says
//!    `StateDisconnected` or `StateExpired` before it returns, or has said so since, close the `Conn` and connect
//!    again: the session is over, and with it each node that was left in it.
//! 3. While holding, stop believing when the channel says either. A connection is given up when it has been silent for
//!    two thirds of the session timeout, so that a third is left; nothing of it is spent on waiting for another.
//! 4. To release, call `Unlock`. If it fails, or the channel says either, close the `Conn` and connect again.
//! 5. Whatever call is dropped on the way, its `Conn` is closed in the background.
//!
//! # Guarantees
//!
//! - As for `go_zookeeper_lock`, also when its session ends or its connection breaks; and no node outlives a failed
//!   call for longer than a session (`no-orphan`).
//! - A lock that is found by its guid after a broken connection is never entered, for the attempt is given up: so no
//!   look-up can miss a node, or take one of an older session.
//!
//! # Hazards
//!
//! - A waiter whose connection breaks loses its place, and if its session cannot be closed, the others wait for its
//!   end.
//! - A pause longer than the session, and a server that is cut off from its leader, as for every lock without a token
//!   (scenarios `zookeeper/gc-pause`, `zookeeper/isolated-follower`).

use async_trait::async_trait;

use super::go_zookeeper_lock::GoLock;
use super::queue::child;
use crate::clients::go_zookeeper::{Conn, EventsSoFar, State};
use crate::clients::zookeeper::{Data, Path, ZkResult, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "go-zookeeper-lock-events",
    summary: "go-zookeeper's Lock whose holder listens to the Conn, and closes it when anything has gone wrong.",
    source: "go-zookeeper/zk 1.0, lock.go and conn.go; Apache Curator, Tech Note 10",
    cancellable: true,
    build: Build::ZooKeeper(&|zk, env, path| {
        let listens = Listens::ToDisconnections;
        Box::new(WithEvents::new(zk, &env, path, listens))
    }),
    ..super::go_zookeeper_lock::RECIPE
};

/// Which events an application does not pass over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listens {
    /// `StateDisconnected` and `StateExpired`.
    ToDisconnections,
    /// `StateExpired` alone.
    ToExpirations,
}

/// The lock, and its holder's look at the channel of events.
pub(super) struct WithEvents {
    env: Env,
    conn: Conn,
    lock: GoLock,
    path: Path,
    listens: Listens,
    /// What the channel had said before the last `Lock`.
    before: EventsSoFar,
}

impl WithEvents {
    pub(super) fn new(zk: ZooKeeper, env: &Env, path: Path, listens: Listens) -> Self {
        let conn = Conn::of_process(zk, env);
        Self {
            lock: GoLock::new(conn.clone(), Path::clone(&path)),
            before: conn.events(),
            env: env.clone(),
            conn,
            path,
            listens,
        }
    }

    /// What the channel says that cannot be passed over.
    async fn event(&self) -> LockError {
        event(&self.conn, self.before, self.listens).await
    }

    fn is_undisturbed(&self) -> bool {
        match self.listens {
            Listens::ToDisconnections => self.conn.is_connected_since(self.before),
            Listens::ToExpirations => true,
        }
    }
}

/// The data of the node with the lowest number.
async fn first_of(conn: &Conn, path: &Path) -> ZkResult<Option<Data>> {
    let children = conn.children(path).await?;
    match children.sorted_by_sequence().get(0) {
        Some(first) => conn.get(&child(path, first)).await.map(Some),
        None => Ok(None),
    }
}

async fn event(conn: &Conn, before: EventsSoFar, listens: Listens) -> LockError {
    let disconnections_count = listens == Listens::ToDisconnections;
    match conn.event_after(before, disconnections_count).await {
        State::Disconnected => LockError::Disconnected,
        State::Expired => LockError::SessionExpired,
    }
}

#[async_trait(?Send)]
impl Lock for WithEvents {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.before = self.conn.events(); // Step 1.
        self.lock = GoLock::new(self.conn.clone(), Path::clone(&self.path));
        let guard = ConnGuard::new(&self.conn);
        let (conn, before, listens) = (self.conn.clone(), self.before, self.listens);
        let disturbed = async { Err(event(&conn, before, listens).await) };
        let guid = self.env.guid();
        let (lock, path) = (&mut self.lock, &self.path);
        let locks = async {
            let held = lock.lock_with_data(Data::from(guid.as_bytes())).await?;
            match first_of(&conn, path).await? {
                Some(data) if *data == *guid.as_bytes() => Ok(held),
                Some(_) | None => Err(LockError::PlaceLost),
            }
        };
        let locked = select(locks, disturbed).await;
        let error = match locked {
            Ok(path) if self.is_undisturbed() => {
                guard.disarm();
                return Ok(Held::at(path));
            }
            Ok(_) => LockError::Disconnected,
            Err(error) => error,
        };
        guard.close_and_connect().await; // Step 2.
        Err(error)
    }

    /// Step 4.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let guard = ConnGuard::new(&self.conn);
        let (conn, before, listens) = (self.conn.clone(), self.before, self.listens);
        let disturbed = async { Err(event(&conn, before, listens).await) };
        let unlocked = select(disturbed, self.lock.unlock()).await;
        let Err(error) = unlocked else {
            guard.disarm();
            return Ok(());
        };
        if guard.close_and_connect().await {
            return Ok(());
        }
        Err(error)
    }

    /// Step 3.
    async fn lost(&self, _held: &Held) -> LockError {
        self.event().await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}

/// Step 5. Dropped before it is disarmed, it closes the `Conn` in the background.
struct ConnGuard {
    conn: Conn,
    armed: bool,
}

impl ConnGuard {
    fn new(conn: &Conn) -> Self {
        Self {
            conn: conn.clone(),
            armed: true,
        }
    }

    fn disarm(mut self) {
        self.armed = false;
    }

    /// Closes it now. Answers whether the session is known to be over.
    async fn close_and_connect(mut self) -> bool {
        self.armed = false;
        self.conn.close_and_connect().await
    }
}

impl Drop for ConnGuard {
    fn drop(&mut self) {
        if self.armed {
            drop(self.conn.close_and_connect());
        }
    }
}
