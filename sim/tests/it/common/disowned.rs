//! How the service took the lock away.

use picklock_checker::{Disowned, EventKind, History};

/// In their order, all of them.
pub fn disowned(history: &History) -> Vec<Disowned> {
    let ends = history.events.iter().filter_map(|event| match event.what {
        EventKind::Disowned { how, .. } => Some(how),
        _ => None,
    });
    ends.collect()
}
