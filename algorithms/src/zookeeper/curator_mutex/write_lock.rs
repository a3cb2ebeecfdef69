//! A read mutex whose thread holds the write lock: how it is acquired then, and how its node is made.

use super::{InterProcessMutex, LockInternals};
use crate::clients::curator::Protection;
use crate::clients::zookeeper::{Path, ZkResult};

/// A write lock that its thread holds while it takes the read lock.
#[derive(Clone)]
pub(in crate::zookeeper) struct HeldWrite {
    /// The number of the write node, if the read node is to have it, too.
    pub(in crate::zookeeper) sorting_sequence: Option<String>,
}

impl InterProcessMutex {
    /// Where this thread holds it, if it does (`getLockPath`).
    pub(in crate::zookeeper) fn lock_path(&self) -> Option<&Path> {
        let data = self.thread_data.as_ref();
        data.map(|data| &data.held.path_or_key)
    }

    /// The next `acquire` is granted at once, beside this write lock.
    pub(in crate::zookeeper) fn beside(&mut self, write: Option<HeldWrite>) -> &mut Self {
        self.internals.under_write = write;
        self
    }
}

impl LockInternals {
    /// Step 1.
    pub(super) async fn creates_the_lock(&self) -> ZkResult<Path> {
        let (client, path) = (&self.client, &self.base_path);
        let sorting_sequence =
            { self.under_write.as_ref() }.and_then(|write| write.sorting_sequence.as_deref());
        if let Some(sequence) = sorting_sequence {
            let (name, minds) = ([self.lock_name, sequence].concat(), Protection::FULL);
            return client.create_protected_at_number(path, &name, minds).await;
        }
        match self.deviation.protection {
            Some(minds) => client.create_protected(path, self.lock_name, minds).await,
            None => client.create_unprotected(path, self.lock_name).await,
        }
    }
}
