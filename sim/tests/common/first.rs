//! When something happens first.

use picklock_checker::{History, VirtualTime, What};

/// When the first event of this kind happened.
pub fn first(history: &History, wanted: impl Fn(&What) -> bool) -> Option<VirtualTime> {
    let mut events = history.events.iter();
    events
        .find(|event| wanted(&event.what))
        .map(|event| event.at)
}
