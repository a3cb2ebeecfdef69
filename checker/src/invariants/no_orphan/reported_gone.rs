//! An ownership that its owner has said to be over. No contender can believe in it any more, so it is abandoned at
//! once, and not when a lease is over.

use crate::witness::WitnessBuilder;
use crate::{Evidence, Ownership, Verdict, VirtualTime};

pub(super) fn orphan(evidence: &Evidence<'_>) -> Option<Verdict> {
    released(evidence).or_else(|| refused(evidence))
}

fn released(evidence: &Evidence<'_>) -> Option<Verdict> {
    evidence.beliefs.iter().find_map(|belief| {
        let (released, ownership) = evidence.released_without_effect(belief)?;
        let said = format!("had released the lock at {}", evidence.at(released));
        Some(violated(evidence, ownership, released, &said))
    })
}

/// What an acquire that failed for certain has left, if it is the owner by that, or becomes it.
fn refused(evidence: &Evidence<'_>) -> Option<Verdict> {
    let left = evidence.orphan_of_failed_acquire()?;
    let of_this = |ownership: &&Ownership| {
        let owner = (ownership.by, ownership.lock, ownership.name);
        owner == (left.call.by, left.call.lock, left.name) && ownership.owned >= left.came
    };
    let ownership = evidence.ownerships.iter().find(of_this)?;
    let failed = left.call.failed;
    let said = format!("had failed to acquire the lock at {}", evidence.at(failed));
    Some(violated(
        evidence,
        ownership,
        failed.max(ownership.owned),
        &said,
    ))
}

fn violated(evidence: &Evidence<'_>, ownership: &Ownership, from: usize, said: &str) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let node = evidence.run.history.name(ownership.name);
    let who = case.name(ownership.by);
    let since = evidence.at(from);
    let until = evidence.at_or_end(ownership.disowned);
    let alone = VirtualTime::ZERO + until.since(since);
    case.show_ownership(ownership).show([from]);
    let summary =
        format!("{who} owned the lock by {node} for {alone} after it had said that it did not");
    case.then(format!("{who} {said}, for certain."))
        .however(format!(
            "the service had {who} as the owner by {node} until {until}."
        ))
        .broken(summary, from, None)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{summary, verdict};
    use crate::Verdict;

    #[test]
    fn what_was_released_and_is_still_there_is_an_orphan_within_its_lease() {
        let text = "a=0-5/name=x a:0-2 a.released:3 end:9";
        let expected = "a owned the lock by x for 2.000 s after it had said that it did not";
        assert_eq!(summary(text), expected);
        let failed = "a=0-5/name=x a:0-2 a.release-failed:3 end:9";
        assert_eq!(verdict(failed), Verdict::Holds);
        let denied = "a=0-5/name=x a:0-2 a.denied:2.5 a.released:3 end:9";
        assert_eq!(verdict(denied), Verdict::Holds);
    }

    #[test]
    fn what_a_call_that_failed_for_certain_owns_is_an_orphan_within_its_lease() {
        let text = "a.acquire:0 a=1-6/name=x a.failed:2 end:9";
        let expected = "a owned the lock by x for 4.000 s after it had said that it did not";
        assert_eq!(summary(text), expected);
        let unsaid = "a.acquire:0 a=1-6/name=x a.indefinite:2 end:9";
        assert_eq!(verdict(unsaid), Verdict::Holds);
    }

    #[test]
    fn a_place_that_was_left_is_an_orphan_when_its_turn_comes() {
        let text = "b=0-4 a.acquire:0 a.queued:1/name=x a.failed:2 a=4-6/name=x end:9";
        let expected = "a owned the lock by x for 2.000 s after it had said that it did not";
        assert_eq!(summary(text), expected);
    }
}
