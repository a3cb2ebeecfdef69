//! Classes of faults, in the words of the field: what a lock promises is said of each.

/// A class of faults: what the faults of a plan have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultClass {
    /// Nothing breaks. A contender that is asked to stop breaks nothing.
    None,
    /// A contender's process dies.
    Crash,
    /// A pending call is dropped: an interrupted thread, a future that is no longer polled.
    Cancel,
    /// A contender's process, or its event thread, stands still, as in a garbage collection.
    Pause,
    /// The service ends the session of a client that goes on.
    SessionExpiry,
    /// A connection breaks, or a request, an answer, or a message of a channel is lost.
    ConnectionLoss,
    /// Messages are late, or packets are lost and sent again.
    Delay,
    /// Nothing gets through for a while: between a client and the service, or between servers.
    Partition,
    /// A server dies, and comes back or is replaced.
    ServerCrash,
    /// A server stands still, is behind, or refuses what it is asked for.
    ServerStall,
    /// A clock jumps, or runs at another pace.
    Clock,
    /// The lock's node or key is deleted from outside: by an operator, or evicted.
    Deletion,
}

impl FaultClass {
    /// Every class, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::None,
        Self::Crash,
        Self::Cancel,
        Self::Pause,
        Self::SessionExpiry,
        Self::ConnectionLoss,
        Self::Delay,
        Self::Partition,
        Self::ServerCrash,
        Self::ServerStall,
        Self::Clock,
        Self::Deletion,
    ];

    /// Its name, as in `session-expiry`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Crash => "crash",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::SessionExpiry => "session-expiry",
            Self::ConnectionLoss => "connection-loss",
            Self::Delay => "delay",
            Self::Partition => "partition",
            Self::ServerCrash => "server-crash",
            Self::ServerStall => "server-stall",
            Self::Clock => "clock",
            Self::Deletion => "deletion",
        }
    }

    /// What it is, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::None => "Nothing breaks.",
            Self::Crash => "A contender's process dies.",
            Self::Cancel => "A pending acquire or release is dropped, as by an interrupt.",
            Self::Pause => {
                "A contender's process or event thread stands still, as in a garbage collection."
            }
            Self::SessionExpiry => "The service ends the session of a client that goes on.",
            Self::ConnectionLoss => {
                "A connection breaks, or a request, an answer, or a message of a channel is lost."
            }
            Self::Delay => "Messages are late, or packets are lost and sent again.",
            Self::Partition => {
                "Nothing gets through for a while, between a client and the service or between servers."
            }
            Self::ServerCrash => "A server dies, and comes back, or another takes over.",
            Self::ServerStall => {
                "A server stands still, is behind, or refuses what it is asked for."
            }
            Self::Clock => "A clock jumps, or runs at another pace.",
            Self::Deletion => {
                "The lock's node or key is deleted from outside: by an operator, or evicted."
            }
        }
    }

    /// The class of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_found_by_its_name_and_stands_in_its_place() {
        for (index, class) in FaultClass::ALL.into_iter().enumerate() {
            assert_eq!(FaultClass::find(class.name()), Some(class));
            assert_eq!(class as usize, index);
            assert!(class.meaning().ends_with('.'));
        }
        assert_eq!(FaultClass::find("gc"), None);
    }
}
