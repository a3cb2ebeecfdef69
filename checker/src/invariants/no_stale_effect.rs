//! Fencing, as the resource sees it: an earlier holder of the lock cannot write any more.

use crate::witness::WitnessBuilder;
use crate::{Arrival, Belief, Evidence, Invariant, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "no-stale-effect",
    truth: Truth::Effect,
    meaning: "The resource never accepts a write of an older holder after one of a newer.",
    check,
    inexcusable: None,
};

/// Which holder is older is for the service to say, by the order of its grants, and not for the tokens that the writes
/// carry: a token may be missing or wrong, which is what this is to find.
fn check(evidence: &Evidence<'_>) -> Verdict {
    if evidence.permits() > 1 {
        let why = "several hold the lock at once, and none of them is stale for being older";
        return Verdict::Undecided(why.to_owned());
    }
    let mut newest: Vec<Option<(usize, &Arrival)>> = Vec::new();
    let mut anything = false;
    for write in evidence.arrivals.iter().filter(|write| write.accepted) {
        anything = true;
        let Some(belief) = write.belief else {
            continue;
        };
        let age = evidence.age(&evidence.beliefs[belief]);
        let index = write.lock.0 as usize;
        if index >= newest.len() {
            newest.resize(index + 1, None);
        }
        match newest[index] {
            Some((newer, before)) if age < newer => return violated(evidence, before, write),
            Some((same, _)) if age == same => {}
            Some(_) | None => newest[index] = Some((age, write)),
        }
    }
    if !anything {
        return Verdict::Undecided("nothing was written".to_owned());
    }
    Verdict::Holds
}

fn violated(evidence: &Evidence<'_>, newer: &Arrival, stale: &Arrival) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let (new, old) = (case.name(newer.by), case.name(stale.by));
    let summary = if newer.by == stale.by {
        format!("the resource took a write from an earlier hold of {old} after one from a later")
    } else {
        format!("the resource took a write of {old} after one of {new}, which got the lock later")
    };
    let began = |belief: &Belief| evidence.at(evidence.age(belief));
    let belief_of = |write: &Arrival| write.belief.map(|index| &evidence.beliefs[index]);
    for write in [newer, stale] {
        case.show(write.sent).show([write.event]);
        if let Some(belief) = belief_of(write) {
            case.show_belief(belief);
        }
    }
    if let (Some(older), Some(younger)) = (belief_of(stale), belief_of(newer)) {
        let (older, younger) = (began(older), began(younger));
        case.then(format!(
            "{new} got the lock at {younger}, after {old}, which had got it at {older}."
        ));
        case.then(format!(
            "the resource took a write of {new} at {}.",
            evidence.at(newer.event)
        ));
    }
    let sent = match stale.sent {
        Some(sent) if evidence.at(sent) < evidence.at(stale.event) => {
            format!(", which had left it at {}", evidence.at(sent))
        }
        Some(_) | None => String::new(),
    };
    case.however(format!(
        "it took a write from the older hold of {old} at {}{sent}.",
        evidence.at(stale.event)
    ))
    .broken(summary, stale.event, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    fn summary(text: &str) -> String {
        verdict(text)
            .witness()
            .expect("a violation")
            .summary
            .clone()
    }

    #[test]
    fn where_several_hold_the_lock_at_once_none_is_stale() {
        let text = "a=0-10 a:0-10 b=1-9 b:1-9 b*2 a*3";
        assert!(verdict(text).witness().is_some());
        let mut run = notation::run(text);
        run.facts.permits = 2;
        assert!(matches!(INVARIANT.verdict(&run), Verdict::Undecided(_)));
    }

    #[test]
    fn each_writes_in_its_turn() {
        assert_eq!(verdict("a:0-10 a*5 a*6 b:10-20 b*10-20"), Verdict::Holds);
    }

    #[test]
    fn the_old_holder_may_be_late_so_long_as_the_new_one_has_not_written() {
        assert_eq!(verdict("a:0-10 a*9-12 b:10-20 b*13"), Verdict::Holds);
    }

    #[test]
    fn a_write_that_was_rejected_does_no_harm() {
        assert_eq!(
            verdict("a:0-10 b:10-20 b*11 a*9-12/rejected"),
            Verdict::Holds
        );
    }

    #[test]
    fn a_delayed_write_is_stale() {
        assert_eq!(
            summary("a:0-10 a*9-12 b:10-20 b*11"),
            "the resource took a write of a after one of b, which got the lock later"
        );
    }

    #[test]
    fn the_tokens_of_the_writes_do_not_decide() {
        let text = "a:0-10 a*9-12/token=9 b:10-20 b*11/token=3";
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn the_service_decides_who_is_older_even_if_its_answer_comes_late() {
        let text = "a.acquire:0 a=1-10/how=expired b=10-30 b:10-30 b*11 a:12-14 a*13";
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn a_late_write_from_the_contenders_own_earlier_hold_is_stale() {
        let text = "a:0-10 a*9-32 b:10-20 a:30-40 a*31";
        let found = verdict(text);
        assert_eq!(found, Verdict::Holds, "a's own writes arrive in order");
        assert!(
            verdict("a:0-10 a*9-32 b:10-20 b*33 a:30-40 a*31")
                .witness()
                .is_some()
        );
    }

    #[test]
    fn a_lost_write_is_not_taken_for_the_one_that_arrived() {
        let text = "a:0-10 a*9- b:10-20 b*11 a:20-30 a*21";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn the_write_of_a_crashed_contender_still_arrives() {
        let text = "a:0- a*9-22 a.crashed:10 b:20-30 b*21";
        assert!(verdict(text).witness().is_some());
    }

    #[test]
    fn without_a_write_nothing_is_said() {
        let nothing = Verdict::Undecided("nothing was written".to_owned());
        assert_eq!(verdict("a:0-10 a*5/rejected"), nothing);
    }
}
