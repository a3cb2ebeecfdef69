//! The nodes below a lock, in the order of their sequence numbers.

use std::collections::VecDeque;

use picklock_algorithms::Place;
use picklock_checker::{ContenderId, NameId, Token};
use picklock_clients::zookeeper::{self, Path};

/// A node below the lock.
#[derive(Clone, Debug)]
pub(super) struct QueuedNode {
    /// Without its sign: after an overflow they begin with the greatest.
    pub(super) sequence: u64,
    pub(super) path: Path,
    /// Where the name begins in the path.
    pub(super) name_at: usize,
    pub(super) place: Place,
    pub(super) by: ContenderId,
    pub(super) token: Token,
    pub(super) name: NameId,
    pub(super) arrival: u64,
    pub(super) owns: bool,
}

impl QueuedNode {
    pub(super) fn node_name(&self) -> &str {
        &self.path[self.name_at..]
    }
}

/// The nodes below the lock, by sequence number and name. Most come at the end and go from the front.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(VecDeque<QueuedNode>);

impl Places {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn front(&self) -> Option<&QueuedNode> {
        self.0.front()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &QueuedNode> {
        self.0.iter()
    }

    pub(super) fn at_mut(&mut self, index: usize) -> &mut QueuedNode {
        &mut self.0[index]
    }

    /// Puts a node in its place.
    pub(super) fn insert(&mut self, place: QueuedNode) {
        match self.find(place.sequence, place.node_name()) {
            Ok(known) => self.0[known] = place,
            Err(free) if free == self.0.len() => self.0.push_back(place),
            Err(free) => self.0.insert(free, place),
        }
    }

    /// Takes a node out. Mostly it is the first.
    pub(super) fn take(&mut self, name: &str) -> Option<QueuedNode> {
        if self.0.front()?.node_name() == name {
            return self.0.pop_front();
        }
        let sequence = zookeeper::sequence(name).unsigned_abs();
        let known = self.find(sequence, name).ok();
        // Not every name ends with a number.
        let known = known.or_else(|| self.0.iter().position(|place| place.node_name() == name))?;
        self.0.remove(known)
    }

    /// Where a node is, or where it would be.
    fn find(&self, sequence: u64, name: &str) -> Result<usize, usize> {
        let key = (sequence, name);
        let is_before = |place: &QueuedNode| (place.sequence, place.node_name()) < key;
        let place = match (self.0.front(), self.0.back()) {
            (_, Some(last)) if is_before(last) => self.0.len(),
            (Some(first), _) if !is_before(first) => 0,
            _ => self.0.partition_point(is_before),
        };
        match self.0.get(place) {
            Some(known) if (known.sequence, known.node_name()) == key => Ok(place),
            _ => Err(place),
        }
    }
}
