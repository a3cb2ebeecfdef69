//! Rows that stand beside all lanes and get their place by their time: what the service did, and since when a contender
//! could have known of its loss. The latter is recorded when its belief ends, and is read where it counts from.

use picklock_checker::{EventKind, History, VirtualTime};

/// A row beside all lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideRow {
    /// How many events come before it.
    pub(super) after: usize,
    /// Its time.
    pub(super) at: VirtualTime,
    /// What it tells.
    pub(super) what: SideRowKind,
}

/// What a row beside all lanes tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum SideRowKind {
    /// An event of the service, by its place.
    Service(usize),
    /// A `CouldHaveKnown`, by its place.
    CouldKnow(usize),
}

/// After how many events the row of a `CouldHaveKnown` comes, and its time: since when it could know, but not before
/// the belief began.
pub(super) fn since_when_it_could_know(
    history: &History,
    index: usize,
) -> Option<(usize, VirtualTime)> {
    let EventKind::CouldHaveKnown {
        by, lock, since, ..
    } = history.events.get(index)?.what
    else {
        return None;
    };
    let before = &history.events[..index];
    let entered = before.iter().rposition(|event| {
        matches!(event.what, EventKind::Acquired { by: who, lock: of, .. } if (who, of) == (by, lock))
    });
    let sorted = before.partition_point(|event| event.at <= since);
    Some(match entered {
        Some(entered) if sorted <= entered => (entered + 1, before[entered].at),
        Some(_) | None => (sorted, since),
    })
}
