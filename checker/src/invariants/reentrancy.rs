//! Re-entrancy: a holder of the lock enters it again at once, and only its last exit frees it.

use crate::witness::WitnessBuilder;
use crate::{
    Belief, ContenderId, Disowned, Ended, EntryStep, EventKind, Evidence, Invariant, LockId,
    Ownership, ServiceAnswer, Truth, Verdict,
};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "reentrancy",
    truth: Truth::Ownership,
    meaning: "Who holds the lock enters it again without waiting for itself, and frees it when it has left as often as \
              it has entered, and not before.",
    check,
    inexcusable: None,
};

/// What a contender does with further entries during one belief, by events.
struct Reentries<'e> {
    belief: &'e Belief,
    steps: Vec<(usize, EntryStep)>,
}

fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut has_entered = false;
    for reentries in all(evidence) {
        has_entered |= reentries.first(EntryStep::Enters).is_some();
        let broken = waits_for_itself(evidence, &reentries)
            .or_else(|| freed_too_soon(evidence, &reentries))
            .or_else(|| not_freed(evidence, &reentries));
        if let Some(verdict) = broken {
            return verdict;
        }
    }
    match has_entered {
        true => Verdict::Holds,
        false => Verdict::Undecided("no contender ever entered the lock again".to_owned()),
    }
}

/// The further entries of each belief, in the order in which beliefs begin.
fn all<'e>(evidence: &'e Evidence<'_>) -> Vec<Reentries<'e>> {
    let mut all: Vec<Reentries<'e>> = Vec::new();
    for &index in &evidence.reentries {
        let EventKind::Reentry { by, lock, step } = evidence.event(index).what else {
            continue;
        };
        let Some(belief) = belief_at(evidence, index, by, lock) else {
            continue;
        };
        match all
            .iter_mut()
            .find(|known| known.belief.acquired == belief.acquired)
        {
            Some(known) => known.steps.push((index, step)),
            None => all.push(Reentries {
                belief,
                steps: vec![(index, step)],
            }),
        }
    }
    all
}

/// The latest belief of a contender that lasts at this event.
fn belief_at<'e>(
    evidence: &'e Evidence<'_>,
    index: usize,
    by: ContenderId,
    lock: LockId,
) -> Option<&'e Belief> {
    let begun = evidence
        .beliefs
        .partition_point(|belief| belief.acquired < index);
    let mut latest = evidence.beliefs[..begun].iter().rev();
    latest.find(|belief| {
        (belief.by, belief.lock) == (by, lock) && belief.left.is_none_or(|left| left > index)
    })
}

impl Reentries<'_> {
    fn first(&self, wanted: EntryStep) -> Option<usize> {
        self.steps
            .iter()
            .find(|(_, step)| *step == wanted)
            .map(|(index, _)| *index)
    }

    fn count(&self, wanted: EntryStep) -> usize {
        self.steps
            .iter()
            .filter(|(_, step)| *step == wanted)
            .count()
    }

    /// The calls, each with its return if it has returned.
    fn calls(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        let calls = self.steps.iter().enumerate();
        let calls = calls.filter(|(_, (_, step))| *step == EntryStep::Asks);
        calls.map(|(place, (call, _))| {
            let next = self.steps.get(place + 1);
            let entered = next.filter(|(_, step)| *step == EntryStep::Enters);
            (*call, entered.map(|(index, _)| *index))
        })
    }
}

fn ownership<'e>(evidence: &'e Evidence<'_>, belief: &Belief) -> Option<&'e Ownership> {
    belief.grant.map(|grant| &evidence.ownerships[grant])
}

/// A call of the holder stands in the queue while the holder owns the lock; or it has not returned in the end, although
/// all others have had the time that they needed.
fn waits_for_itself(evidence: &Evidence<'_>, reentries: &Reentries<'_>) -> Option<Verdict> {
    let belief = reentries.belief;
    let owned_until = ownership(evidence, belief).map(|own| own.disowned.unwrap_or(usize::MAX));
    for (call, returned) in reentries.calls() {
        let ends = returned.or(belief.left).unwrap_or(usize::MAX);
        let until = ends.min(owned_until.unwrap_or(0));
        let queued = evidence.queueing.iter().find(|&&event| {
            matches!(evidence.event(event).what, EventKind::Queued { by, lock, .. }
                if call < event && event < until && (by, lock) == (belief.by, belief.lock))
        });
        // A contender that has lost the lock by a fault, or before, waits for others.
        let owns = owned_until.is_some_and(|until| {
            let unharmed = evidence.faults.iter().all(|&fault| fault > until);
            call < until && (until == usize::MAX || unharmed)
        });
        let never = returned.is_none() && belief.left.is_none() && owns;
        let never = never && is_owed(evidence, belief.by);
        if queued.is_some() || never {
            return Some(self_deadlock(evidence, belief, call, queued.copied()));
        }
    }
    None
}

