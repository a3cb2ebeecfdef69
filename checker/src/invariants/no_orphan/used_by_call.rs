//! What a pending call of several locks, or of several permits, has acquired already: it is in use, though its
//! caller does not believe in it yet.

use crate::{Event, EventKind, Evidence, Ownership, VirtualTime};

/// For how long a call of several locks stands behind an ownership that it has come to in its middle: until it has
/// all of them, or has come back; and the event that says so of this lock. Not behind one that it has forgotten,
/// and has another place beside.
pub(super) fn used_by_call(
    evidence: &Evidence<'_>,
    ownership: &Ownership,
) -> Option<(VirtualTime, Option<usize>)> {
    let (by, lock) = (ownership.by, ownership.lock);
    if evidence.permits_per_acquire(by) > 1 {
        return used_by_call_of_permits(evidence, ownership);
    }
    let made = evidence.where_made(lock, ownership.name, Some(by));
    let made = made.unwrap_or(ownership.owned);
    let calls = evidence.multi_calls();
    let call = calls.into_iter().find(|call| {
        let asked = call.asked(lock).filter(|_| call.by == by);
        let over = call.ends.first().is_some_and(|end| *end < ownership.owned);
        asked.is_some_and(|asked| asked < made.min(ownership.owned)) && !over
    })?;
    let later = evidence.queueing.iter().filter(|event| **event > made);
    let mut later = later.take_while(|event| call.ends.first().is_none_or(|end| *event < end));
    let forgotten = later.any(|event| {
        matches!(evidence.event(*event).what,
            EventKind::Queued { by: who, lock: of, .. } if (who, of) == (by, lock))
    });
    if forgotten {
        return None;
    }
    let end = call.ends.first().copied();
    if let Some(all) = evidence.owns_all_from(&call, end) {
        return Some((evidence.at(all), None));
    }
    let mut ends = call.ends.iter().copied();
    let said = ends.find(|end| evidence.event(*end).what.lock().is_none_or(|of| of == lock));
    Some((evidence.at_or_never(end), said))
}

/// The same of a call of several permits: until it has come back. Not behind those that it has forgotten, and has as
/// many later ones beside as it wants.
fn used_by_call_of_permits(
    evidence: &Evidence<'_>,
    ownership: &Ownership,
) -> Option<(VirtualTime, Option<usize>)> {
    let of = (ownership.by, ownership.lock);
    let events = &evidence.run.history.events;
    let asks = |event: &Event| match event.what {
        EventKind::AcquireStarted { by, lock, .. } => (by, lock) == of,
        _ => false,
    };
    let asked = events[..ownership.owned].iter().rposition(asks)?;
    let ends = |event: &Event| match event.what {
        EventKind::Acquired { by, lock, .. }
        | EventKind::AcquireFailed { by, lock, .. }
        | EventKind::Cancelled { by, lock } => (by, lock) == of,
        EventKind::Crashed { by } => by == of.0,
        _ => false,
    };
    let end = events[asked..]
        .iter()
        .position(ends)
        .map(|after| asked + after);
    if end.is_some_and(|end| end < ownership.owned) {
        return None;
    }
    let later = evidence.ownerships.iter().filter(|other| {
        (other.by, other.lock) == of
            && ownership.owned < other.owned
            && end.is_none_or(|end| other.owned < end)
    });
    let is_forgotten = later.count() >= evidence.permits_of([of.0]);
    (!is_forgotten).then(|| (evidence.at_or_never(end), end))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{summary, verdict};
    use crate::{Verdict, notation};

    /// A call for x and y.
    const BOTH: &str = "a.acquire:0/on=x a.acquire:0/on=y";

    /// Of two permits, a takes both by one call.
    fn verdict_of_two(text: &str) -> Verdict {
        let mut run = notation::run(text);
        (run.facts.permits, run.facts.permits_per_acquire) = (2, vec![2]);
        super::super::INVARIANT.verdict(&run)
    }

    #[test]
    fn the_first_permit_of_a_call_that_waits_for_the_second_is_in_use() {
        let half = "a.acquire:0 b=0-60/name=r b:0-60 b.released:60 a=1-70/name=p";
        let both = format!("{half} a=60-70/name=q a:61-69 a.released:70");
        assert_eq!(verdict_of_two(&both), Verdict::Holds);
        let failed = |gone| {
            format!("a.acquire:0 b=0-60/name=r b:0-60 a=1-{gone}/name=p a.indefinite:30 end:60")
        };
        assert_eq!(verdict_of_two(&failed("40")), Verdict::Holds);
        assert!(verdict_of_two(&failed("41")).witness().is_some());
        // The first of three is of no call any more.
        let forgotten = "a.acquire:0 a=1-60/name=p a=2-60/name=q a=3-60/name=r end:60";
        assert!(verdict_of_two(forgotten).witness().is_some());
        let two = forgotten.replace("a=3-60/name=r", "");
        assert_eq!(verdict_of_two(&two), Verdict::Holds);
    }

    #[test]
    fn each_permit_of_a_hold_is_in_use_as_long_as_it_lasts() {
        let held = "a.acquire:0 a=1-60/name=p a=1-60/name=q a:2-60 a.released:60";
        assert_eq!(verdict_of_two(held), Verdict::Holds);
        let kept = held.replace("a=1-60/name=p", "a=1-90/name=p") + " end:90";
        assert!(verdict_of_two(&kept).witness().is_some());
    }

    #[test]
    fn what_a_pending_call_of_several_locks_has_acquired_is_no_orphan() {
        // It waits for the other one, to the end.
        let text =
            format!("{BOTH} b=0-/on=y b:0-/on=y a=1-/on=x bound-reached:60 a.waiting:60/on=y");
        assert_eq!(verdict(&text), Verdict::Holds);
        // It gives back what it had when it comes back without all.
        let failed = |given_back| {
            format!(
                "{BOTH} b=0-60/on=y b:0-60/on=y a=1-{given_back}/on=x a.failed:30/on=x \
                 a.failed:30/on=y end:60"
            )
        };
        assert_eq!(verdict(&failed(29)), Verdict::Holds);
        assert!(verdict(&failed(41)).witness().is_some());
        // A call that cannot say what it left has a lease for that.
        let indefinite = |given_back| failed(given_back).replace("a.failed", "a.indefinite");
        assert_eq!(verdict(&indefinite(40)), Verdict::Holds);
        let late = verdict(&indefinite(41));
        let witness = late.witness().expect("a violation");
        assert_eq!(witness.at.micros(), 40_000_000);
    }

    #[test]
    fn a_call_of_several_locks_that_owns_all_and_waits_is_an_orphan() {
        let text = format!(
            "{BOTH} a=1-/on=x/name=p a=2-/on=y bound-reached:60 a.waiting:60/on=y/behind=q"
        );
        let expected = "x: a owned the lock by p for 58.000 s, and no contender believed in it";
        assert_eq!(summary(&text), expected);
    }

    #[test]
    fn what_a_pending_call_of_several_locks_has_not_made_itself_is_an_orphan() {
        // An earlier call has left it.
        let earlier = "a.acquire:0/on=x a.cancelled:1/on=x a=2-/on=x a.acquire:3/on=x \
                       a.acquire:3/on=y bound-reached:60 a.waiting:60/on=x";
        assert!(verdict(earlier).witness().is_some());
        // It stands in the queue twice, behind itself.
        let twice = format!(
            "{BOTH} a.queued:1/on=x/name=p a.queued:2/on=x/name=q a=3-/on=x/name=p \
             bound-reached:60 a.waiting:60/on=x/behind=p"
        );
        assert!(verdict(&twice).witness().is_some());
    }
}
