//! What contenders come to that is no lock: a barrier, a double barrier, or a count-down latch.

/// What contenders that come to it wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendezvous {
    /// A barrier stands from when it has been set, exclusively, until its removal begins. A contender that comes to
    /// pass it, in shared mode, waits for that.
    Barrier,
    /// A double barrier: all enter when the last of so many parties has come, and all leave when the last is done.
    DoubleBarrier {
        /// How many parties there are.
        parties: u32,
    },
    /// A count-down latch: the first so many contenders are its participants, and each holds it, exclusively, from when
    /// it knows the count to be set until it begins to count down. All others wait, in shared mode, for the count to be
    /// zero.
    CountDownLatch {
        /// How many participants count down.
        count: u32,
    },
}

impl Rendezvous {
    /// How many must come before any goes on, if all wait for each other.
    pub fn parties(self) -> Option<u32> {
        match self {
            Self::Barrier | Self::CountDownLatch { .. } => None,
            Self::DoubleBarrier { parties } => Some(parties),
        }
    }
}
