//! A barrier that one contender sets and removes: no other passes while it stands.

use crate::mode::Mode;
use crate::witness::WitnessBuilder;
use crate::{ContenderId, EventKind, Evidence, LockId, Verdict};

/// The contender that has set a barrier, and the event by which it was told that it stands.
type Standing = (LockId, ContenderId, usize);

/// A contender that passes has come before the barrier stood, or its removal has begun. In between there is no moment
/// at which a look can have found none. What is left of a barrier whose setter has died is not judged, until a
/// contender believes again that it has set it.
pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut standing: Vec<Standing> = Vec::new();
    let mut came: Vec<(ContenderId, LockId, usize)> = Vec::new();
    let mut is_passed = false;
    for (index, event) in evidence.run.history.events.iter().enumerate() {
        match event.what {
            EventKind::AcquireStarted {
                by,
                lock,
                mode: Mode::Shared,
            } => {
                came.retain(|(who, at, _)| (*who, *at) != (by, lock));
                came.push((by, lock, index));
            }
            EventKind::Acquired {
                by,
                lock,
                mode: Mode::Shared,
                ..
            } => {
                is_passed = true;
                let since = came.iter().find(|(who, at, _)| (*who, *at) == (by, lock));
                let Some(&(_, _, since)) = since else {
                    continue;
                };
                let stands = { standing.iter() }.find(|(at, _, set)| *at == lock && *set < since);
                if let Some(&stands) = stands {
                    return passed(evidence, stands, (by, since, index));
                }
            }
            EventKind::Acquired { by, lock, .. } => standing.push((lock, by, index)),
            EventKind::ReleaseStarted { by, lock } | EventKind::Lost { by, lock, .. } => {
                standing.retain(|(at, who, _)| (*at, *who) != (lock, by));
            }
            EventKind::Crashed { by } => standing.retain(|(_, who, _)| *who != by),
            _ => {}
        }
    }
    match is_passed {
        true => Verdict::Holds,
        false => Verdict::Undecided("no contender ever passed the barrier".to_owned()),
    }
}

fn passed(
    evidence: &Evidence<'_>,
    (lock, setter, set): Standing,
    (by, came, passed): (ContenderId, usize, usize),
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let (who, other) = (case.name(by), case.name(setter));
    case.show([set, came]);
    case.then(format!(
        "{other} had set the barrier at {}.",
        evidence.at(set)
    ));
    case.then(super::came_and_passed(evidence, who, came, passed));
    let removes = super::next_release(evidence, passed, (setter, lock));
    case.show(removes);
    case.however(match removes {
        Some(removes) => format!("{other} removed it only at {}.", evidence.at(removes)),
        None => format!("{other} had not removed it, and never did."),
    });
    let summary = format!("{who} passes while the barrier of {other} stands");
    case.broken(summary, passed, None)
}

#[cfg(test)]
mod tests {
    use super::super::INVARIANT;
    use super::*;
    use crate::{Rendezvous, notation};

    fn verdict(text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.rendezvous = Some(Rendezvous::Barrier);
        INVARIANT.verdict(&run)
    }

    fn summary(text: &str) -> String {
        let verdict = verdict(text);
        let witness = verdict.witness().expect("a violation");
        witness.summary.clone()
    }

    const PASSES: &str = "b passes while the barrier of a stands";

    #[test]
    fn who_passes_when_the_removal_has_begun_is_in_time() {
        let text = "a.acquire:0 a:1-5 b.acquire:2/shared b:5-6/shared a.released:7 end:8";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn who_passes_before_the_removal_is_early_by_however_little() {
        let text = "a.acquire:0 a:1-5 b.acquire:2/shared b:4.999999-6/shared a.released:7 end:8";
        assert_eq!(summary(text), PASSES);
        let never_removed = "a.acquire:0 a:1- b.acquire:2/shared b:3-6/shared end:8";
        assert_eq!(summary(never_removed), PASSES);
    }

    #[test]
    fn who_came_before_the_barrier_stood_may_have_found_none() {
        let text = "b.acquire:0/shared a.acquire:0 a:1-5 b:2-6/shared end:8";
        assert_eq!(verdict(text), Verdict::Holds);
        let again = "b.acquire:0/shared b.failed:0.5 a.acquire:0 a:1-5 b.acquire:2/shared \
                     b:3-6/shared end:8";
        assert_eq!(summary(again), PASSES);
    }

    #[test]
    fn a_barrier_that_is_set_again_stands_again() {
        let first = "a.acquire:0 a:1-2 b.acquire:1.5/shared b:2-3/shared a.released:3";
        let again = format!("{first} a.acquire:4 a:5-9 b.acquire:6/shared");
        assert_eq!(verdict(&format!("{again} b:9-/shared")), Verdict::Holds);
        assert_eq!(summary(&format!("{again} b:7-/shared")), PASSES);
    }

    #[test]
    fn the_barrier_of_a_dead_setter_is_not_judged_until_set_again() {
        let dead = "a.acquire:0 a:1- b.acquire:2/shared a.crashed:3 b:4-6/shared";
        assert_eq!(verdict(dead), Verdict::Holds);
        let restarted = format!("{dead} a.acquire:7 a:8- b.acquire:9/shared b:10-/shared");
        assert_eq!(summary(&restarted), PASSES);
    }

    #[test]
    fn a_barrier_of_another_name_keeps_no_contender() {
        let text = "a.acquire:0/on=x a:1-/on=x b.acquire:2/on=y/shared b:3-/on=y/shared";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn a_barrier_that_no_contender_passes_says_nothing() {
        let waits = verdict("a.acquire:0 a:1- b.acquire:2/shared end:9");
        assert!(matches!(waits, Verdict::Undecided(_)));
    }
}
