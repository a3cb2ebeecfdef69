//! Which replica is read from, one after the other.

use super::Destination;

/// Which of the replicas a connection is to go to.
#[derive(Debug)]
pub(super) struct ReplicaRotation {
    /// Which is tried first.
    next: usize,
    /// How many could not be reached since the connection was wanted.
    passed_over: usize,
    /// None could: the primary is read from.
    pub falls_back: bool,
    /// Which of them it goes to.
    goes_to: Option<Destination>,
}

impl ReplicaRotation {
    /// One after the other, from this one on.
    pub fn from(first: u8) -> Self {
        Self {
            next: usize::from(first),
            passed_over: 0,
            falls_back: false,
            goes_to: None,
        }
    }

    /// Which replica is to be connected to; if none is left, the primary is.
    pub(super) fn aim(&mut self, replicas: &[Destination]) -> Option<Destination> {
        let left = self.passed_over < replicas.len();
        self.goes_to = left.then(|| replicas[self.next % replicas.len()].clone());
        self.falls_back = !left;
        self.goes_to.clone()
    }

    /// The replica that it was to go to cannot be reached.
    pub fn missed(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.passed_over += 1;
    }

    /// The connection stands.
    pub fn reached(&mut self) {
        self.passed_over = 0;
    }

    /// The connection is gone: the next one goes to the next replica.
    pub fn lost(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.passed_over = 0;
        self.falls_back = false;
        self.goes_to = None;
    }

    /// Whether it goes to a replica that is not one of these, or to the primary although there is one of these.
    pub(super) fn is_astray(&self, replicas: &[Destination]) -> bool {
        match &self.goes_to {
            Some(replica) => !replicas.contains(replica),
            None => self.falls_back && !replicas.is_empty(),
        }
    }
}
