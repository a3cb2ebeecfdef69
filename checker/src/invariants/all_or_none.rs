//! A call that acquires several locks has all of them, or none.
//!
//! A multi-lock asks for its locks one after the other. So it may come back with locks that it never had together:
//! what it had first can be gone when it gets the last, because the session ended in between. And a call that fails may
//! leave what it had got before.
//!
//! Of a call that cannot say what it left (it failed indefinitely, was dropped, or its contender died), and of one that
//! is pending, nothing is said; `no-orphan` says how long that may stay. Nor of one from which another client has taken
//! a lock meanwhile: the caller is not told.

use crate::evidence::{MultiCall, Orphan};
use crate::witness::WitnessBuilder;
use crate::{Disowned, EventKind, Evidence, Invariant, LockId, Truth, Verdict, lists};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "all-or-none",
    truth: Truth::Ownership,
    meaning: "A contender that is told that it has acquired several locks by one call did own all of them at \
              once, and one whose call fails for certain has none of them left.",
    check,
    inexcusable: None,
};

fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut told = false;
    for call in evidence.multi_calls() {
        if call.ends.len() < call.locks.len() || died(evidence, &call) {
            continue;
        }
        let acquired: Vec<LockId> = acquired(evidence, &call);
        if acquired.is_empty() {
            let refused = evidence.refused.iter().filter(|end| {
                end.by == call.by && !end.doubtful && call.asked(end.lock) == Some(end.asked)
            });
            for refused in refused {
                told = true;
                if let Some(orphan) = evidence.orphan_of(*refused) {
                    return left(evidence, &call, &orphan);
                }
            }
            continue;
        }
        if acquired.len() < call.locks.len() {
            return only_some(evidence, &call, &acquired);
        }
        if !acquired.iter().all(|lock| evidence.has_owners_of(*lock)) {
            continue; // The service does not say who owns them.
        }
        let returned = call.ends.last().copied();
        let has_all = evidence.owns_all_from(&call, returned).is_some();
        if !has_all && was_robbed(evidence, &call) {
            continue;
        }
        told = true;
        if !has_all {
            return never_all(evidence, &call);
        }
    }
    match told {
        true => Verdict::Holds,
        false => Verdict::Undecided(
            "no call of several locks came back with an answer that can be compared".to_owned(),
        ),
    }
}

/// Whether the contender died before all was said.
fn died(evidence: &Evidence<'_>, call: &MultiCall) -> bool {
    let mut ends = call.ends.iter().map(|end| evidence.event(*end).what);
    ends.any(|what| matches!(what, EventKind::Crashed { .. }))
}

/// Whether another contender or an operator has taken away one of its locks while the call was pending: the caller is
/// not told.
fn was_robbed(evidence: &Evidence<'_>, call: &MultiCall) -> bool {
    let last = call.ends.last().copied().unwrap_or_default();
    evidence.ownerships.iter().any(|own| {
        let of_call = own.by == call.by && call.asked(own.lock).is_some_and(|at| at < own.owned);
        let by_others = !matches!(own.how, None | Some(Disowned::Released | Disowned::Expired));
        of_call && by_others && own.disowned.is_some_and(|end| end < last)
    })
}

/// The locks that a call has returned.
fn acquired(evidence: &Evidence<'_>, call: &MultiCall) -> Vec<LockId> {
    let ends = call.ends.iter().map(|end| evidence.event(*end).what);
    let acquired = ends.filter_map(|what| match what {
        EventKind::Acquired { lock, .. } => Some(lock),
        _ => None,
    });
    acquired.collect()
}

/// The names of locks: `x, y, and z`.
fn names(evidence: &Evidence<'_>, locks: impl Iterator<Item = LockId>) -> String {
    let names: Vec<&str> = locks.map(|lock| evidence.run.history.lock(lock)).collect();
    lists::named(&names, ", and ")
}

fn all_of(evidence: &Evidence<'_>, call: &MultiCall) -> String {
    names(evidence, call.locks.iter().map(|(lock, _)| *lock))
}

fn begin<'e>(evidence: &'e Evidence<'e>, call: &MultiCall) -> WitnessBuilder<'e> {
    let mut case = WitnessBuilder::new(evidence);
    let asked = call.locks.iter().map(|(_, asked)| *asked);
    case.show(asked).show(call.ends.iter().copied());
    let (who, all) = (case.name(call.by), all_of(evidence, call));
    let at = evidence.at(call.locks[0].1);
    case.then(format!("{who} asked for {all} by one call at {at}."));
    case
}

/// A call that failed has left one of its locks.
fn left(evidence: &Evidence<'_>, call: &MultiCall, orphan: &Orphan) -> Verdict {
    let mut case = begin(evidence, call);
    let history = &evidence.run.history;
    let (who, all) = (case.name(call.by), all_of(evidence, call));
    let (lock, node) = (history.lock(orphan.call.lock), history.name(orphan.name));
    let failed = evidence.at(orphan.call.failed);
    let since = evidence.at(orphan.came);
    let until = match orphan.gone {
        Some(gone) => format!("until {}", evidence.at(gone)),
        None => "to the end of the run".to_owned(),
    };
    let summary = format!("{who} failed to acquire {all}, and kept {lock} by {node}");
    case.show([orphan.came]).show(orphan.gone);
    case.then(format!("acquire told {who} at {failed} that it had none."))
        .however(format!(
            "{node} of {who} was there for {lock} from {since} {until}."
        ))
        .broken(summary, orphan.call.failed.max(orphan.came), None)
}

