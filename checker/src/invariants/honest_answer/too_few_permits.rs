//! A call of several permits has returned them, and the service had given it fewer.

use crate::witness::WitnessBuilder;
use crate::{Belief, Evidence, Verdict};

/// The violation, if the service has given the call of this belief some permits, and fewer than it wanted. What one of
/// several servers says is no word of all.
pub(super) fn verdict(evidence: &Evidence<'_>, belief: &Belief) -> Option<Verdict> {
    let wanted = evidence.permits_per_acquire(belief.by) as usize;
    if wanted == 1 || evidence.run.facts.servers_decide_alone {
        return None;
    }
    let given = evidence.grants_of(belief).count();
    if given >= wanted {
        return None;
    }
    let mut case = WitnessBuilder::new(evidence);
    let (who, at) = (case.name(belief.by), evidence.at(belief.acquired));
    let summary =
        format!("{who} was told that it held {wanted} permits, of which it owned {given}");
    case.show_belief(belief);
    for grant in evidence.grants_of(belief) {
        case.show_ownership(grant);
    }
    case.then(format!(
        "acquire told {who} at {at} that it held {wanted} permits."
    ));
    case.however(format!(
        "the service had given it {given} until then, since the call began."
    ));
    Some(case.broken(summary, belief.acquired, None))
}

#[cfg(test)]
mod tests {
    use crate::invariants::honest_answer::INVARIANT;
    use crate::{Verdict, notation};

    /// Of four permits, a takes two by one call.
    fn verdict(text: &str) -> Verdict {
        let mut run = notation::run(text);
        (run.facts.permits, run.facts.permits_per_acquire) = (4, vec![2]);
        INVARIANT.verdict(&run)
    }

    #[test]
    fn a_call_of_two_permits_rests_on_two_grants() {
        let both = "a.acquire:0 a=1-9/name=p a=2-9/name=q a:3-9 a.released:10";
        assert_eq!(verdict(both), Verdict::Holds);
        // They may have gone while the answer was on its way, though not before the call.
        let late = both.replace("a=1-9", "a=1-2.5/how=expired");
        assert_eq!(verdict(&late), Verdict::Holds);
        let one = both
            .replace("a=1-9/name=p", "")
            .replace("a.acquire:0", "a=0-8/name=p a.acquire:1");
        let verdict = verdict(&one);
        let witness = verdict.witness().expect("a violation");
        assert_eq!(
            witness.summary,
            "a was told that it held 2 permits, of which it owned 1"
        );
    }

    #[test]
    fn a_release_gives_back_all_that_its_call_had_taken() {
        let kept = "a.acquire:0 a=1-9/name=p a=2-20/name=q a:3-9 a.released:10 end:21";
        let verdict = verdict(kept);
        let witness = verdict.witness().expect("a violation");
        let expected = "a was told that it had released the lock, which it still owned";
        assert_eq!(witness.summary, expected);
    }
}
