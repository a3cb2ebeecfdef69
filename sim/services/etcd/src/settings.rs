//! How a member is configured, and what its version does differently.

use std::time::Duration;

/// A version of etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major.
    pub major: u8,
    /// Minor.
    pub minor: u8,
    /// Patch.
    pub patch: u8,
}

/// When a leader asks a quorum whether it leads before it renews or revokes a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnsuresLeadership {
    /// Never: it believes what it knew last.
    Never,
    /// Each time.
    Always,
    /// If its raft loop has not ticked for three heartbeats.
    IfNotTicking,
}

impl Version {
    /// A version.
    pub const fn of(major: u8, minor: u8, patch: u8) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    const fn number(self) -> u32 {
        (self.major as u32) << 16 | (self.minor as u32) << 8 | self.patch as u32
    }

    /// Whether it is one of a later line than 3.5, or has what came with these patches of 3.4 and of 3.5.
    const fn has(self, of_3_4: u8, of_3_5: u8) -> bool {
        match (self.major, self.minor) {
            (3, 4) => self.patch >= of_3_4,
            (3, 5) => self.patch >= of_3_5,
            _ => self.number() >= Self::of(3, 6, 0).number(),
        }
    }

    /// Whether a lock looks at its own key at the end of its wait.
    pub const fn lock_checks_own_key(self) -> bool {
        self.number() >= Self::of(3, 5, 0).number()
    }

    /// Whether an election asks first whether it could be won.
    pub const fn pre_vote(self) -> bool {
        self.number() >= Self::of(3, 5, 0).number()
    }

    /// Whether a write that found no leader fails with a code of its own.
    pub const fn maps_deadlines(self) -> bool {
        self.has(u8::MAX, 33)
    }

    /// When a leader asks a quorum whether it leads.
    pub const fn ensures_leadership(self) -> EnsuresLeadership {
        match (self.minor, self.patch) {
            (5, 13..=15) => EnsuresLeadership::Always,
            _ if self.has(31, 13) => EnsuresLeadership::IfNotTicking,
            _ => EnsuresLeadership::Never,
        }
    }

    /// Whether a leader that has not yet promoted its leases refuses to say what is left of one.
    pub const fn refuses_unpromoted_ttl(self) -> bool {
        self.has(32, 14)
    }

    /// Whether a compaction keeps a deletion at the very revision that it keeps.
    pub const fn keeps_compacted_tombstone(self) -> bool {
        self.has(36, 18)
    }

    /// Whether progress is told only when all watches of the stream have seen everything.
    pub const fn progress_waits(self) -> bool {
        self.has(25, 8)
    }

    /// Whether progress that had to wait is told later.
    pub const fn progress_is_kept(self) -> bool {
        self.has(31, 13)
    }
}

/// The settings of all members of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many members there are.
    pub members: u8,
    /// `--heartbeat-interval`, and the length of a tick.
    pub heartbeat_interval: Duration,
    /// `--election-timeout`
    pub election_timeout: Duration,
    /// Which version they are of.
    pub version: Version,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            members: 3,
            heartbeat_interval: Duration::from_millis(100),
            election_timeout: Duration::from_secs(1),
            version: Version::of(3, 5, 33),
        }
    }
}

impl Settings {
    /// How many ticks an election timeout has.
    pub fn election_ticks(&self) -> u32 {
        let ticks = self.election_timeout.as_millis() / self.heartbeat_interval.as_millis().max(1);
        u32::try_from(ticks).unwrap_or(u32::MAX).max(1)
    }

    /// How long a member waits for a request to be applied.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_secs(5) + self.election_timeout * 2
    }
}