/// A call has returned some of its locks, and not all.
fn only_some(evidence: &Evidence<'_>, call: &MultiCall, acquired: &[LockId]) -> Verdict {
    let mut case = begin(evidence, call);
    let (who, all) = (case.name(call.by), all_of(evidence, call));
    let some = names(evidence, acquired.iter().copied());
    let last = call.ends.last().copied().unwrap_or_default();
    let summary = format!("{who} asked for {all}, and got {some} alone");
    let at = evidence.at(last);
    case.however(format!("its call had come back at {at} with {some} alone."))
        .broken(summary, last, None)
}

/// A call has returned all of its locks, and its caller never owned them together.
fn never_all(evidence: &Evidence<'_>, call: &MultiCall) -> Verdict {
    let mut case = begin(evidence, call);
    let (who, all) = (case.name(call.by), all_of(evidence, call));
    let last = call.ends.last().copied().unwrap_or_default();
    let at = evidence.at(last);
    case.then(format!(
        "acquire told {who} at {at} that it had acquired {all}."
    ));
    for (lock, _) in &call.locks {
        let of = (call.by, *lock);
        let mut ownerships = evidence.ownerships.iter().rev();
        let latest = ownerships.find(|own| (own.by, own.lock) == of && own.owned <= last);
        let name = evidence.run.history.lock(*lock);
        let Some(ownership) = latest else {
            case.then(format!("{who} had never owned {name}."));
            continue;
        };
        case.show_ownership(ownership);
        let from = evidence.at(ownership.owned);
        let until = match ownership.disowned {
            Some(disowned) => format!("until {}", evidence.at(disowned)),
            None => "to the end of the run".to_owned(),
        };
        case.then(format!("{who} owned {name} from {from} {until}."));
    }
    let summary = format!("{who} was told that it held {all}, which it never owned at once");
    case.however(format!("it owned {all} together at no moment before {at}."))
        .broken(summary, last, None)
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

    const BOTH: &str = "a.acquire:0/on=x a.acquire:0/on=y";

    #[test]
    fn who_gets_all_owns_them_at_once_if_only_for_a_moment() {
        let got = format!("{BOTH} a=1-9/on=x a=5-9/on=y a:6-9/on=x a:6-9/on=y");
        assert_eq!(verdict(&got), Verdict::Holds);
        // The answer came late.
        let late = format!("{BOTH} a=1-6/on=x a=5-7/on=y a:8-9/on=x a:8-9/on=y");
        assert_eq!(verdict(&late), Verdict::Holds);
    }

    #[test]
    fn what_is_gone_before_the_last_is_there_is_not_had_with_it() {
        let text = format!("{BOTH} a=1-5/on=x/how=expired a=5-9/on=y a:6-9/on=x a:6-9/on=y");
        let expected = "a was told that it held x and y, which it never owned at once";
        assert_eq!(summary(&text), expected);
        // The caller is not told that it was robbed.
        let robbed = text.replace("how=expired", "how=outside");
        assert!(matches!(verdict(&robbed), Verdict::Undecided(_)));
        // It comes back to it too late.
        let again = format!("{BOTH} a=1-5/on=x a=5-9/on=y a=7-9/on=x a:6-9/on=x a:6-9/on=y");
        assert_eq!(summary(&again), expected);
    }

    #[test]
    fn who_fails_for_certain_has_given_back_what_it_had() {
        let failed = |given_back: &str| {
            format!(
                "b=0-20/on=y b:0-20/on=y {BOTH} a=1-{given_back}/on=x/name=n a.failed:5/on=x \
                 a.failed:5/on=y end:20"
            )
        };
        assert_eq!(verdict(&failed("5")), Verdict::Holds);
        let expected = "a failed to acquire x and y, and kept x by n";
        assert_eq!(summary(&failed("6")), expected);
        assert_eq!(summary(&failed("")), expected);
        // A call that cannot say what it left says nothing.
        let indefinite = failed("6").replace("a.failed", "a.indefinite");
        assert!(matches!(verdict(&indefinite), Verdict::Undecided(_)));
        let dropped = failed("6").replace("a.failed", "a.cancelled");
        assert!(matches!(verdict(&dropped), Verdict::Undecided(_)));
    }

    #[test]
    fn some_of_the_locks_are_not_all() {
        let text = format!("{BOTH} a=1-9/on=x a:2-9/on=x a.failed:2/on=y");
        assert_eq!(summary(&text), "a asked for x and y, and got x alone");
    }

    #[test]
    fn locks_that_are_acquired_one_after_the_other_are_no_call_of_several() {
        let nested = "a.acquire:0/on=x a=1-9/on=x a:1-9/on=x a.acquire:2/on=y a.failed:3/on=y";
        assert!(matches!(verdict(nested), Verdict::Undecided(_)));
        let pending = format!("{BOTH} a=1-/on=x bound-reached:60");
        assert!(matches!(verdict(&pending), Verdict::Undecided(_)));
        let died = format!("{BOTH} a=1-9/on=x a.crashed:2 a.acquire:10/on=x a:10-11/on=x");
        assert!(matches!(verdict(&died), Verdict::Undecided(_)));
        let returning = format!("{BOTH} a=1-9/on=x a=1-9/on=y a:2-9/on=x a.crashed:2");
        assert!(matches!(verdict(&returning), Verdict::Undecided(_)));
    }
}
