//! The words of the cells.

/// What a cell says, in a word: the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// Two believe at once, and that goes back to no loss that one of them could not know of.
    Overlap,
    /// A party entered a barrier before all had come, or left it before all were done.
    Early,
    /// The service has two owners.
    Owners,
    /// The resource took a write of an earlier holder after one of a later.
    Stale,
    /// An update of the resource was lost.
    LostUpdate,
    /// A release ended another contender's hold.
    Release,
    /// A later holder has no greater token.
    Token,
    /// A holder went on for too long after it could know of its loss.
    Late,
    /// A waiter does not get the lock although everything has healed.
    Stuck,
    /// Something is left that no contender believes in.
    Orphan,
    /// A call said what is not so.
    Answer,
    /// A contender overtook one that had come before.
    Unfair,
    /// Two believe at once, because one of them could not know yet that it had lost the lock.
    Unaware,
    /// All that was looked at held.
    Safe,
    /// The runs cannot tell.
    Undecided,
}

impl Word {
    /// Every word.
    pub const ALL: [Self; 15] = [
        Self::Overlap,
        Self::Early,
        Self::Owners,
        Self::Stale,
        Self::LostUpdate,
        Self::Release,
        Self::Token,
        Self::Late,
        Self::Stuck,
        Self::Orphan,
        Self::Answer,
        Self::Unfair,
        Self::Unaware,
        Self::Safe,
        Self::Undecided,
    ];

    /// Itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlap => "overlap",
            Self::Early => "early",
            Self::Owners => "owners",
            Self::Stale => "stale",
            Self::LostUpdate => "lost",
            Self::Release => "release",
            Self::Token => "token",
            Self::Late => "late",
            Self::Stuck => "stuck",
            Self::Orphan => "orphan",
            Self::Answer => "answer",
            Self::Unfair => "unfair",
            Self::Unaware => "unaware",
            Self::Safe => "safe",
            Self::Undecided => "undecided",
        }
    }

    /// What it means, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Overlap => {
                "Two contenders believe that they hold the lock, and not because one could not know of its loss."
            }
            Self::Early => {
                "A party entered the barrier before all had come, or left before all were done."
            }
            Self::Owners => "The service has two owners of one lock.",
            Self::Stale => "The resource took a write of an earlier holder after one of a later.",
            Self::LostUpdate => "Two holders read the same value, and one update was lost.",
            Self::Release => {
                "A release ended the hold of another contender, or a re-entry was not counted."
            }
            Self::Token => "A later holder did not get a greater fencing token.",
            Self::Late => "A holder went on long after it could know that the lock was lost.",
            Self::Stuck => "A waiter does not get the lock, after everything has healed.",
            Self::Orphan => "A node, a key, or a permit is left that no contender believes in.",
            Self::Answer => "A call answered what the service contradicts.",
            Self::Unfair => "A contender overtook one that had come before.",
            Self::Unaware => {
                "Two contenders believe that they hold the lock, because one could not know of its loss."
            }
            Self::Safe => "Every promise that was checked held.",
            Self::Undecided => {
                "The runs decide nothing: too few of them were struck, or had a waiter."
            }
        }
    }

    /// The word for a promise that is broken.
    pub(super) fn of(invariant: &str, excused: bool) -> Option<Self> {
        Some(match invariant {
            "mutual-exclusion" if excused => Self::Unaware,
            "mutual-exclusion" => Self::Overlap,
            "exclusive-ownership" => Self::Owners,
            "no-stale-effect" => Self::Stale,
            "no-lost-update" => Self::LostUpdate,
            "fencing-monotonic" => Self::Token,
            "progress" => Self::Stuck,
            "no-orphan" | "permits-conserved" => Self::Orphan,
            "own-release-only" | "reentrancy" => Self::Release,
            "fifo" | "bounded-bypass" | "no-starvation" => Self::Unfair,
            "honest-answer" | "all-or-none" => Self::Answer,
            "timely-loss" => Self::Late,
            "barrier" => Self::Early,
            _ => return None,
        })
    }
}
