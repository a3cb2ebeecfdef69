//! A deadlock by order: contenders that hold several locks at once, and wait for each other in a circle.

use super::Wait;
use crate::lists::listed;
use crate::witness::WitnessBuilder;
use crate::{ContenderId, Evidence, LockId};

/// One that holds a lock which another waits for, while it waits for a lock itself.
struct Holder {
    wait: Wait,
    holds: LockId,
    /// The `Acquired`, or, where one call acquires several locks and has not returned, the `Owned`.
    since: usize,
}

/// The wait for which a wait waits: that of the contender ahead in the queue, or that of the holder, for another lock.
pub(super) fn next(evidence: &Evidence<'_>, waits: &[Wait], last: &Wait) -> Option<Wait> {
    let ahead = |wait: &&Wait| Some(wait.by) == last.owner && wait.lock == last.lock;
    let holds = |wait: &&Wait| {
        wait.by != last.by
            && wait.lock != last.lock
            && holds_since(evidence, wait.by, last.lock).is_some()
    };
    let mut waits_of = waits.iter();
    let found = waits_of.find(ahead).or_else(|| waits.iter().find(holds));
    found.copied()
}

/// Since when a contender holds a lock at the end, if it does: it believes so, or its call has not returned, and the
/// service has made it the owner.
fn holds_since(evidence: &Evidence<'_>, by: ContenderId, lock: LockId) -> Option<usize> {
    let mut beliefs = evidence.beliefs.iter().rev();
    let belief = beliefs.find(|held| (held.by, held.lock) == (by, lock) && held.left.is_none());
    if let Some(belief) = belief {
        return Some(belief.acquired);
    }
    let mut calls = evidence.pending.iter();
    calls.find(|(who, of, _)| (*who, *of) == (by, lock))?;
    let mut ownerships = evidence.ownerships.iter().rev();
    let owned = ownerships.find(|own| (own.by, own.lock) == (by, lock) && own.disowned.is_none());
    owned.map(|ownership| ownership.owned)
}

/// Of those that wait for each other, the ones that hold what another of them waits for. The first contender comes
/// first. None, if all wait for the same lock.
fn holders(evidence: &Evidence<'_>, circle: &[Wait]) -> Vec<Holder> {
    let before = circle.iter().cycle().skip(circle.len().saturating_sub(1));
    let pairs = before.zip(circle);
    let holders = pairs.filter(|(before, wait)| before.lock != wait.lock);
    let holders = holders.filter_map(|(before, wait)| {
        let since = holds_since(evidence, wait.by, before.lock)?;
        Some(Holder {
            wait: *wait,
            holds: before.lock,
            since,
        })
    });
    let mut holders: Vec<Holder> = holders.collect();
    let first = (0..holders.len()).min_by_key(|index| holders[*index].wait.by);
    holders.rotate_left(first.unwrap_or(0));
    holders
}

