//! No node or key of the lock is left behind that no contender believes in.

mod abandonment;
mod left_over;
mod overdue;
mod reported_gone;
mod used_by_call;

use self::abandonment::{calls_of_owner, how_it_was_left};
use self::left_over::left_over;
use self::overdue::{Overdue, overdue};
use self::used_by_call::used_by_call;
use crate::witness::{WitnessBuilder, seconds};
use crate::{Belief, EventKind, Evidence, Invariant, Ownership, Truth, Verdict, VirtualTime};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "no-orphan",
    truth: Truth::Ownership,
    meaning: "Nothing of the lock outlives its contenders, nor is it owned for long unbelieved.",
    check,
    inexcusable: None,
};

/// How long before an ownership was in use, and from which event on it was not.
#[derive(Clone, Copy)]
struct LastUse {
    until: VirtualTime,
    /// The event that ended its use; the grant itself, if it never was in use.
    last: usize,
}

fn check(evidence: &Evidence<'_>) -> Verdict {
    let gone = evidence.run.for_good.service.as_ref();
    let mut unknown = None;
    let mut stranded = None;
    for (index, ownership) in evidence.ownerships.iter().enumerate() {
        if let Some((used, until, overdue)) = abandoned(evidence, index) {
            // An owner that cannot learn of the lock, and whose session lives, leaves it for good, whatever its recipe.
            let owner = evidence.run.for_good.stranded(ownership.by);
            if let Some(owner) = owner.filter(|owner| owner.is_heard) {
                stranded = stranded.or(Some(owner));
                continue;
            }
            // A service that cannot act any more ends no ownership.
            unknown = gone.filter(|gone| overdue.0 >= gone.since).or(unknown);
            if gone.is_none_or(|gone| overdue.0 < gone.since) {
                return orphan(evidence, ownership, used, (until, overdue));
            }
        }
    }
    if let Some(gone) = unknown.or(gone.filter(|_| !evidence.leftovers.is_empty())) {
        return Verdict::Undecided(gone.why.clone());
    }
    if let Some(owner) = stranded {
        return Verdict::Undecided(owner.why.clone());
    }
    let leftover = evidence.leftovers.first();
    let leftover = leftover.map(|&leftover| left_over(evidence, leftover));
    if let Some(orphan) = reported_gone::orphan(evidence).or(leftover) {
        return orphan;
    }
    if evidence.ownerships.is_empty() {
        return Verdict::Undecided("the service never made a contender the owner".to_owned());
    }
    Verdict::Holds
}

/// The first stretch that was too long in which no contender used the ownership, and when it began to be too long.
fn abandoned(evidence: &Evidence<'_>, index: usize) -> Option<(LastUse, VirtualTime, Overdue)> {
    let ownership = &evidence.ownerships[index];
    let lease = evidence.run.facts.lease;
    let from = evidence.at(ownership.owned);
    let until = evidence.at_or_end(ownership.disowned);
    // Most ownerships are shorter than the lease, and need no further look.
    if until.since(from) <= lease {
        return None;
    }
    let mut used = LastUse {
        until: from,
        last: ownership.owned,
    };
    if let Some((until, last)) = used_by_call(evidence, ownership) {
        used.until = until;
        used.last = last.unwrap_or(used.last);
    }
    for belief in beliefs_during(evidence, index) {
        // What comes after the end of the ownership cannot tell how long it was in use.
        let from = use_begins(evidence, belief, index).min(until);
        if from > used.until
            && let Some(overdue) = overdue(evidence, ownership, used.until, from)
        {
            return Some((used, from, overdue));
        }
        let ends = use_ends(evidence, belief);
        if ends.map_or(VirtualTime::NEVER, |ends| evidence.at(ends)) > used.until {
            used.until = evidence.at_or_never(ends);
            used.last = ends.unwrap_or(used.last);
        }
    }
    if until <= used.until {
        return None;
    }
    overdue(evidence, ownership, used.until, until).map(|overdue| (used, until, overdue))
}

