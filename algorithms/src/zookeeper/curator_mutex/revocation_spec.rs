//! What watches the node of a revocable lock, and runs its listener: `RevocationSpec`, and the watcher of
//! `LockInternals`. The steps are those of `curator_mutex_revocable`.

use std::cell::Cell;
use std::rc::Rc;

use super::super::revocation::{OwnNodeEvent, RevocationRequest};
use crate::clients::curator::Curator;
use crate::clients::zookeeper::{Path, Watch, ZkResult, ZooKeeper};

/// What `attemptRevoke` writes into the data of a node.
pub(in crate::zookeeper) const REVOKE_MESSAGE: &str = "__REVOKE__";

/// How step 2 reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::zookeeper) enum SecondRead {
    /// With the watcher.
    WithWatcher,
    /// Without.
    Once,
}

/// What watches our node for requests, and where it reports them.
#[derive(Clone)]
pub(in crate::zookeeper) struct RevocationSpec {
    pub(in crate::zookeeper) second_read: SecondRead,
    /// `isAcquiredInThisProcess`.
    pub(in crate::zookeeper) is_acquired: Rc<Cell<bool>>,
    pub(in crate::zookeeper) request: RevocationRequest,
}

impl RevocationSpec {
    /// Step 1, for a node that has just been made.
    pub(in crate::zookeeper) async fn watch(
        &self,
        client: &Curator,
        our_path: &Path,
    ) -> ZkResult<()> {
        let read = async |zk: &ZooKeeper| zk.data_and_watch(our_path).await;
        let (_, _, changed) = client.call_with_retry(read).await?;
        let (spec, of, our_path) = (self.clone(), client.clone(), Path::clone(our_path));
        client.env().spawn(async move {
            // An error here means that the node is gone, or that Curator has retried for long enough.
            let _no_more = spec.check_revocable_watcher(&of, &our_path, changed).await;
        });
        Ok(())
    }

    /// Step 2, for as long as the watcher gets events.
    async fn check_revocable_watcher(
        &self,
        client: &Curator,
        our_path: &Path,
        mut changed: Watch,
    ) -> ZkResult<()> {
        loop {
            match changed.next().await.kind.into() {
                OwnNodeEvent::DataChanged => {}
                OwnNodeEvent::Other => continue,
                OwnNodeEvent::Deleted | OwnNodeEvent::Over => return Ok(()),
            }
            let data = match self.second_read {
                SecondRead::WithWatcher => {
                    let read = async |zk: &ZooKeeper| zk.data_and_watch(our_path).await;
                    let (data, _, next) = client.call_with_retry(read).await?;
                    changed = next;
                    data
                }
                SecondRead::Once => {
                    let read = async |zk: &ZooKeeper| zk.data(our_path).await;
                    client.call_with_retry(read).await?.0
                }
            };
            if *data == *REVOKE_MESSAGE.as_bytes() {
                self.revocation_requested();
            }
        }
    }

    /// Step 3.
    fn revocation_requested(&self) {
        if self.is_acquired.get() {
            self.request.make();
        }
    }
}
