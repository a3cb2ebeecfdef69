//! A deadlock by permits: calls that want several have some each, and what is left is too little for any of them.

use super::wait::Wait;
use crate::lists::listed;
use crate::witness::WitnessBuilder;
use crate::{ContenderId, Evidence, LockId, Ownership, Verdict};

/// A call that waits, and the permits that it has got so far.
struct Part<'e> {
    by: ContenderId,
    asked: usize,
    wanted: usize,
    has: Vec<&'e Ownership>,
}

/// The violation, if those that wait have all permits that are out, and none of them can have the rest of its own.
pub(super) fn verdict(evidence: &Evidence<'_>, waits: &[Wait], ended: usize) -> Option<Verdict> {
    let lock = waits.first()?.lock;
    let parts: Vec<Part<'_>> = waits
        .iter()
        .filter(|wait| wait.lock == lock)
        .filter_map(|wait| part(evidence, wait.by, lock))
        .collect();
    let open = evidence.ownerships.iter();
    let open = open.filter(|own| own.lock == lock && own.disowned.is_none());
    let out = open.count();
    let in_parts: usize = parts.iter().map(|part| part.has.len()).sum();
    let left = evidence.permits().saturating_sub(out);
    let is_enough = |part: &Part<'_>| part.has.len() + left >= part.wanted;
    if parts.is_empty() || out != in_parts || parts.iter().any(is_enough) {
        return None;
    }
    let mut case = WitnessBuilder::new(evidence);
    let mut each = Vec::new();
    for part in &parts {
        let (who, has, wanted) = (case.name(part.by), part.has.len(), part.wanted);
        for ownership in &part.has {
            case.show_ownership(ownership);
        }
        let asked = evidence.at(part.asked);
        case.show([part.asked]).then(format!(
            "{who} wants {wanted} permits since {asked}, and has {has} of them."
        ));
        each.push(format!(
            "{who} has {has} of the {wanted} permits that it wants"
        ));
    }
    let events = waits.iter().map(|wait| wait.event);
    case.show(events).however(format!(
        "{left} of {} permits are left, which is too few for any of them, when the run ended at {}.",
        evidence.permits(),
        evidence.at(ended)
    ));
    let summary = format!("they wait for each other: {}", listed(&each));
    Some(case.broken(summary, ended, None))
}

/// What a pending call has, if that is less than it wants, and more than nothing.
fn part<'e>(evidence: &'e Evidence<'_>, by: ContenderId, lock: LockId) -> Option<Part<'e>> {
    let mut pending = evidence.pending.iter();
    let &(_, _, asked) = pending.find(|(who, of, _)| (*who, *of) == (by, lock))?;
    let wanted = evidence.permits_of([by]);
    let of_call = evidence.ownerships.iter().filter(|own| {
        (own.by, own.lock) == (by, lock) && own.disowned.is_none() && asked < own.owned
    });
    let has: Vec<&Ownership> = of_call.collect();
    let is_part = !has.is_empty() && has.len() < wanted;
    is_part.then_some(Part {
        by,
        asked,
        wanted,
        has,
    })
}

#[cfg(test)]
mod tests {
    use super::super::INVARIANT;
    use crate::notation;

    /// Of so many permits, a and b take two by each call.
    fn summary(permits: u32, text: &str) -> String {
        let mut run = notation::run(text);
        (run.facts.permits, run.facts.permits_per_acquire) = (permits, vec![2, 2]);
        let verdict = INVARIANT.verdict(&run);
        verdict.witness().expect("a violation").summary.clone()
    }

    const HALF_EACH: &str = "a.acquire:0 b.acquire:0 a.queued:1/name=p a=1-/name=p b.queued:2/name=q \
                             b=2-/name=q bound-reached:60 a.waiting:60/behind=p/owner=a \
                             b.waiting:60/behind=p/owner=a";

    #[test]
    fn who_have_a_part_each_of_what_they_want_wait_for_each_other() {
        let expected = "they wait for each other: a has 1 of the 2 permits that it wants, \
                        b has 1 of the 2 permits that it wants";
        assert_eq!(summary(2, HALF_EACH), expected);
    }

    #[test]
    fn where_a_permit_is_left_or_another_has_some_it_is_no_deadlock_of_parts() {
        let left = summary(3, HALF_EACH);
        assert!(!left.contains("permits"), "{left}");
        let other = summary(3, &format!("c=0-/name=r {HALF_EACH}"));
        assert!(!other.contains("permits"), "{other}");
    }
}