/// The owner's beliefs that may have lain in the ownership: its latest before, and those that began
/// while it lasted or after it, as far as the answer to a call can have been late.
fn beliefs_during<'e>(
    evidence: &'e Evidence<'_>,
    index: usize,
) -> impl Iterator<Item = &'e Belief> {
    let ownership = &evidence.ownerships[index];
    let several = evidence.permits() > 1;
    let before = ownership.believed.map(|index| &evidence.beliefs[index]);
    let beliefs = &evidence.beliefs;
    let first = beliefs.partition_point(|belief| belief.acquired < ownership.owned);
    let owner = (ownership.by, ownership.lock);
    let during = beliefs[first..].iter();
    let during = during.filter(move |belief| (belief.by, belief.lock) == owner);
    // With several permits a contender may own one that it has forgotten beside that which it believes in.
    let during = during.filter(move |belief| !several || evidence.rests_on(belief, index));
    // The first one after the end may have been on its way; none after that can.
    let mut over = false;
    let during = during.take_while(move |belief| {
        let past = ownership.disowned.is_some_and(|end| end < belief.acquired);
        !std::mem::replace(&mut over, past)
    });
    before.into_iter().chain(during)
}

/// A contender that asks is behind its ownership only if that is what its call then brought it: one
/// that waits behind its own forgotten node is not.
fn use_begins(evidence: &Evidence<'_>, belief: &Belief, index: usize) -> VirtualTime {
    let begins = match belief.asked {
        Some(asked) if evidence.rests_on(belief, index) => asked,
        // The history does not tell when it asked: no later than it was granted, for all we know.
        None if evidence.rests_on(belief, index) => evidence.ownerships[index].owned,
        Some(_) | None => belief.acquired,
    };
    evidence.at(begins)
}

/// A belief that ended with the start of a release is in use until the release has an answer.
fn use_ends(evidence: &Evidence<'_>, belief: &Belief) -> Option<usize> {
    let left = belief.left?;
    if let EventKind::ReleaseStarted { .. } = evidence.event(left).what {
        return belief.settled;
    }
    Some(left)
}

