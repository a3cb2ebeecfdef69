//! Why a call of a lock failed, by what the servers report.

use picklock_checker::{EventKind, Failure, History, ServiceEventKind};

/// The service's answer to a call that it refused, by the place of the event of the failure.
pub(super) fn refusal(history: &History, index: usize) -> Option<String> {
    let (by, is_release) = match history.events[index].what {
        EventKind::AcquireFailed {
            by,
            why: Failure::Refused,
            ..
        } => (by, false),
        EventKind::ReleaseFailed {
            by,
            why: Failure::Refused,
            ..
        } => (by, true),
        _ => return None,
    };
    let mut before = history.events[..index].iter();
    let began = before.rposition(|event| match event.what {
        EventKind::AcquireStarted { by: who, .. } => !is_release && who == by,
        EventKind::ReleaseStarted { by: who, .. } => is_release && who == by,
        _ => false,
    })?;
    let during = history.service.iter().rev();
    let mut during = during.filter(|event| event.after > began && event.after <= index);
    let error = during.find_map(|event| match &event.what {
        ServiceEventKind::ErrorReply { to, error } if *to == by => Some(error),
        _ => None,
    });
    // Without one it may have been the recipe that refused, or the client library, or a script that said no.
    error.map(|error| format!("refused: {error}"))
}