/// Whether a contender had all the time that it needed at the end of the run.
fn is_owed(evidence: &Evidence<'_>, by: ContenderId) -> bool {
    let for_good = &evidence.run.for_good;
    let at_bound = matches!(evidence.ended, Some((_, Ended::BoundReached)));
    at_bound && for_good.service.is_none() && for_good.stranded(by).is_none()
}

fn self_deadlock(
    evidence: &Evidence<'_>,
    belief: &Belief,
    call: usize,
    queued: Option<usize>,
) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(belief.by);
    let at = evidence.at(call);
    case.show([belief.acquired, call])
        .show(queued)
        .show(ownership(evidence, belief).map(|ownership| ownership.owned))
        .then(format!(
            "{who} holds the lock since {}, and calls `acquire` again at {at}.",
            evidence.at(belief.acquired)
        ));
    let summary = format!("{who} waits for itself to leave the lock that it enters again");
    if let Some(queued) = queued {
        let since = evidence.at(queued);
        return case
            .however(format!(
                "that call stands in the queue since {since}, behind the hold of {who}."
            ))
            .broken(summary, queued, None);
    }
    case.however("that call has not returned when the run ends.".to_owned())
        .broken_at(summary, evidence.end())
}

/// The owner has given the lock back, and still holds entries.
fn freed_too_soon(evidence: &Evidence<'_>, reentries: &Reentries<'_>) -> Option<Verdict> {
    let belief = reentries.belief;
    let entered = reentries.first(EntryStep::Enters)?;
    let ownership = ownership(evidence, belief)?;
    let freed = ownership.disowned?;
    let early = freed > entered && belief.left.is_none_or(|left| freed < left);
    if !early || ownership.how != Some(Disowned::Released) {
        return None;
    }
    let before = |wanted: EntryStep| {
        let steps = reentries.steps.iter();
        steps
            .filter(|(index, step)| *index < freed && *step == wanted)
            .count()
    };
    let inside = (1 + before(EntryStep::Enters)).saturating_sub(before(EntryStep::Leaves));
    // One of them is on its way out.
    let left = inside.saturating_sub(1).max(1);
    let mut case = WitnessBuilder::new(evidence);
    let who = case.name(belief.by);
    let entries = match left {
        1 => "its first entry".to_owned(),
        left => format!("{left} entries"),
    };
    let verdict = case
        .show_belief(belief)
        .show(reentries.steps.iter().map(|(index, _)| *index))
        .then(format!(
            "{who} holds the lock since {}, and has entered it again at {}.",
            evidence.at(belief.acquired),
            evidence.at(entered)
        ))
        .however(format!(
            "it gave the lock back at {}, when {entries} had yet to be left.",
            evidence.at(freed)
        ))
        .broken(
            format!("the end of an inner entry of {who} freed the lock"),
            freed,
            None,
        );
    Some(verdict)
}

/// All entries have been left, and the lock is not free.
fn not_freed(evidence: &Evidence<'_>, reentries: &Reentries<'_>) -> Option<Verdict> {
    let belief = reentries.belief;
    let entered = reentries.count(EntryStep::Enters);
    let all_left = entered == reentries.count(EntryStep::Leaves)
        && entered == reentries.count(EntryStep::Asks);
    let released = belief.settled?;
    let ownership = ownership(evidence, belief)?;
    let is_released = matches!(evidence.event(released).what, EventKind::Released { .. });
    let still_owns = evidence.at(released) < evidence.at_or_never(ownership.disowned);
    if !all_left || !is_released || !still_owns || may_count_more(evidence, belief, released) {
        return None;
    }
    let mut case = WitnessBuilder::new(evidence);
    let (who, times) = (case.name(belief.by), entered + 1);
    let until = match ownership.disowned {
        Some(gone) => format!("until {}", evidence.at(gone)),
        None => "to the end of the run".to_owned(),
    };
    let verdict = case
        .show_belief(belief)
        .show([released])
        .show(reentries.steps.iter().map(|(index, _)| *index))
        .then(format!(
            "{who} has entered the lock {times} times, and has left it {times} times by {}.",
            evidence.at(released)
        ))
        .however(format!("the service has it as the owner {until}."))
        .broken(
            format!("{who} has left as often as it entered, and the lock is not free"),
            released,
            None,
        );
    Some(verdict)
}

