//! How long the service may keep an ownership that no contender believes in.

use crate::{Disowned, Event, EventKind, Evidence, Ownership, VirtualTime};

/// When an ownership ought to have been over, and in words from when on its last lease counts; without words, from its
/// last use on.
pub(super) type Overdue = (VirtualTime, &'static str);

/// When an ownership that was abandoned for this stretch ought to have been over, if it was not: a lease after its last
/// use; or after the last new leader of that time began, which gave it its full time again. What came before that is
/// not judged: without a leader nothing expires. Nor is what came before the owner was struck down, if that was no
/// longer than a lease: until then it may have been about to find out, and its session has its full time from then on.
pub(super) fn overdue(
    evidence: &Evidence<'_>,
    ownership: &Ownership,
    since: VirtualTime,
    until: VirtualTime,
) -> Option<Overdue> {
    let mut resets = evidence.run.lease_resets.iter().rev();
    let last = resets.find(|at| **at <= until).copied();
    let (mut from, mut counted) = match last {
        Some(last) if last > since => (last, ", from the beginning of a new leader on"),
        Some(_) | None => (since, ""),
    };
    if let Some(extended) = last_extension(evidence, ownership, until).filter(|at| *at > from) {
        (from, counted) = (
            extended,
            ", from an extension on that was on its way when it left",
        );
    }
    let lease = evidence.run.facts.lease;
    if until.since(from) <= lease {
        return None;
    }
    if let Some((at, words)) = struck_down(evidence, ownership)
        && (from..until).contains(&at)
        && at.since(from) <= lease
    {
        (from, counted) = (at, words);
    }
    (until.since(from) > lease).then(|| (from + lease, counted))
}

/// When the lease was last extended by a request that its owner had sent while it believed in the lock.
fn last_extension(
    evidence: &Evidence<'_>,
    ownership: &Ownership,
    until: VirtualTime,
) -> Option<VirtualTime> {
    let owner = (ownership.by, ownership.lock);
    let sent_inside = |sent: VirtualTime| {
        evidence.beliefs.iter().any(|belief| {
            let inside = evidence.at(belief.acquired)..=evidence.at_or_never(belief.left);
            (belief.by, belief.lock) == owner && inside.contains(&sent)
        })
    };
    let mut extensions = evidence.run.late_extensions.iter().rev();
    let last = extensions.find(|write| {
        (write.by, write.lock) == owner && write.at <= until && sent_inside(write.sent)
    });
    last.map(|extension| extension.at)
}

/// When the process that came to own the lock died, if it did; or when it last fell silent, if the service has ended
/// its session for that. And from when on its last lease counts then.
fn struck_down(
    evidence: &Evidence<'_>,
    ownership: &Ownership,
) -> Option<(VirtualTime, &'static str)> {
    let by = ownership.by;
    let words = |event: &Event| match event.what {
        EventKind::Crashed { .. } => Some((event.at, ", from its death on")),
        EventKind::Paused { .. } => Some((event.at, ", from when it stood still on")),
        EventKind::Disconnected { .. } => Some((event.at, ", from when its connection broke on")),
        _ => None,
    };
    let events = &evidence.run.history.events[ownership.owned..];
    let mut deaths = events.iter();
    let death = deaths.find(|event| event.what == EventKind::Crashed { by });
    if let Some(death) = death.and_then(words) {
        return Some(death);
    }
    let end = ownership
        .disowned
        .filter(|_| ownership.how == Some(Disowned::Expired))?;
    let before = events[..end - ownership.owned].iter().rev();
    before
        .filter(|event| event.what.by() == Some(by))
        .find_map(words)
}

#[cfg(test)]
mod tests {
    use super::super::INVARIANT;
    use crate::{ContenderId, LateExtension, LockId, Verdict, VirtualTime, notation};

    #[test]
    fn an_extension_that_was_sent_inside_gives_a_whole_lease_again() {
        let extended = |sent: u64, at: u64| {
            let seconds = |seconds| VirtualTime::from_micros(seconds * 1_000_000);
            let mut run = notation::run("a=0-19 a:0-5 a.release-failed:8 end:60");
            run.late_extensions = vec![LateExtension {
                by: ContenderId(0),
                lock: LockId(0),
                sent: seconds(sent),
                at: seconds(at),
            }];
            INVARIANT.verdict(&run)
        };
        assert_eq!(extended(4, 9), Verdict::Holds);
        let late = extended(4, 8);
        let witness = late.witness().expect("it had its lease, and no more");
        assert_eq!(witness.at.micros(), 18_000_000);
        // A contender that renews what it gives back makes an orphan.
        assert!(extended(6, 9).witness().is_some());
    }
}
