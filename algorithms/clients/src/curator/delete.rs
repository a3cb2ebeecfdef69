//! Guaranteed deletes: a delete that failed is repeated in the background until the node is gone.

use std::rc::Rc;
use std::time::Duration;

use super::{Curator, should_retry};
use crate::zookeeper::{Path, ZkError, ZkResult, ZooKeeper};

/// How long it waits after all retries have failed.
const PAUSE: Duration = Duration::from_secs(1);

impl Curator {
    /// Deletes a node; if it is not there, all the better. If that cannot be done now, it is done in the background,
    /// for as long as the process lives.
    ///
    /// # Errors
    ///
    /// The error of the last try; it will be tried again if that makes sense.
    pub async fn delete_guaranteed(&self, path: &Path) -> ZkResult<()> {
        let pending = Pending {
            curator: self.clone(),
            path: Rc::clone(path),
            armed: true,
        };
        let deleted = self
            .call_with_retry(async |zk| delete(zk, path).await)
            .await;
        match deleted {
            Err(error) if should_retry(error) => {}
            Ok(()) | Err(_) => pending.disarm(),
        }
        deleted
    }

    /// Deletes a node in the background.
    pub fn delete_in_background(&self, path: &Path) {
        let (curator, path) = (self.clone(), Rc::clone(path));
        self.env()
            .spawn(async move { curator.delete_until_gone(&path).await });
    }

    /// What a delete in the background does: it resolves when the node is gone, or cannot be deleted.
    pub async fn delete_until_gone(&self, path: &Path) {
        let call = async |zk: &ZooKeeper| delete(&zk.in_background(), path).await;
        // What cannot be done will never be.
        let _refused = self.persist(call).await;
    }

    /// Calls, with all retries, again and again until there is an answer.
    ///
    /// # Errors
    ///
    /// What makes no sense to repeat.
    pub(super) async fn persist<T>(
        &self,
        mut call: impl AsyncFnMut(&ZooKeeper) -> ZkResult<T>,
    ) -> ZkResult<T> {
        loop {
            // No call waits for it.
            let pauses = |pause| self.env().sleep(pause);
            match self.repeat(&mut call, pauses).await {
                Err(error) if should_retry(error) => self.env().sleep(PAUSE).await,
                answer => return answer,
            }
        }
    }
}

async fn delete(zk: &ZooKeeper, path: &Path) -> ZkResult<()> {
    match zk.delete(path, None).await {
        Err(ZkError::NoNode) => Ok(()),
        answer => answer,
    }
}

/// A delete. Dropped while it is armed, it goes on in the background.
struct Pending {
    curator: Curator,
    path: Path,
    armed: bool,
}

impl Pending {
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.armed {
            self.curator.delete_in_background(&self.path);
        }
    }
}
