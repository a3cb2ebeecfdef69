//! How the replicas of a cell are set.

use std::time::Duration;

/// The longest lock-delay that a client can ask for (section 2.4).
pub(crate) const MOST_LOCK_DELAY: Duration = Duration::from_secs(60);

/// How long a new master waits before it deletes ephemeral files that no client has open (section 2.9).
pub(crate) const SWEEP: Duration = Duration::from_secs(60);

/// How the replicas of a cell are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many there are.
    pub replicas: u8,
    /// By how much an answer to a KeepAlive extends the lease of a session (section 2.8).
    pub session_lease: Duration,
    /// For how long replicas promise a master to elect no other (section 2.1).
    pub master_lease: Duration,
    /// How long an election takes at least, from the end of that promise; at most half as long again.
    pub election_time: Duration,
}

impl Settings {
    /// How long before the end of a lease the master answers the KeepAlive that it holds back.
    pub(crate) fn margin(&self) -> Duration {
        self.session_lease / 4
    }

    /// How much later than the one before it each replica wants to be elected.
    pub(crate) fn turn(&self) -> Duration {
        self.election_time / (2 * u32::from(self.replicas))
    }

    /// How many replicas are a majority.
    pub(crate) fn majority(&self) -> usize {
        usize::from(self.replicas) / 2 + 1
    }
}
