//! Barriers: no contender passes one while it stands, enters a double barrier before all have come or leaves it before
//! all are done, or passes a count-down latch before all participants have counted down.

mod latch;
mod parties;
mod standing;

pub(super) use parties::{Out, Parties};

use crate::witness::WitnessBuilder;
use crate::{ContenderId, EventKind, Evidence, Invariant, LockId, Rendezvous, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "barrier",
    truth: Truth::Belief,
    meaning: "No contender passes a barrier while it stands, enters a double barrier before all parties have come, or \
              leaves it before all are done; or passes a count-down latch before each participant has counted down.",
    check,
    inexcusable: None,
};

fn check(evidence: &Evidence<'_>) -> Verdict {
    match evidence.run.facts.rendezvous {
        None => Verdict::Undecided("it is no barrier".to_owned()),
        Some(Rendezvous::Barrier) => standing::check(evidence),
        Some(Rendezvous::DoubleBarrier { parties }) => of_parties(evidence, parties),
        Some(Rendezvous::CountDownLatch { count }) => latch::check(evidence, count),
    }
}

/// The nth time that a party enters a double barrier, all others have come to it n times; and the nth time that it
/// leaves, all others have been done n times. A party that has died there, or lost its session, is not waited for, and
/// what it does there later is not judged: the service has let its node go, the others may have gone on without it, and
/// the successor of a dead party does not know how far that had come.
fn of_parties(evidence: &Evidence<'_>, count: u32) -> Verdict {
    let mut parties = Parties::new(count);
    let mut is_entered = false;
    for (index, event) in evidence.run.history.events.iter().enumerate() {
        parties.take(index, event.what);
        match event.what {
            EventKind::Acquired { by, lock, .. } => {
                is_entered = true;
                if let Some(late) = parties.not_come(by, lock) {
                    return entered_early(evidence, &parties, index, (by, lock, late));
                }
            }
            EventKind::Released { by, lock } => {
                if let Some(late) = parties.not_done(by, lock) {
                    return left_early(evidence, &parties, index, (by, lock, late));
                }
            }
            _ => {}
        }
    }
    match is_entered {
        true => Verdict::Holds,
        false => Verdict::Undecided("no contender ever entered the barrier".to_owned()),
    }
}

/// The party that passes, where, and the first party that it should have waited for.
type Passed = (ContenderId, LockId, ContenderId);

fn entered_early(
    evidence: &Evidence<'_>,
    parties: &Parties,
    entered: usize,
    (by, lock, late): Passed,
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let (who, other) = (case.name(by), case.name(late));
    let at = evidence.at(entered);
    let nth = nth_time(parties.times(by, lock));
    if let Some(came) = parties.came(by, lock) {
        case.show([came]);
        case.then(format!(
            "{who} came{nth} at {}, and entered at {at}.",
            evidence.at(came)
        ));
    }
    let comes = next_step(
        evidence,
        entered,
        |what| matches!(what, EventKind::AcquireStarted { by, lock: of, .. } if (by, of) == (late, lock)),
    );
    case.show(comes);
    case.however(match comes {
        Some(comes) => format!("{other} came{nth} only at {}.", evidence.at(comes)),
        None => format!("{other} had not come{nth}, and never did."),
    });
    let summary = format!("{who} enters before {other} has come");
    case.broken(summary, entered, None)
}

fn left_early(
    evidence: &Evidence<'_>,
    parties: &Parties,
    left: usize,
    (by, lock, late): Passed,
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let (who, other) = (case.name(by), case.name(late));
    let at = evidence.at(left);
    if let Some(done) = parties.done(by, lock) {
        case.show([done]);
        case.then(format!(
            "{who} was done at {}, and left at {at}.",
            evidence.at(done)
        ));
    }
    if let Some(entered) = parties.entered(late, lock) {
        case.show([entered]);
        case.then(format!("{other} had entered at {}.", evidence.at(entered)));
    }
    let done = next_step(
        evidence,
        left,
        |what| matches!(what, EventKind::ReleaseStarted { by, lock: of } if (by, of) == (late, lock)),
    );
    case.show(done);
    case.however(match done {
        Some(done) => format!("{other} was done only at {}.", evidence.at(done)),
        None if parties.entered(late, lock).is_none() => format!("{other} had not even entered."),
        None => format!("{other} was not done, and never was."),
    });
    let summary = format!("{who} leaves before {other} is done");
    case.broken(summary, left, None)
}

