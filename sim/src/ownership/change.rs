//! What a service has committed that may change the owner of a lock: a node, and the actor of the change.

use picklock_checker::{ContenderId, Token};
use picklock_clients::zookeeper::Path;

/// A node of a lock that is committed.
#[derive(Clone, Copy, Debug)]
pub struct CommittedNode<'a> {
    /// Its whole path.
    pub path: &'a Path,
    /// Its name below the lock.
    pub name: &'a str,
    /// The number that the service has given it, if it has.
    pub number: i64,
    /// What its creator can prove the grant with: the number of the transaction.
    pub token: Token,
}

/// The actor that has changed a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A contender.
    Contender(ContenderId),
    /// A contender, which has put a hold of its own in its place.
    Overwriter(ContenderId),
    /// The end of the contender's own session or lease.
    SessionEnd,
    /// The service itself: a server that had the claim is gone, or is another than it was, or comes back without it.
    Service,
    /// An operator.
    Outsider,
}
