//! A livelock by order: a contender that holds a lock gives it back because it waits in vain for another, again and
//! again, and never comes to its section.

use crate::witness::WitnessBuilder;
use crate::{Belief, ContenderId, EventKind, Evidence, LockId, Verdict};

/// A contender that has given up while it held a lock, and has done no section since.
struct GivesUp<'e> {
    by: ContenderId,
    times: usize,
    held: &'e Belief,
    wanted: LockId,
    /// The last `AcquireFailed`.
    failed: usize,
}

/// Why there was no progress although locks were got, if that is why: a contender gave one back more than once in the
/// calm, up to its second half, and still wants it.
pub(super) fn verdict(evidence: &Evidence<'_>, ended: usize) -> Option<Verdict> {
    let events = &evidence.run.history.events;
    let calm = events
        .iter()
        .position(|event| event.what == EventKind::CalmBegan)?;
    let (from, until) = (evidence.at(calm), evidence.at(ended));
    let middle = from + until.since(from) / 2;
    let contenders = 0..evidence.run.history.contenders.len() as u32;
    let each = contenders.filter_map(|by| gives_up(evidence, ContenderId(by), calm));
    let each = each.filter(|given| given.times > 1 && evidence.at(given.failed) >= middle);
    // Of several the first.
    let most = each.reduce(|most, next| if next.times > most.times { next } else { most })?;
    let name = |lock| evidence.run.history.lock(lock);
    let mut case = WitnessBuilder::new(evidence);
    let (who, times) = (case.name(most.by), most.times);
    let (held, wanted) = (name(most.held.lock), name(most.wanted));
    let summary =
        format!("{who} held {held} and waited for {wanted} in vain {times} times in the calm");
    let (entered, failed) = (evidence.at(most.held.acquired), evidence.at(most.failed));
    case.show([calm, most.failed]).show_belief(most.held);
    let mut beliefs = evidence.beliefs.iter().rev();
    let other = beliefs.find(|belief| {
        belief.lock == most.wanted
            && belief.by != most.by
            && belief.acquired < most.failed
            && belief.left.is_none_or(|left| left > most.held.acquired)
    });
    case.then(format!("nothing breaks any more from {from} on."))
        .then(format!(
            "{who} last got {held} at {entered}, and gave up waiting for {wanted} at {failed}."
        ));
    if let Some(other) = other {
        let (holder, at) = (case.name(other.by), evidence.at(other.acquired));
        case.show_belief(other)
            .then(format!("{holder} held {wanted} from {at} on."));
    }
    case.however(format!(
        "{who} gave back {held} each time, and had not done a section since when the run ended at {until}."
    ));
    Some(case.broken(summary, ended, None))
}

/// How often a contender that still wants its locks has given up in the calm while it held one, since its last section.
fn gives_up<'e>(evidence: &'e Evidence<'_>, by: ContenderId, calm: usize) -> Option<GivesUp<'e>> {
    let mut found: Option<GivesUp<'e>> = None;
    let events = evidence.run.history.events.iter().enumerate().skip(calm);
    let mut gave_up = false;
    for (index, event) in events {
        match event.what {
            EventKind::Finished { by: who } | EventKind::Crashed { by: who } if who == by => {
                return None;
            }
            EventKind::AcquireFailed { by: who, lock, .. } if who == by => {
                let mut beliefs = evidence.beliefs.iter().rev();
                let held = beliefs.find(|held| {
                    let open = held.acquired < index && held.left.is_none_or(|left| left > index);
                    held.by == by && held.lock != lock && open
                });
                let Some(held) = held else {
                    continue;
                };
                gave_up = true;
                found = Some(GivesUp {
                    by,
                    times: found.map_or(0, |before| before.times) + 1,
                    held,
                    wanted: lock,
                    failed: index,
                });
            }
            EventKind::AcquireStarted { by: who, .. } if who == by => gave_up = false,
            // A release of a lock that was not given up ends a section that is done.
            EventKind::ReleaseStarted { by: who, .. } if who == by && !gave_up => found = None,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{summary, verdict};
    use crate::Verdict;

    const TWICE: &str = "calm:0 a.acquire:0/on=x a:1-3/on=x a.acquire:1/on=y a.failed:2.9/on=y \
                         b.acquire:0/on=y b:1-3/on=y b.acquire:1/on=x b.failed:2.9/on=x \
                         a.acquire:4/on=x a:5-7/on=x a.acquire:5/on=y a.failed:6.9/on=y \
                         b.acquire:4/on=y b:5-7/on=y b.acquire:5/on=x b.failed:6.9/on=x";

    #[test]
    fn who_gives_back_what_it_holds_again_and_again_makes_no_progress() {
        let expected = "a held x and waited for y in vain 2 times in the calm";
        assert_eq!(summary(&format!("{TWICE} bound-reached:10")), expected);
    }

    #[test]
    fn a_section_after_it_is_progress() {
        let done = "a.acquire:8/on=x a:8-9/on=x a.acquire:8/on=y a:8-9/on=y a.finished:9 \
                    b.acquire:9/on=y b:9-9.5/on=y b.acquire:9/on=x b:9.2-9.5/on=x b.finished:9.5";
        assert_eq!(verdict(&format!("{TWICE} {done} end:10")), Verdict::Holds);
    }

    #[test]
    fn who_gave_up_long_ago_waits_for_another_reason() {
        let text = format!("{TWICE} a.acquire:8/on=x b.acquire:8/on=y bound-reached:90");
        assert!(!summary(&text).contains("in vain"));
    }

    #[test]
    fn who_gives_up_and_holds_nothing_has_nothing_to_give_back() {
        let text = "calm:0 a:0-/on=x b.acquire:1/on=x b.failed:2/on=x b.acquire:3/on=x \
                    b.failed:4/on=x b.acquire:5/on=x bound-reached:6";
        assert!(!summary(text).contains("in vain"));
    }
}
