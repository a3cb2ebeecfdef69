//! What is under way while a history is read.

use crate::Mode;

/// What is under way between one contender and one lock.
#[derive(Clone, Default)]
pub(super) struct Cell {
    /// In which mode it was asked for last.
    pub(super) mode: Mode,
    /// Calls of `acquire` without an answer, and the first of them.
    pub(super) asking: u32,
    pub(super) asked: Option<usize>,
    /// A call has ended without saying what it left at the service.
    pub(super) doubtful: bool,
    /// Open beliefs, and the latest of them; the others hang on it.
    pub(super) believes: u32,
    pub(super) open: Option<usize>,
    /// Beliefs whose release has no answer yet.
    pub(super) releasing: Option<usize>,
    /// The latest belief, open or not.
    pub(super) latest: Option<usize>,
    /// Where it learned that it has lost the lock, unless it has released or asked since: a candidate for an office
    /// stays one.
    pub(super) lost: Option<usize>,
    /// Open ownerships, and the latest of them; the others hang on it.
    pub(super) owns: u32,
    pub(super) owned: Option<usize>,
    /// The latest ownership, open or not.
    pub(super) granted: Option<usize>,
    /// The oldest write that has been sent and has not arrived; the younger ones hang on it.
    pub(super) oldest_sent: Option<usize>,
    pub(super) newest_sent: Option<usize>,
}

/// How many calls, beliefs, and ownerships of a lock are open, over all contenders.
#[derive(Clone, Copy, Default)]
pub(super) struct OpenCounts {
    pub(super) asking: u32,
    pub(super) believes: u32,
    pub(super) owns: u32,
}
