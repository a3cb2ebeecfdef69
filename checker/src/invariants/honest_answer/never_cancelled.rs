//! An acquire that says that it was cancelled, and was not.

use crate::evidence::Refused;
use crate::witness::WitnessBuilder;
use crate::{EventKind, Evidence, Failure, Verdict};

/// The verdict, if there is such an acquire.
pub(super) fn verdict(evidence: &Evidence<'_>) -> Option<Verdict> {
    let says_cancelled = |call: &&Refused| {
        let why = Failure::Cancelled;
        matches!(evidence.event(call.failed).what, EventKind::AcquireFailed { why: said, .. } if said == why)
    };
    let call = evidence.refused.iter().find(says_cancelled)?;
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(call.by);
    let (asked, failed) = (evidence.at(call.asked), evidence.at(call.failed));
    let summary = format!("{who} was told that its acquire was cancelled, which it was not");
    case.show([call.asked, call.failed]);
    case.then(format!(
        "acquire, called at {asked}, told {who} at {failed} that it was cancelled."
    ))
    .however(format!("no cancel came from {asked} until {failed}."));
    Some(case.broken(summary, call.failed, None))
}

#[cfg(test)]
mod tests {
    use super::super::tests::verdict;
    use crate::Verdict;

    #[test]
    fn a_call_without_a_cancel_is_not_cancelled() {
        let held = "a.acquire:0 a=1-2 a:1-2 a.released:2";
        let verdict = verdict(&format!("{held} a.acquire:3 a.says-cancelled:4"));
        let expected = "a was told that its acquire was cancelled, which it was not";
        assert_eq!(verdict.witness().expect("a violation").summary, expected);
    }

    #[test]
    fn who_is_cancelled_is_told_the_truth() {
        let held = "a.acquire:0 a=1-2 a:1-2 a.released:2";
        assert_eq!(
            verdict(&format!("{held} a.acquire:3 a.cancelled:4")),
            Verdict::Holds
        );
    }
}
