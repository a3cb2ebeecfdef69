//! When something happens first.

use picklock_checker::{EventKind, History, VirtualTime};

/// When the first event of this kind happened.
pub fn first(history: &History, wanted: impl Fn(&EventKind) -> bool) -> Option<VirtualTime> {
    let mut events = history.events.iter();
    events
        .find(|event| wanted(&event.what))
        .map(|event| event.at)
}