/// Whether the service may count more entries than the contender knows of, or one server of two does not have it.
/// A call before had no answer, a hold was given up, or a request was sent again that may have been executed; and what
/// is counted too often outlasts the hold.
fn may_count_more(evidence: &Evidence<'_>, belief: &Belief, released: usize) -> bool {
    let events = &evidence.run.history.events[..released];
    events.iter().any(|event| match event.what {
        EventKind::AcquireFailed { by, definite, .. } => by == belief.by && !definite,
        EventKind::Cancelled { by, .. }
        | EventKind::Lost { by, .. }
        | EventKind::ReleaseCancelled { by, .. }
        | EventKind::ReleaseFailed { by, .. }
        | EventKind::Resent { by }
        | EventKind::Disconnected { by } => by == belief.by,
        EventKind::Answered { by, answer, .. } => {
            by == belief.by && answer == ServiceAnswer::DeniedAtOne
        }
        _ => false,
    })
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
        verdict.witness().expect("a violation").summary.clone()
    }

    const IN_AND_OUT: &str = "a.acquire:0 a=0-9 a:1- a.reenters:2 a.reentered:3 a.entry-left:4";

    #[test]
    fn who_enters_again_at_once_and_frees_it_at_last_is_fine() {
        let text = format!("{IN_AND_OUT} a.leaves:8 a.released:9.1 end:10");
        assert_eq!(verdict(&text), Verdict::Holds);
        let in_one = "a.acquire:0 a=0-9 a:1- a.reenters:2 a.reentered:2 a.reenters:2 a.reentered:2 \
                      a.entry-left:3 a.entry-left:3 a.leaves:8 a.released:9 end:10";
        assert_eq!(verdict(in_one), Verdict::Holds);
    }

    #[test]
    fn a_call_that_queues_behind_its_own_hold_waits_for_itself() {
        let text = "a.queued:0 a=0-9 a:1- a.reenters:2 a.queued:2.5 a.leaves:8 end:10";
        let expected = "a waits for itself to leave the lock that it enters again";
        assert_eq!(summary(text), expected);
        let of_another = "a.queued:0 a=0-9 a:1- a.reenters:2 b.queued:2.5 a.reentered:3 a.leaves:8";
        assert_eq!(verdict(of_another), Verdict::Holds);
    }

    #[test]
    fn a_call_that_does_not_return_waits_for_itself_if_the_run_has_given_it_the_time() {
        let text = "a=0- a:1- a.reenters:2";
        let expected = "a waits for itself to leave the lock that it enters again";
        assert_eq!(summary(&format!("{text} bound-reached:90")), expected);
        let undecided = |text: &str| matches!(verdict(text), Verdict::Undecided(_));
        assert!(undecided(&format!("{text} end:90")));
        assert!(undecided(&format!("{text} a.crashed:3 bound-reached:90")));
        let lost = "a=0-1.5/how=expired a:1- b=1.6- a.reenters:2 bound-reached:90";
        assert!(undecided(lost));
    }

    #[test]
    fn the_end_of_an_inner_entry_must_not_free_the_lock() {
        let text = "a=0-4 a:1- a.reenters:2 a.reentered:3 a.entry-left:4.1 a.leaves:8 a.released:9";
        assert_eq!(
            summary(text),
            "the end of an inner entry of a freed the lock"
        );
        let expired =
            "a=0-4/how=expired a:1- a.reenters:2 a.reentered:3 a.entry-left:4.1 a.leaves:8";
        assert_eq!(verdict(expired), Verdict::Holds);
    }

    #[test]
    fn the_last_to_leave_must_free_the_lock() {
        let text = "a.acquire:0 a=0-30/how=expired a:1- a.reenters:2 a.reentered:3 a.entry-left:4 a.leaves:8 \
                    a.released:9 end:40";
        let expected = "a has left as often as it entered, and the lock is not free";
        assert_eq!(summary(text), expected);
        // It may count an entry of which its caller does not know.
        assert_eq!(verdict(&format!("{text} a.resent:1.5")), Verdict::Holds);
        let failed = text.replace("a.acquire:0", "a.acquire:0 a.indefinite:0.1 a.acquire:0.2");
        assert_eq!(verdict(&failed), Verdict::Holds);
    }

    #[test]
    fn without_a_second_entry_nothing_is_said() {
        assert!(matches!(verdict("a=0-4 a:1-3"), Verdict::Undecided(_)));
    }
}