/// In a barrier that is used several times, which time it is.
fn nth_time(times: u32) -> String {
    match times {
        0 | 1 => String::new(),
        2 => " for the 2nd time".to_owned(),
        3 => " for the 3rd time".to_owned(),
        more => format!(" for the {more}th time"),
    }
}

/// When a contender came, and when it passed.
fn came_and_passed(evidence: &Evidence<'_>, who: &str, came: usize, passed: usize) -> String {
    format!(
        "{who} came at {}, and passed at {}.",
        evidence.at(came),
        evidence.at(passed)
    )
}

/// The next release of a contender after this event.
fn next_release(evidence: &Evidence<'_>, after: usize, of: (ContenderId, LockId)) -> Option<usize> {
    next_step(
        evidence,
        after,
        |what| matches!(what, EventKind::ReleaseStarted { by, lock } if (by, lock) == of),
    )
}

/// The first event after this one that is such a step.
fn next_step(
    evidence: &Evidence<'_>,
    after: usize,
    is_it: impl Fn(EventKind) -> bool,
) -> Option<usize> {
    let events = evidence.run.history.events.iter().enumerate();
    let mut steps = events.skip(after).filter(|(_, event)| is_it(event.what));
    steps.next().map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.rendezvous = Some(Rendezvous::DoubleBarrier { parties: 2 });
        INVARIANT.verdict(&run)
    }

    fn summary(text: &str) -> String {
        let verdict = verdict(text);
        let witness = verdict.witness().expect("a violation");
        witness.summary.clone()
    }

    const TOGETHER: &str = "a.acquire:0 b.acquire:3 a:3-5 b:4-9 a.released:9 b.released:9 end:10";

    #[test]
    fn all_may_enter_when_the_last_has_come_and_leave_when_the_last_is_done() {
        assert_eq!(verdict(TOGETHER), Verdict::Holds);
    }

    #[test]
    fn a_mutex_is_no_barrier() {
        let run = notation::run(TOGETHER);
        let undecided = Verdict::Undecided("it is no barrier".to_owned());
        assert_eq!(INVARIANT.verdict(&run), undecided);
    }

    #[test]
    fn a_barrier_that_no_contender_enters_says_nothing() {
        let waits = verdict("a.acquire:0 end:10");
        assert!(matches!(waits, Verdict::Undecided(_)));
    }

    #[test]
    fn who_enters_before_the_last_has_come_is_early_by_however_little() {
        let early = "a.acquire:0 a:2.999999-5 b.acquire:3 b:4-9";
        assert_eq!(summary(early), "a enters before b has come");
        assert_eq!(
            summary("a.acquire:0 a:3-"),
            "a enters before another contender has come"
        );
    }

    #[test]
    fn who_leaves_before_the_last_is_done_is_early_by_however_little() {
        let early = "a.acquire:0 b.acquire:3 a:3-5 b:4-9 a.released:8.999999 b.released:9";
        assert_eq!(summary(early), "a leaves before b is done");
    }

    #[test]
    fn who_has_not_even_entered_is_not_done() {
        let early = "a.acquire:0 b.acquire:3 a:3-5 a.released:6 b:7-9 b.released:9";
        assert_eq!(summary(early), "a leaves before b is done");
    }

    #[test]
    fn the_argument_says_when_each_of_the_two_was_where() {
        let early = "a.acquire:0 a:2-5 b.acquire:3 b:4-9";
        let verdict = verdict(early);
        let witness = verdict.witness().expect("a violation");
        assert_eq!(witness.events, [0, 1, 2]);
        let steps: Vec<String> = { witness.argument.iter() }
            .map(|step| match step {
                crate::Step::Then(text) | crate::Step::However(text) => text.clone(),
            })
            .collect();
        assert_eq!(
            steps,
            [
                "a came at 0.000 s, and entered at 2.000 s.",
                "b came only at 3.000 s."
            ]
        );
    }

    #[test]
    fn every_round_is_a_round_of_all() {
        let first = TOGETHER.replace("end:10", "");
        let again = format!("{first} a.acquire:10 b.acquire:11 a:11-12 b:11-12 end:20");
        assert_eq!(verdict(&again), Verdict::Holds);
        let alone = format!("{first} a.acquire:10 a:10.5-12 b.acquire:11 b:11-12 end:20");
        assert_eq!(summary(&alone), "a enters before b has come");
    }

    #[test]
    fn who_tries_again_to_enter_has_come_with_its_first_try() {
        let again = "a.acquire:0 b.acquire:1 b.indefinite:2 a:2.5-5 b.acquire:3 b:3-5 \
                     a.released:5 b.released:5";
        assert_eq!(verdict(again), Verdict::Holds);
    }

    #[test]
    fn a_party_that_has_died_or_lost_its_session_there_is_not_waited_for() {
        for gone in ["b.crashed:6", "b.session-expired:6", "b.session-lost:6"] {
            let text = format!("a.acquire:0 b.acquire:3 a:3-5 b:4- {gone} a.released:8");
            assert_eq!(verdict(&text), Verdict::Holds, "{gone}");
            let text = format!("a.acquire:0 b.acquire:3 a:3-5 b:4- a.released:5.5 {gone}");
            assert_eq!(summary(&text), "a leaves before b is done", "{gone}");
        }
    }

    #[test]
    fn what_a_party_does_there_later_is_not_judged_but_all_others_are() {
        let three = |text: &str| {
            let mut run = notation::run(text);
            run.facts.rendezvous = Some(Rendezvous::DoubleBarrier { parties: 3 });
            INVARIANT.verdict(&run)
        };
        let b_comes_again = "a.acquire:0 b.acquire:1 b.crashed:2 b.acquire:3 b:4-";
        assert_eq!(three(b_comes_again), Verdict::Holds);
        let with_a = format!("{b_comes_again} a:5-");
        let verdict = three(&with_a);
        let witness = verdict
            .witness()
            .expect("a enters before the third has come");
        assert!(witness.summary.starts_with("a enters before"));
    }

    #[test]
    fn a_party_that_dies_before_it_comes_is_waited_for() {
        let early = "a.acquire:0 b.crashed:1 a:2- b.acquire:3 b:4-";
        assert_eq!(summary(early), "a enters before b has come");
    }

    #[test]
    fn who_takes_the_place_of_one_that_died_when_it_had_left_may_come_again() {
        let first = "a.acquire:0 b.acquire:1 a:2-3 b:2-3 a.released:3 b.released:3";
        let dead = format!("{first} a.crashed:4 a.acquire:5 a:6-7");
        assert_eq!(verdict(&dead), Verdict::Holds);
        let alive = format!("{first} a.session-expired:4 a.acquire:5 a:6-7");
        assert_eq!(summary(&alive), "a enters before b has come");
    }

    #[test]
    fn a_party_that_gives_up_is_out_of_step() {
        let text = "a.acquire:0 b.acquire:1 b.cancelled:2 a:3-5 b.acquire:4 b:4- a.released:6";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn barriers_of_different_names_are_different_barriers() {
        let text = "a.acquire:0/on=x b.acquire:1/on=y a:2-/on=x";
        assert_eq!(summary(text), "x: a enters before b has come");
        let text = "a.acquire:0/on=x b.acquire:1/on=x b.crashed:2 a:3-5/on=x a.released:6/on=x \
                    a.acquire:7/on=y a:8-/on=y b.acquire:9/on=y";
        assert_eq!(summary(text), "y: a enters before b has come");
    }
}
