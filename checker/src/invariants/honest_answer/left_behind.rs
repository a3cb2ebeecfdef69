//! What an acquire that failed for certain has left at the service all the same.

use crate::evidence::Orphan;
use crate::witness::WitnessBuilder;
use crate::{Evidence, Verdict};

pub(super) fn verdict(evidence: &Evidence<'_>, left: &Orphan) -> Verdict {
    let Orphan {
        call,
        name,
        came,
        gone,
    } = *left;
    let mut case = WitnessBuilder::new(evidence);
    let (who, node) = (case.name(call.by), evidence.run.history.name(name));
    let (failed, since) = (evidence.at(call.failed), evidence.at(came));
    let until = match gone {
        Some(gone) => format!("until {}", evidence.at(gone)),
        None => "to the end of the run".to_owned(),
    };
    let summary = format!("{who} was told that its acquire had left nothing, and {node} was left");
    case.show([call.asked, call.failed, came]).show(gone);
    case.then(format!(
        "acquire told {who} at {failed} that it had failed, and that nothing was left of it."
    ))
    .however(format!(
        "{node} of {who} was at the service from {since} {until}."
    ))
    .broken(summary, call.failed.max(came), None)
}

#[cfg(test)]
mod tests {
    use super::super::INVARIANT;
    use super::super::tests::verdict;
    use crate::{Verdict, VirtualTime, notation};

    #[track_caller]
    fn left(text: &str, node: &str) {
        let verdict = verdict(text);
        let witness = verdict.witness().expect("a violation");
        let expected = format!("a was told that its acquire had left nothing, and {node} was left");
        assert_eq!(witness.summary, expected);
    }

    #[test]
    fn a_node_that_outlives_an_acquire_that_failed_for_certain_is_a_lie_however_soon_it_goes() {
        let queued = "b=0-9 b:0-9 b.released:9 a.acquire:1 a.queued:2/name=x";
        left(&format!("{queued} a.failed:3 a.unqueued:3.5/name=x"), "x");
        left(&format!("{queued} a.failed:3"), "x");
        let cleaned = format!("{queued} a.unqueued:3/name=x a.failed:3");
        assert_eq!(verdict(&cleaned), Verdict::Holds);
        assert_eq!(verdict(&format!("{queued} a.indefinite:3")), Verdict::Holds);
    }

    #[test]
    fn so_is_a_key() {
        left("a.acquire:1 a=2-4/how=expired/name=k a.failed:3", "k");
        let cleaned = "b=0-1 b:0-1 b.released:1 a.acquire:1 a=2-3 a.failed:3";
        assert_eq!(verdict(cleaned), Verdict::Holds);
    }

    #[test]
    fn what_comes_when_it_had_failed_was_on_its_way() {
        let text = "b=0-9 b:0-9 b.released:9 a.acquire:1 a.failed:3 a.queued:4/name=x";
        left(text, "x");
        // Unless another call has begun by then.
        let again = "b=0-9 b:0-9 b.released:9 a.acquire:1 a.failed:3 a.acquire:4 a.queued:5/name=x";
        assert_eq!(verdict(again), Verdict::Holds);
    }

    #[test]
    fn what_comes_may_be_of_an_earlier_call_that_could_not_say_what_it_left() {
        for unsaid in ["a.indefinite:2", "a.cancelled:2", "a.crashed:2"] {
            let text = format!(
                "b=0-9 b:0-9 b.released:9 a.acquire:1 {unsaid} a.acquire:3 a.queued:4/name=x a.failed:5"
            );
            assert_eq!(verdict(&text), Verdict::Holds, "{unsaid}");
        }
    }

    #[test]
    fn what_a_server_brings_back_is_not_of_this_call() {
        let other = "b=0-1 b:0-1 b.released:1";
        let expired = "how=expired/name=k";
        let after = |event: &str| {
            format!("{other} a=1-2/{expired} a.acquire:2 {event} a=3-5/{expired} a.failed:4")
        };
        assert_eq!(verdict(&after("fault1.fired:3")), Verdict::Holds);
        left(&after("fault1.fired:2.5"), "k");
    }

    #[test]
    fn what_a_new_leader_brings_back_of_an_ended_session_is_not_of_this_call() {
        let with_leaders = |text: &str, leaders: &[u64]| {
            let mut run = notation::run(text);
            let leaders = leaders.iter();
            run.lease_resets = leaders
                .map(|at| VirtualTime::from_micros(at * 1_000_000))
                .collect();
            INVARIANT.verdict(&run)
        };
        let text = |ended: &str| {
            let queued = "b=0-9 b:0-9 b.released:9 a.acquire:3 a.queued:5/name=x";
            format!("{ended} {queued} a.failed:6 a.unqueued:8/name=x")
        };
        let lost = text("a.session-lost:2");
        assert_eq!(with_leaders(&lost, &[4]), Verdict::Holds);
        // No leader has begun since the last end of a session, or no session had ended before the call.
        let again = text("a.session-lost:0 a.session-lost:2");
        let during = text("a.session-lost:3.5");
        for (text, leaders) in [
            (&lost, &[][..]),
            (&lost, &[1]),
            (&again, &[1]),
            (&during, &[4]),
            (&text(""), &[4]),
        ] {
            let verdict = with_leaders(text, leaders);
            assert!(verdict.witness().is_some(), "{text} {leaders:?}");
        }
    }

    #[test]
    fn the_place_of_an_earlier_call_is_not_of_this_one() {
        let text =
            "b=0-9 b:0-9 b.released:9 a.queued:1/name=x a.acquire:2 a=9-20/name=x a.failed:10";
        assert_eq!(verdict(text), Verdict::Holds);
    }
}
