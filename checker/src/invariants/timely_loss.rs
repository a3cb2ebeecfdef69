//! No contender goes on believing in a lock that it could know to be lost.

use crate::witness::{WitnessBuilder, lasting};
use crate::{Belief, Evidence, Invariant, Knowledge, Known, Truth, Verdict, VirtualTime};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "timely-loss",
    truth: Truth::Belief,
    meaning: "No contender believes that it holds the lock for longer than a bound after it could know \
              that it does not.",
    check,
    inexcusable: Some(check),
};

/// A holder could know when its process had been told (its session or its node was gone, an extension was refused), or
/// when its own clock had passed its lease or its session while it ran; and the service had indeed ended its ownership.
/// Faults keep a holder from knowing. They never excuse what it does when it could.
fn check(evidence: &Evidence<'_>) -> Verdict {
    if evidence.beliefs.is_empty() {
        return Verdict::Undecided("no contender ever got the lock".to_owned());
    }
    for belief in &evidence.beliefs {
        let Some((known, since)) = belief.known.zip(evidence.could_know(belief)) else {
            continue;
        };
        if was_over_from_the_beginning(evidence, belief, known, since) {
            return handed_out_too_late(evidence, belief, known);
        }
        let until = evidence.at_or_end(belief.left);
        let latest = evidence.inexcusable_from(belief);
        if let Some(latest) = latest.filter(|latest| until > *latest) {
            return believed_too_long(evidence, belief, (known, since), (latest, until));
        }
    }
    Verdict::Holds
}

/// Whether `acquire` returned a hold that was no longer valid by the clock of its caller.
fn was_over_from_the_beginning(
    evidence: &Evidence<'_>,
    belief: &Belief,
    known: Known,
    since: VirtualTime,
) -> bool {
    let acquired = evidence.at(belief.acquired);
    known.how == Knowledge::ValidityOver && since <= acquired
}

fn handed_out_too_late(evidence: &Evidence<'_>, belief: &Belief, known: Known) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(belief.by);
    let at = evidence.at(belief.acquired);
    let summary = format!("{who} was handed a hold that was over by its own clock");
    let why = case.why_until(belief);
    case.show_belief(belief)
        .show([known.index])
        .then(format!("acquire told {who} at {at} that it held the lock."))
        .then(why)
        .however(format!(
            "{who} could know when acquire returned: {}.",
            known.how.clause()
        ))
        .broken(summary, belief.acquired, None)
}

fn believed_too_long(
    evidence: &Evidence<'_>,
    belief: &Belief,
    (known, since): (Known, VirtualTime),
    (latest, until): (VirtualTime, VirtualTime),
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(belief.by);
    let late = until.since(since);
    let summary = format!(
        "{who} went on believing for {} after it could know that it had lost the lock",
        lasting(late)
    );
    let why = case.why_until(belief);
    case.show_belief(belief)
        .show([known.index])
        .then(why)
        .however(format!(
            "{who} could know since {since}: {}.",
            known.how.clause()
        ))
        .broken_at(summary, latest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    fn summary(text: &str) -> String {
        let verdict = verdict(text);
        let witness = verdict.witness().expect("a violation");
        witness.summary.clone()
    }

    #[test]
    fn a_holder_that_stops_within_the_bound_was_in_time() {
        let text = "a=0-5/how=expired a:0-8.4 a.could-know:8";
        assert_eq!(verdict(text), Verdict::Holds);
        let text = "a=0-5/how=expired a:0-8.5 a.could-know:8";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn a_holder_that_goes_on_is_named_even_if_no_other_comes() {
        let text = "a=0-5/how=expired a:0-20 a.could-know:8/how=refused";
        assert_eq!(
            summary(text),
            "a went on believing for 12.000 s after it could know that it had lost the lock"
        );
    }

    #[test]
    fn a_holder_that_cannot_know_is_never_blamed() {
        assert_eq!(verdict("a=0-5/how=expired a:0-90"), Verdict::Holds);
    }

    #[test]
    fn a_pause_gives_no_time_to_act() {
        let text = "a=0-5/how=expired a.paused:1 a.resumed:8 a.paused:8 a:0-20 a.resumed:20 \
                    a.could-know:8/how=over";
        assert_eq!(verdict(text), Verdict::Holds);
        let text = "a=0-5/how=expired a.paused:1 a.resumed:8 a.paused:8.2 a:0-20.5 a.resumed:20 \
                    a.could-know:8/how=over";
        assert_eq!(
            summary(text),
            "a went on believing for 12.500 s after it could know that it had lost the lock"
        );
    }

    #[test]
    fn an_owner_of_the_lock_has_lost_nothing() {
        assert_eq!(verdict("a=0-20 a:0-20 a.could-know:8"), Verdict::Holds);
    }

    #[test]
    fn what_was_known_too_early_counts_from_the_loss() {
        let text = "a=0-9/how=expired a:0-9.4 a.could-know:1/how=over";
        assert_eq!(verdict(text), Verdict::Holds);
        let text = "a=0-9/how=expired a:0-10 a.could-know:1/how=over";
        assert_eq!(
            summary(text),
            "a went on believing for 1.000 s after it could know that it had lost the lock"
        );
    }

    #[test]
    fn a_hold_that_is_over_when_it_is_handed_out_is_a_loss_of_no_length() {
        let text = "a.acquire:0 a=1-5/how=expired a:6-6.1 a.could-know:6/how=over";
        assert_eq!(
            summary(text),
            "a was handed a hold that was over by its own clock"
        );
    }

    #[test]
    fn without_a_hold_nothing_is_said() {
        assert!(matches!(
            verdict("a.acquire:0 end:9"),
            Verdict::Undecided(_)
        ));
    }
}
