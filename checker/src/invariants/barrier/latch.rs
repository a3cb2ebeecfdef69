//! A count-down latch: no contender passes before each participant has counted down.

use crate::mode::Mode;
use crate::witness::WitnessBuilder;
use crate::{ContenderId, EventKind, Evidence, LockId, Verdict};

/// What has happened at a latch so far, by the places of the events.
#[derive(Clone, Default)]
struct Latch {
    /// The first participant that knew the count to be set.
    set: Option<(ContenderId, usize)>,
    /// When each participant began to count down.
    counted: Vec<Option<usize>>,
    /// The contenders that came to pass, and when each came last.
    came: Vec<(ContenderId, usize)>,
}

/// A contender that passes has come before any participant knew the count to be set, and may have found none; or each
/// participant has begun to count down. However often one of them counts, it counts for itself.
pub(super) fn check(evidence: &Evidence<'_>, count: u32) -> Verdict {
    let mut latches: Vec<Latch> = Vec::new();
    let mut is_passed = false;
    for (index, event) in evidence.run.history.events.iter().enumerate() {
        match event.what {
            EventKind::AcquireStarted {
                by,
                lock,
                mode: Mode::Shared,
            } => {
                let latch = at(&mut latches, lock, count);
                latch.came.retain(|(who, _)| *who != by);
                latch.came.push((by, index));
            }
            EventKind::Acquired {
                by,
                lock,
                mode: Mode::Shared,
                ..
            } => {
                is_passed = true;
                let latch = at(&mut latches, lock, count);
                if let Some(early) = latch.early(by) {
                    return passed(evidence, latch, lock, (early, index));
                }
            }
            EventKind::Acquired { by, lock, .. } => {
                at(&mut latches, lock, count).set.get_or_insert((by, index));
            }
            EventKind::ReleaseStarted { by, lock } => {
                let latch = at(&mut latches, lock, count);
                if let Some(counted) = latch.counted.get_mut(by.0 as usize) {
                    counted.get_or_insert(index);
                }
            }
            _ => {}
        }
    }
    match is_passed {
        true => Verdict::Holds,
        false => Verdict::Undecided("no contender ever passed the latch".to_owned()),
    }
}

/// A contender that passes too early: when it came, and the first participant that has not counted down.
struct Early {
    by: ContenderId,
    came: usize,
    late: ContenderId,
}

impl Latch {
    /// Whether this contender passes too early, if it passes now.
    fn early(&self, by: ContenderId) -> Option<Early> {
        let (_, set) = self.set?;
        let (_, came) = *self.came.iter().find(|(who, _)| *who == by)?;
        let late = self.counted.iter().position(Option::is_none)?;
        (set < came).then_some(Early {
            by,
            came,
            late: ContenderId(late as u32),
        })
    }
}

fn at(latches: &mut Vec<Latch>, lock: LockId, count: u32) -> &mut Latch {
    let index = lock.0 as usize;
    if index >= latches.len() {
        let unset = Latch {
            counted: vec![None; count as usize],
            ..Latch::default()
        };
        latches.resize(index + 1, unset);
    }
    &mut latches[index]
}

fn passed(
    evidence: &Evidence<'_>,
    latch: &Latch,
    lock: LockId,
    (Early { by, came, late }, passed): (Early, usize),
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let (who, other) = (case.name(by), case.name(late));
    if let Some((setter, set)) = latch.set {
        case.show([set]);
        case.then(format!(
            "{} knew the count to be set at {}.",
            case.name(setter),
            evidence.at(set)
        ));
    }
    case.show(latch.counted.iter().copied().flatten());
    case.show([came]);
    case.then(super::came_and_passed(evidence, who, came, passed));
    let counts = super::next_release(evidence, passed, (late, lock));
    case.show(counts);
    case.however(match counts {
        Some(counts) => format!("{other} counted down only at {}.", evidence.at(counts)),
        None => format!("{other} had not counted down, and never did."),
    });
    let summary = format!("{who} passes before {other} has counted down");
    case.broken(summary, passed, None)
}

#[cfg(test)]
mod tests {
    use super::super::INVARIANT;
    use super::*;
    use crate::{Rendezvous, notation};

    /// Of two participants, a and b.
    fn verdict(text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.rendezvous = Some(Rendezvous::CountDownLatch { count: 2 });
        INVARIANT.verdict(&run)
    }

    fn summary(text: &str) -> String {
        let verdict = verdict(text);
        let witness = verdict.witness().expect("a violation");
        witness.summary.clone()
    }

    #[test]
    fn who_passes_when_the_last_has_begun_to_count_down_is_in_time() {
        let text = "a.acquire:0 a:1-2 b.acquire:1 b:2-5 c.acquire:3/shared c:5-6/shared end:8";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn who_passes_before_the_last_is_early_by_however_little() {
        let head = "a.acquire:0 a:1-2 b.acquire:1 b:2-5 c.acquire:3/shared";
        let early = format!("{head} c:4.999999-6/shared end:8");
        assert_eq!(summary(&early), "c passes before b has counted down");
        let never = "a.acquire:0 a:1-2 b.acquire:1 b.crashed:2 c.acquire:3/shared c:4-/shared";
        assert_eq!(summary(never), "c passes before b has counted down");
    }

    #[test]
    fn a_participant_that_counts_twice_counts_for_itself() {
        let twice = "a.acquire:0 b.acquire:0 a:1-2 a.crashed:2 a.acquire:2 a:2-3 c.acquire:3/shared c:4-/shared";
        assert_eq!(summary(twice), "c passes before b has counted down");
    }

    #[test]
    fn who_came_before_the_count_was_set_may_have_found_none() {
        let text = "a.acquire:0 b.acquire:0 c.acquire:0/shared a:1- c:2-/shared end:8";
        assert_eq!(verdict(text), Verdict::Holds);
        let again = "a.acquire:0 b.acquire:0 c.acquire:0/shared c.failed:0.5 a:1-1.5 \
                     c.acquire:2/shared c:3-6/shared end:8";
        assert_eq!(summary(again), "c passes before b has counted down");
    }

    #[test]
    fn a_latch_of_another_name_is_another_latch() {
        let text = "a.acquire:0/on=x a:1-2/on=x b.acquire:1/on=y b:2-3/on=y c.acquire:4/on=x/shared \
                    c:5-/on=x/shared";
        assert_eq!(summary(text), "x: c passes before b has counted down");
    }

    #[test]
    fn a_latch_that_no_contender_passes_says_nothing() {
        let waits = verdict("a.acquire:0 a:1- c.acquire:2/shared end:9");
        assert!(matches!(waits, Verdict::Undecided(_)));
    }
}
