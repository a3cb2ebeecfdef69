//! What a recipe promises.

/// A promise that a recipe makes. Each is an invariant of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// `mutual-exclusion`
    MutualExclusion,
    /// `exclusive-ownership`
    ExclusiveOwnership,
    /// `no-stale-effect`
    NoStaleEffect,
    /// `no-lost-update`
    NoLostUpdate,
    /// `fencing-monotonic`
    FencingMonotonic,
    /// `progress`
    Progress,
    /// `no-orphan`
    NoOrphan,
    /// `own-release-only`
    OwnReleaseOnly,
    /// `fifo`
    Fifo,
    /// `reentrancy`
    Reentrancy,
    /// `honest-answer`
    HonestAnswer,
    /// `timely-loss`
    TimelyLoss,
    /// `barrier`
    Barrier,
    /// `all-or-none`
    AllOrNone,
    /// `permits-conserved`
    PermitsConserved,
}

impl Claim {
    /// The name of the invariant.
    pub fn invariant(self) -> &'static str {
        match self {
            Self::MutualExclusion => "mutual-exclusion",
            Self::ExclusiveOwnership => "exclusive-ownership",
            Self::NoStaleEffect => "no-stale-effect",
            Self::NoLostUpdate => "no-lost-update",
            Self::FencingMonotonic => "fencing-monotonic",
            Self::Progress => "progress",
            Self::NoOrphan => "no-orphan",
            Self::OwnReleaseOnly => "own-release-only",
            Self::Fifo => "fifo",
            Self::Reentrancy => "reentrancy",
            Self::HonestAnswer => "honest-answer",
            Self::TimelyLoss => "timely-loss",
            Self::Barrier => "barrier",
            Self::AllOrNone => "all-or-none",
            Self::PermitsConserved => "permits-conserved",
        }
    }
}