fn orphan(
    evidence: &Evidence<'_>,
    ownership: &Ownership,
    LastUse { until: since, last }: LastUse,
    (until, (broken, counted)): (VirtualTime, Overdue),
) -> Verdict {
    let history = &evidence.run.history;
    let lease = seconds(evidence.run.facts.lease);
    let alone = seconds(until.since(since));
    let mut case = WitnessBuilder::new(evidence);
    let (who, node) = (case.name(ownership.by), history.name(ownership.name));
    let from = evidence.at(ownership.owned);
    let to = match ownership.disowned {
        Some(disowned) => format!("to {}", evidence.at(disowned)),
        None => "to the end of the run".to_owned(),
    };
    let calls = calls_of_owner(evidence, ownership, broken);
    let last_call = calls.last().filter(|&&call| call > last);
    let why = how_it_was_left(evidence, who, *last_call.unwrap_or(&last))
        .or_else(|| how_it_was_left(evidence, who, *calls.last()?));
    let why = why.unwrap_or_else(|| format!("no call of {who} brought it that ownership"));
    case.show_ownership(ownership).show([last]).show(calls);
    case.show(evidence.where_made(ownership.lock, ownership.name, Some(ownership.by)));
    let summary =
        format!("{who} owned the lock by {node} for {alone}, and no contender believed in it");
    case.then(format!(
        "the service has {who} as the owner by {node} from {from} {to}."
    ))
    .then(format!(
        "a session or lease lasts {lease} at most without its contender{counted}."
    ))
    .however(format!(
        "{why}, and no contender believed in it for {alone} from {since} on."
    ))
    .broken_at(summary, broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContenderId, Stranded, Unavailable, notation};

    /// With a lease of 10 s, as by default.
    pub(super) fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    pub(super) fn summary(text: &str) -> String {
        verdict(text)
            .witness()
            .expect("a violation")
            .summary
            .clone()
    }

    #[test]
    fn a_long_hold_is_no_orphan() {
        let text = "a.acquire:0 a=1-60 a:2-59 a.released:60 end:60";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn a_permit_that_is_forgotten_is_an_orphan_though_its_owner_holds_another() {
        let with_permits = |permits, text: &str| {
            let mut run = notation::run(text);
            run.facts.permits = permits;
            INVARIANT.verdict(&run)
        };
        let held = "a.acquire:0 a=1-40/token=1 a:1-39 a.released:40 b.acquire:0 b=1-40/token=2 b:1-39 b.released:40";
        assert_eq!(with_permits(2, held), Verdict::Holds);
        let forgotten =
            "a.acquire:0 a=1-/token=1/name=x a=2-40/token=2 a:2-39 a.released:40 end:40";
        let verdict = with_permits(2, forgotten);
        let summary = &verdict.witness().expect("a violation").summary;
        assert_eq!(
            summary,
            "a owned the lock by x for 39.000 s, and no contender believed in it"
        );
    }

    #[test]
    fn a_crashed_owner_has_its_lease_and_no_more() {
        assert_eq!(verdict("a=0-15 a:0- a.crashed:5 end:60"), Verdict::Holds);
        let text = "a=0-15.001 a:0- a.crashed:5 end:60";
        let expected = "a owned the lock by node-a for 10.001 s, and no contender believed in it";
        assert_eq!(summary(text), expected);
    }

    #[test]
    fn who_dies_before_it_knows_that_it_owns_has_its_lease_from_then_on() {
        let text = "a.acquire:0 a=1-17 a.crashed:8 end:60";
        assert_eq!(verdict(text), Verdict::Holds);
        for (text, broken) in [
            ("a.acquire:0 a=1-19 a.crashed:8 end:60", 18),
            // Too late: it had been abandoned for a whole lease.
            ("a.acquire:0 a=1-15 a.crashed:12 end:60", 11),
        ] {
            let verdict = verdict(text);
            let witness = verdict.witness().expect("a violation");
            assert_eq!(witness.at.micros(), broken * 1_000_000, "{text}");
        }
    }

    #[test]
    fn who_falls_silent_before_it_knows_that_it_owns_has_its_lease_from_then_on() {
        for silent in ["a.paused:8", "a.disconnected:8"] {
            let text = |end| format!("a.acquire:0 a=1-{end}/how=expired {silent} end:60");
            assert_eq!(verdict(&text(17)), Verdict::Holds, "{silent}");
            let late = verdict(&text(19));
            let witness = late.witness().expect("a violation");
            assert_eq!(witness.at.micros(), 18_000_000, "{silent}");
        }
        // Whose session has not ended was not silent for long.
        let text = "a.acquire:0 a=1-17 a.disconnected:8 a.reconnected:9 end:60";
        assert!(verdict(text).witness().is_some());
    }

    /// With a lease of 10 s, and new leaders at these seconds.
    fn verdict_with_lease_resets(text: &str, leaders: &[u64]) -> Verdict {
        let mut run = notation::run(text);
        let leaders = leaders.iter();
        run.lease_resets = leaders
            .map(|at| VirtualTime::from_micros(at * 1_000_000))
            .collect();
        INVARIANT.verdict(&run)
    }

    #[test]
    fn a_new_leader_gives_a_crashed_owner_its_whole_lease_again_and_no_more() {
        let held = "a=0-31 a:0- a.crashed:5 end:60";
        assert_eq!(verdict_with_lease_resets(held, &[12, 21]), Verdict::Holds);
        // Nor one that began before, or when it was over.
        for leaders in [&[12, 20][..], &[3], &[32]] {
            let verdict = verdict_with_lease_resets(held, leaders);
            assert!(verdict.witness().is_some(), "{leaders:?}: {verdict:?}");
        }
        let never = verdict_with_lease_resets("a=0- a:0- a.crashed:5 end:60", &[12]);
        let witness = never.witness().expect("a violation");
        assert_eq!(witness.at.micros(), 22_000_000);
    }

    #[test]
    fn an_answer_that_is_long_in_coming_makes_no_orphan() {
        assert_eq!(
            verdict("a.acquire:0 a=1-40 a:30-40 a.released:40"),
            Verdict::Holds
        );
        assert_eq!(
            verdict("a.acquire:0 a=1-40 a:41-42 a.released:42"),
            Verdict::Holds
        );
    }

    #[test]
    fn a_release_that_is_long_in_coming_makes_no_orphan() {
        assert_eq!(verdict("a=1-40 a:1-2 a.released:40 end:41"), Verdict::Holds);
        assert_eq!(verdict("a=1-40 a:1-2 end:41"), Verdict::Holds);
    }

    #[test]
    fn who_waits_while_it_owns_is_an_orphan() {
        let text = "a.acquire:0 a=1-/name=x bound-reached:60 a.waiting:60/behind=x/owner=a";
        let expected = "a owned the lock by x for 59.000 s, and no contender believed in it";
        assert_eq!(summary(text), expected);
    }

    #[test]
    fn a_release_that_was_cancelled_is_no_answer_and_may_leave_an_orphan() {
        let cancelled = "a.acquire:0 a:1-2 a.release-cancelled:2 a=1- end:20";
        let witness = verdict(cancelled).witness().cloned().unwrap();
        let said = format!("{witness:?}");
        assert!(said.contains("had its release cancelled at"), "{said}");
        let ended = "a.acquire:0 a:1-2 a.release-cancelled:2 a=1-11 end:20";
        assert_eq!(verdict(ended), Verdict::Holds);
    }

    #[test]
    fn a_call_that_was_cancelled_leaves_an_orphan() {
        let cancelled = "a.acquire:0 a.cancelled:1 a=2- end:20";
        let witness = verdict(cancelled).witness().cloned().unwrap();
        assert_eq!(witness.events, [0, 1, 2]);
        assert_eq!(witness.at.micros(), 12_000_000);
        assert_eq!(
            verdict("a.acquire:0 a.cancelled:1 a=2-12 end:20"),
            Verdict::Holds
        );
    }

    #[test]
    fn a_release_that_failed_leaves_an_orphan() {
        let text = "a=0-30 a:0-5 a.release-failed:6 end:40";
        assert!(verdict(text).witness().is_some());
        let again = "a=0-30 a:0-5 a.release-failed:6 a.acquire:7 a:20-30 a.released:30 end:40";
        assert_eq!(verdict(again), Verdict::Holds);
    }

    #[test]
    fn a_release_whose_answer_comes_after_the_end_of_the_session_makes_no_orphan() {
        let text = "a.acquire:0 a=0-18/how=expired a:0-1 a.release-failed:20 \
                    a.acquire:20 a=60-70 a:60-70 a.released:70 end:70";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn who_is_kept_for_good_from_learning_that_it_owns_the_lock_leaves_no_orphan() {
        let stranded = |is_heard| {
            let mut run = notation::run("a.acquire:0 a=1- b.acquire:2 end:60");
            run.for_good.contenders = vec![Stranded {
                by: ContenderId(0),
                why: "a callback of a never returns".to_owned(),
                is_heard,
            }];
            INVARIANT.verdict(&run)
        };
        assert!(matches!(stranded(true), Verdict::Undecided(_)));
        assert!(stranded(false).witness().is_some(), "its session ends");
    }

    #[test]
    fn a_service_that_is_gone_for_good_ends_no_ownership_and_what_came_before_is_judged() {
        let gone_at = |text: &str, seconds: u64| {
            let mut run = notation::run(text);
            run.for_good.service = Some(Unavailable {
                since: VirtualTime::from_micros(seconds * 1_000_000),
                why: "the only server is dead for good".to_owned(),
            });
            INVARIANT.verdict(&run)
        };
        let held = "a=0- a:0- a.crashed:5 end:60";
        assert!(matches!(gone_at(held, 14), Verdict::Undecided(_)));
        assert!(gone_at(held, 16).witness().is_some());
        let left = "a.queued:1/name=x end:20 leftover:20/name=x/owner=a";
        assert!(matches!(gone_at(left, 14), Verdict::Undecided(_)));
    }
}