/// Says what each contender holds and waits for; answers the summary. `None` if all wait for the same lock.
pub(super) fn explain(
    case: &mut WitnessBuilder<'_>,
    evidence: &Evidence<'_>,
    circle: &[Wait],
) -> Option<String> {
    let holders = holders(evidence, circle);
    if holders.is_empty() {
        return None;
    }
    let name = |lock| evidence.run.history.lock(lock);
    let mut each = Vec::new();
    for Holder { wait, holds, since } in &holders {
        let (who, holds, wants) = (case.name(wait.by), name(*holds), name(wait.lock));
        each.push(format!("{who} holds {holds} and waits for {wants}"));
        let mut calls = evidence.pending.iter();
        let asked = calls.find(|(by, lock, _)| (*by, *lock) == (wait.by, wait.lock));
        let waits_since = match asked {
            Some((_, _, asked)) => {
                case.show([*asked]);
                format!(" since {}", evidence.at(*asked))
            }
            None => String::new(),
        };
        let at = evidence.at(*since);
        case.show([*since, wait.event]).then(format!(
            "{who} holds {holds} since {at}, and waits for {wants}{waits_since}."
        ));
    }
    Some(format!("they wait for each other: {}", listed(&each)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{summary, verdict};
    use crate::Verdict;

    const A_B: &str = "a.acquire:0/on=x a:1-/on=x b.acquire:0/on=y b:1-/on=y a.acquire:2/on=y \
                       b.acquire:2/on=x bound-reached:90";

    #[test]
    fn who_holds_what_the_other_waits_for_is_named_with_both_locks() {
        let expected =
            "they wait for each other: a holds x and waits for y, b holds y and waits for x";
        // With the node that each waits behind, and of a service that has none.
        let text =
            format!("{A_B} b.waiting:90/on=x/behind=p/owner=a a.waiting:90/on=y/behind=q/owner=b");
        assert_eq!(summary(&text), expected);
        let text = format!("{A_B} b.waiting:90/on=x a.waiting:90/on=y");
        assert_eq!(summary(&text), expected);
    }

    #[test]
    fn the_argument_says_since_when() {
        let text = format!("{A_B} a.waiting:90/on=y b.waiting:90/on=x");
        let witness = verdict(&text).witness().expect("a violation").clone();
        let steps: Vec<String> = witness
            .argument
            .iter()
            .map(|step| format!("{step:?}"))
            .collect();
        let first = "a holds x since 1.000 s, and waits for y since 2.000 s.";
        assert!(steps[0].contains(first), "{steps:?}");
    }

    #[test]
    fn who_only_queues_in_the_circle_is_not_told_to_hold_anything() {
        let text = format!(
            "{A_B} c.acquire:3/on=x a.waiting:90/on=y b.waiting:90/on=x/behind=p/owner=c \
             c.waiting:90/on=x/behind=q/owner=a"
        );
        let expected =
            "they wait for each other: a holds x and waits for y, b holds y and waits for x";
        assert_eq!(summary(&text), expected);
    }

    #[test]
    fn a_circle_of_three_is_named_whole() {
        let text = "a:1-/on=x b:1-/on=y c:1-/on=z a.acquire:2/on=y b.acquire:2/on=z \
                    c.acquire:2/on=x bound-reached:90 a.waiting:90/on=y b.waiting:90/on=z \
                    c.waiting:90/on=x";
        let expected = "they wait for each other: a holds x and waits for y, b holds y and waits \
                        for z, c holds z and waits for x";
        assert_eq!(summary(text), expected);
    }

    #[test]
    fn a_call_of_several_locks_holds_what_the_service_has_given_it() {
        let text = "a.acquire:0/on=x a.acquire:0/on=y b.acquire:0/on=x b.acquire:0/on=y \
                    a=1-/on=x b=1-/on=y bound-reached:90 a.waiting:90/on=y b.waiting:90/on=x";
        let expected =
            "they wait for each other: a holds x and waits for y, b holds y and waits for x";
        assert_eq!(summary(text), expected);
    }

    #[test]
    fn who_waits_behind_a_holder_that_does_not_wait_is_in_no_circle() {
        let text = "a:1-/on=x a.acquire:2/on=y b:1-/on=y bound-reached:90 a.waiting:90/on=y";
        assert_eq!(
            summary(text),
            "y: a never got the lock, although no contender owns it"
        );
        // An orphan of an earlier call is no hold.
        let text = "a=1-/on=x a.acquire:2/on=y b=1-/on=y b.acquire:2/on=x bound-reached:90 \
                    a.waiting:90/on=y b.waiting:90/on=x";
        assert!(!summary(text).contains("holds"));
    }

    #[test]
    fn locks_that_are_taken_in_one_order_make_progress() {
        let text = "a:1-5/on=x b.acquire:1/on=x a:2-4/on=y b:6-9/on=x b:7-8/on=y end:9";
        assert_eq!(verdict(text), Verdict::Holds);
    }
}
