//! `etcdctl lock NAME COMMAND`: a command that runs under etcd's mutex.
//!
//! # Source
//!
//! etcd 3.4, `etcdctl/ctlv3/command/lock_command.go`.
//!
//! # Steps
//!
//! 1. Each run is a process of its own, with a session of its own: steps 1 to 5 of [`super::mutex`], as 3.4 has
//!    them ([`mutex_3_4`]).
//! 2. Run the command, with the key and the revision in its environment (`ETCD_LOCK_KEY`, `ETCD_LOCK_REV`).
//! 3. When it has ended, delete the key. The lease is not revoked.
//!
//! # Guarantees
//!
//! - Those of [`mutex_3_4`].
//!
//! # Hazards
//!
//! - Nothing looks at `Session.Done` while the command runs: a process that is cut off lets it go on when the lease is
//!   over (scenario `etcd/cut-off-command`). Without a command `etcdctl lock` ends with "session expired".
//! - That of [`mutex_3_4`] (scenario `etcd/dead-waiter`).

use async_trait::async_trait;

use super::mutex::{Deviation, Mutex};
use super::{EtcdLock, OverEtcd, mutex_3_4};
use crate::clients::etcd::Client;
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcdctl-lock",
    summary: "A command that etcdctl runs under etcd's mutex.",
    source: "etcd 3.4, etcdctl/ctlv3/command/lock_command.go",
    flaw: Some("the command goes on when the session has ended"),
    build: Build::Other(&OverEtcd(&|client, _, lock| {
        Box::new(EtcdctlLock {
            client,
            lock,
            mutex: None,
        })
    })),
    ..mutex_3_4::RECIPE
};

struct EtcdctlLock {
    client: Client,
    lock: EtcdLock,
    mutex: Option<Mutex>,
}

#[async_trait(?Send)]
impl Lock for EtcdctlLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let (client, lock) = (self.client.clone(), self.lock.clone());
        let mutex = Mutex::new(client, lock, Deviation::SkipsOwnKey);
        self.mutex.insert(mutex).acquire().await // Step 1.
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        match &mut self.mutex {
            Some(mutex) => mutex.release(held).await, // Step 3.
            None => Err(LockError::NotHeld),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        std::future::pending().await
    }
}
