//! Holds that are of no use: each is lost, or given back, before its section is done.

mod given_back;

use crate::witness::WitnessBuilder;
use crate::{Belief, ContenderId, EventKind, Evidence, Verdict};

/// A contender that got the lock in the calm again and again, and lost it each time, up to the end.
struct Loser<'e> {
    by: ContenderId,
    times: usize,
    /// Whether it has done a section in the calm before.
    once_done: bool,
    last: &'e Belief,
    lost: usize,
}

/// Why there was no progress although locks were got, if that is why.
pub(super) fn verdict(evidence: &Evidence<'_>, ended: usize) -> Option<Verdict> {
    lost(evidence, ended).or_else(|| given_back::verdict(evidence, ended))
}

/// The same, of a lock that was lost each time. If nothing was lost in the second half of the calm, a contender waits
/// for the lock instead.
fn lost(evidence: &Evidence<'_>, ended: usize) -> Option<Verdict> {
    let events = &evidence.run.history.events;
    let calm = events
        .iter()
        .position(|event| event.what == EventKind::CalmBegan)?;
    let (from, until) = (evidence.at(calm), evidence.at(ended));
    let middle = from + until.since(from) / 2;
    let contenders = 0..evidence.run.history.contenders.len() as u32;
    let losers = contenders.filter_map(|by| loser(evidence, ContenderId(by), calm));
    let losers = losers.filter(|loser| evidence.at(loser.lost) >= middle);
    // Of several the first.
    let worst = losers.reduce(|worst, next| {
        if next.times > worst.times {
            next
        } else {
            worst
        }
    })?;
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(worst.by);
    let since = if worst.once_done {
        " since its last section"
    } else {
        ""
    };
    let (got, each) = match worst.times {
        1 => ("once".to_owned(), "lost it"),
        times => (format!("{times} times"), "lost it each time"),
    };
    let summary = format!(
        "{who} got the lock {got} in the calm{since}, and {each} before its section was done"
    );
    let (entered, lost) = (evidence.at(worst.last.acquired), evidence.at(worst.lost));
    case.show([calm]).show_belief(worst.last);
    case.then(format!("nothing breaks any more from {from} on."))
        .then(format!(
            "{who} last got the lock at {entered}, and lost it at {lost}."
        ));
    case.however(format!(
        "it had not done a section under any of these holds when the run ended at {until}."
    ));
    Some(case.broken(summary, ended, None))
}

/// A contender that still wants the lock, and has lost it each time since it last did a section.
fn loser<'e>(evidence: &'e Evidence<'_>, by: ContenderId, calm: usize) -> Option<Loser<'e>> {
    let history = &evidence.run.history;
    let is_gone =
        |what: EventKind| what == EventKind::Finished { by } || what == EventKind::Crashed { by };
    if history.events[calm..]
        .iter()
        .any(|event| is_gone(event.what))
    {
        return None;
    }
    let beliefs = evidence.beliefs.iter();
    let in_calm = beliefs.filter(|belief| belief.by == by && belief.acquired > calm);
    let mut found: Option<Loser<'e>> = None;
    let mut once_done = false;
    for belief in in_calm {
        let Some(left) = belief.left else {
            continue;
        };
        if let EventKind::Lost { .. } = evidence.event(left).what {
            let times = found.map_or(0, |loser| loser.times) + 1;
            found = Some(Loser {
                by,
                times,
                once_done,
                last: belief,
                lost: left,
            });
        } else {
            once_done = true;
            found = None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::{summary, verdict};
    use crate::Verdict;

    #[test]
    fn a_lock_that_is_lost_each_time_before_its_section_is_done_makes_no_progress() {
        let text = "calm:0 a.acquire:0 a:1- a.lost:2 a.acquire:3 a:4- a.lost:5 a.acquire:6 a:7- \
                    a.lost:8 a.acquire:9 bound-reached:10 a.waiting:10";
        let expected =
            "a got the lock 3 times in the calm, and lost it each time before its section was done";
        assert_eq!(summary(text), expected);
    }

    #[test]
    fn a_hold_that_is_lost_once_and_a_section_after_it_are_progress() {
        let text =
            "calm:0 a.acquire:0 a:1- a.lost:2 a.acquire:3 a:4-5 a.released:6 a.finished:6 end:7";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn what_was_lost_in_the_storm_is_nothing_against_progress() {
        let text = "a.acquire:0 a:1- a.lost:2 calm:3 a.acquire:4 bound-reached:9";
        assert_eq!(summary(text), "a never got the lock");
    }

    #[test]
    fn a_hold_that_was_lost_long_ago_is_not_why_its_contender_waits() {
        let text = "calm:0 a.acquire:0 a:1- a.lost:2 a.acquire:3 bound-reached:90 \
                    a.waiting:90/behind=x/owner=b";
        assert_eq!(summary(text), "a never got the lock: x of b blocks it");
    }

    #[test]
    fn what_was_done_before_the_losses_is_said() {
        let text =
            "calm:0 a.acquire:0 a:1-2 a.released:2 a.acquire:3 a:4- a.lost:5 bound-reached:6";
        let expected = "a got the lock once in the calm since its last section, and lost it before \
                        its section was done";
        assert_eq!(summary(text), expected);
    }
}
