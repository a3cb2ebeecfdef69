//! How a lock of Curator reads the queue: `LockInternalsDriver` and its first implementation.

use std::rc::Rc;

use super::LOCK_NAME;
use crate::clients::zookeeper::{ZkError, ZkResult};

/// What a look at the queue shows.
pub(crate) enum PredicateResults<'c> {
    GetsTheLock,
    /// The name of the node to watch; Curator has its path.
    PathToWatch(&'c str),
}

/// In which order nodes are, and who has the lock.
pub(crate) trait LockInternalsDriver: Sync {
    /// What nodes are sorted by, of a node's name.
    fn fix_for_sorting<'n>(&self, name: &'n str) -> &'n str;

    /// Whether this node has the lock, of all that there are in order: the first have it, as many as there may be.
    ///
    /// # Errors
    ///
    /// `NoNode` if it is not among them.
    fn gets_the_lock<'c>(
        &self,
        children: &'c [Rc<str>],
        sequence_node_name: &str,
        max_leases: usize,
    ) -> ZkResult<PredicateResults<'c>> {
        let our_index = our_index(children, sequence_node_name)?;
        Ok(match our_index.checked_sub(max_leases) {
            None => PredicateResults::GetsTheLock,
            Some(to_watch) => PredicateResults::PathToWatch(&children[to_watch]),
        })
    }
}

/// The driver of a mutex.
pub(crate) struct StandardLockInternalsDriver;

impl LockInternalsDriver for StandardLockInternalsDriver {
    fn fix_for_sorting<'n>(&self, name: &'n str) -> &'n str {
        after_mark(name, LOCK_NAME)
    }
}

/// What comes after the last such mark in a name, as `standardFixForSorting` has it.
pub(crate) fn after_mark<'n>(name: &'n str, mark: &str) -> &'n str {
    name.rsplit(mark).next().unwrap_or_default()
}

/// At which index a node is, as `validateOurIndex` wants it.
///
/// # Errors
///
/// `NoNode` if it is not there.
pub(crate) fn our_index(children: &[Rc<str>], sequence_node_name: &str) -> ZkResult<usize> {
    let index = children
        .iter()
        .position(|name| **name == *sequence_node_name);
    index.ok_or(ZkError::NoNode)
}
