//! How an ownership came to be abandoned.

use crate::{Event, EventKind, Evidence, Ownership, VirtualTime};

/// What an event by which an ownership can be abandoned says of its owner.
pub(super) fn how_it_was_left(evidence: &Evidence<'_>, who: &str, event: usize) -> Option<String> {
    let Event { at, what } = evidence.event(event);
    let phrase = match what {
        EventKind::Crashed { .. } => "crashed at",
        EventKind::Lost { .. } => "gave up its hold at",
        EventKind::Released { .. } => "had released the lock at",
        EventKind::ReleaseFailed { .. } => "failed to release the lock at",
        EventKind::AcquireFailed { .. } => "failed to acquire the lock at",
        EventKind::ReleaseCancelled { .. } => "had its release cancelled at",
        EventKind::Cancelled { .. } => "had its acquire cancelled at",
        EventKind::AcquireStarted { .. } => "was waiting, in a call since",
        EventKind::Finished { .. } => "had finished at",
        _ => return None,
    };
    Some(format!("{who} {phrase} {at}"))
}

/// How the owner's last calls went that may have left the ownership behind.
pub(super) fn calls_of_owner(
    evidence: &Evidence<'_>,
    ownership: &Ownership,
    until: VirtualTime,
) -> Vec<usize> {
    let owner = (ownership.by, ownership.lock);
    let of_owner = |what: EventKind| {
        matches!(what, EventKind::AcquireFailed { by, lock, .. }
            | EventKind::Cancelled { by, lock }
            | EventKind::AcquireStarted { by, lock, .. } if (by, lock) == owner)
            || matches!(what, EventKind::Crashed { by } | EventKind::Finished { by } if by == owner.0)
    };
    let events = evidence.run.history.events.iter().enumerate();
    let before = events.take_while(|(_, event)| event.at <= until);
    let found = before.filter(|(_, event)| of_owner(event.what));
    let mut found: Vec<usize> = found.map(|(index, _)| index).collect();
    // The last few are enough to see what it had been doing.
    found.drain(..found.len().saturating_sub(3));
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::verdict;

    #[test]
    fn that_a_forgotten_node_was_made_is_shown() {
        let made_late = "b=0-4 a.acquire:0 a.cancelled:1 a.queued:2/name=x a=4-/name=x end:20";
        let witness = verdict(made_late).witness().cloned().expect("a violation");
        assert_eq!(witness.events, [0, 2, 3, 5]);
    }
}
