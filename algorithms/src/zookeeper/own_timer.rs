//! `hardened`, except that a holder does not wait to be told: it looks for itself, by a timer of its own.
//!
//! # Source
//!
//! Apache Curator, Tech Note 1 (*ZooKeeper watches are single threaded*); CURATOR-206 (holder unaware). That
//! `ZooKeeper.getState` is kept up to date by the thread of the connection, and that a synchronous call returns on the
//! thread of its caller, is in ZooKeeper's `ClientCnxn`.
//!
//! # Steps
//!
//! 1. Get the lock as `hardened` does.
//! 2. While holding, look twelve times in a session timeout at the state of the handle, and stop believing if there is
//!    no connection.
//! 3. As often ask for our node, by a call of our own, and stop believing if it is gone.
//! 4. Stop believing on an event of either, if that comes first.
//!
//! # Guarantees
//!
//! - As for `hardened`, also while a callback of the same process blocks the event thread.
//!
//! # Hazards
//!
//! - It costs a holder twelve reads in a session timeout.
//! - Those of `hardened`: a pause, and a server that is cut off from its leader.

use async_trait::async_trait;

use super::hardened::{Hardened, down};
use crate::clients::zookeeper::until_answered;
use crate::{Build, Held, Lock, LockError, Recipe, select};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-own-timer",
    summary: "The hardened recipe whose holder looks at its connection and its node by a timer of its own.",
    source: "Apache Curator, Tech Note 1; CURATOR-206",
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(OwnTimer(Hardened { zk, env, lock }))),
    ..super::hardened::RECIPE
};

/// How often it looks in a session timeout: of the third of it that lies between the loss of a connection and the
/// earliest end of its session, a quarter is spent on finding out.
const LOOKS: u32 = 12;

struct OwnTimer(Hardened);

#[async_trait(?Send)]
impl Lock for OwnTimer {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.0.acquire().await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        let looked = select(self.sees_the_state(), self.misses_its_node(held));
        select(looked, self.0.lost(held)).await // Step 4.
    }
}

impl OwnTimer {
    /// Step 2.
    async fn sees_the_state(&self) -> LockError {
        let zk = &self.0.zk;
        loop {
            if let Some(error) = down(zk) {
                return error;
            }
            self.0.env.sleep(zk.timeout() / LOOKS).await;
        }
    }

    /// Step 3.
    async fn misses_its_node(&self, held: &Held) -> LockError {
        let zk = &self.0.zk;
        loop {
            self.0.env.sleep(zk.timeout() / LOOKS).await;
            match until_answered(|| zk.exists(&held.path_or_key)).await {
                Ok(Some(_)) => {}
                Ok(None) => return LockError::PlaceLost,
                Err(error) => return error.into(),
            }
        }
    }
}
