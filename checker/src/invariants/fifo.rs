//! First come, first served.

use std::collections::VecDeque;

use crate::mode::ByMode;
use crate::witness::WitnessBuilder;
use crate::{
    Belief, ContenderId, Event, EventKind, Evidence, Invariant, LockId, Mode, NameId, Truth,
    Verdict,
};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "fifo",
    truth: Truth::Service,
    meaning: "Those who queue for the lock get it in the order of their places, unless they share it.",
    check,
    inexcusable: None,
};

/// A place in the queue of a lock that is neither given up nor lost.
#[derive(Clone, Copy)]
struct Place {
    lock: LockId,
    place: u64,
    by: ContenderId,
    name: NameId,
    mode: Mode,
    queued: usize,
    /// It has come to own the lock, and so cannot be overtaken any more.
    served: bool,
}

type Queue = VecDeque<Place>;

fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut queues: Vec<Queue> = vec![Queue::new(); evidence.run.history.locks.len().max(1)];
    let (mut queued, mut contended) = (false, false);
    for &index in &evidence.queueing {
        match evidence.event(index).what {
            // A holder that wants another mode overtakes no place: it has the lock.
            EventKind::Queued { by, lock, .. }
                if evidence.conversion_under_way(index, by, lock).is_some() => {}
            EventKind::Queued {
                by,
                lock,
                place,
                name,
                mode,
            } => {
                let queue = queue(&mut queues, lock);
                queued = true;
                contended = contended || queue.iter().any(|other| other.by != by);
                let joins = Place {
                    lock,
                    place,
                    by,
                    name,
                    mode,
                    queued: index,
                    served: false,
                };
                join(queue, joins);
            }
            EventKind::Unqueued {
                by, lock, place, ..
            } => {
                let queue = queue(&mut queues, lock);
                let is_it = |p: &Place| (p.place, p.by) == (place, by);
                // Nearly always the first.
                if queue.front().is_some_and(is_it) {
                    queue.pop_front();
                    continue;
                }
                let mut at = queue.partition_point(|other| other.place < place);
                while at < queue.len() && queue[at].place == place && queue[at].by != by {
                    at += 1;
                }
                if queue.get(at).is_some_and(is_it) {
                    queue.remove(at);
                }
            }
            EventKind::Owned { by, lock, name, .. } => {
                let queue = queue(&mut queues, lock);
                if let Some((overtaken, granted)) = serve(evidence, queue, by, name, index) {
                    return overtaking(evidence, overtaken, granted, index);
                }
            }
            other => unreachable!("{other:?} is not about the queue"),
        }
    }
    if !queued {
        // As true of a lock whose requests never came to its queue as of a service without one.
        let reason = "no contender ever stood in a queue of the service";
        return Verdict::Undecided(reason.to_owned());
    }
    if !contended {
        return Verdict::Undecided("no contender ever waited for the lock".to_owned());
    }
    beliefs_in_order(evidence)
}

/// Puts a waiter into the queue by its place: nearly always at the end, for later waiters get higher places.
fn join(queue: &mut Queue, joins: Place) {
    if queue.back().is_none_or(|last| last.place <= joins.place) {
        queue.push_back(joins);
    } else {
        let at = queue.partition_point(|other| other.place <= joins.place);
        queue.insert(at, joins);
    }
}

fn queue(queues: &mut Vec<Queue>, lock: LockId) -> &mut Queue {
    let place = lock.0 as usize;
    if place >= queues.len() {
        queues.resize(place + 1, Queue::new());
    }
    &mut queues[place]
}

/// Marks the place that is granted the lock: gives back one that it overtook, and itself. In a
/// queue that is in order the place is the first one or nearly so, and this looks no further.
fn serve(
    evidence: &Evidence<'_>,
    queue: &mut Queue,
    by: ContenderId,
    name: NameId,
    index: usize,
) -> Option<(Place, Place)> {
    // By its name; a service whose owner has no name of its own in the queue: by its contender.
    let named = queue
        .iter()
        .position(|p| p.by == by && p.name == name && !p.served);
    let at = named.or_else(|| queue.iter().position(|p| p.by == by && !p.served))?;
    queue[at].served = true;
    let granted = queue[at];
    let ahead = queue.iter().take(at);
    let mut overtaken = ahead.filter(|p| {
        p.place < granted.place && p.by != by && !p.served && p.mode.excludes(granted.mode)
    });
    overtaken
        .find(|place| !leaves_at_once(evidence, place, index))
        .map(|place| (*place, granted))
}

/// Whether a place goes at the very moment of the grant: then it may have made way for it,
/// whichever of the two was written down first.
fn leaves_at_once(evidence: &Evidence<'_>, place: &Place, index: usize) -> bool {
    let at = evidence.at(index);
    let later = &evidence.run.history.events[index..];
    let mut same_time = later.iter().take_while(|event| event.at == at);
    same_time.any(|event| gives_up(place, event))
}

fn gives_up(place: &Place, event: &Event) -> bool {
    matches!(event.what, EventKind::Unqueued { by, lock, place: left, .. }
        if (by, lock, left) == (place.by, place.lock, place.place))
}

fn overtaking(evidence: &Evidence<'_>, passed: Place, granted: Place, index: usize) -> Verdict {
    let history = &evidence.run.history;
    let mut case = WitnessBuilder::new(evidence);
    let (first, second) = (case.name(passed.by), case.name(granted.by));
    let (place, later) = (passed.place, granted.place);
    let queued = evidence.at(passed.queued);
    let node = history.name(passed.name);
    let mut ahead = index..history.events.len();
    let gone = ahead.find(|&index| gives_up(&passed, evidence.event(index)));
    let until = match gone {
        Some(gone) => format!("until {}", evidence.at(gone)),
        None => "to the end of the run".to_owned(),
    };
    case.show([passed.queued, granted.queued])
        .show(gone)
        .show(
            evidence
                .ownerships
                .iter()
                .find(|o| o.owned == index)
                .and_then(|o| o.disowned),
        )
        .then(format!(
            "{first} has place {place} by {node}, from {queued} {until}."
        ))
        .however(format!(
            "the service made {second} the owner at {}, with place {later}, which is behind that.",
            evidence.at(index)
        ))
        .broken(format!("{second} overtook {first}"), index, None)
}

/// The newest grant on which a contender has entered so far, and its belief.
type Newest<'e> = Option<(usize, &'e Belief)>;

/// Contenders must learn of their grants in the order of the grants, unless they share the lock.
fn beliefs_in_order(evidence: &Evidence<'_>) -> Verdict {
    // Contenders with a permit each may learn of it in any order.
    if evidence.permits() > 1 {
        return Verdict::Holds;
    }
    let mut newest: Vec<ByMode<Newest<'_>>> =
        vec![ByMode::default(); evidence.run.history.locks.len()];
    for belief in &evidence.beliefs {
        let Some(grant) = belief.grant else {
            continue;
        };
        let lock = belief.lock.0 as usize;
        if lock >= newest.len() {
            newest.resize(lock + 1, ByMode::default());
        }
        let excluding = newest[lock].excluding(belief.mode);
        let overtaking = { excluding.copied().flatten() }.find(|(newer, _)| grant < *newer);
        if let Some((_, other)) = overtaking {
            return out_of_order(evidence, belief, other);
        }
        let newest = newest[lock].of_mut(belief.mode);
        if newest.is_none_or(|(newer, _)| newer < grant) {
            *newest = Some((grant, belief));
        }
    }
    Verdict::Holds
}

fn out_of_order(evidence: &Evidence<'_>, late: &Belief, newer: &Belief) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let (first, second) = (case.name(late.by), case.name(newer.by));
    let granted = |belief: &Belief| evidence.at(evidence.age(belief));
    let (before, after) = (granted(late), granted(newer));
    let (entered, late_entry) = (evidence.at(newer.acquired), evidence.at(late.acquired));
    case.show_belief(late)
        .show_belief(newer)
        .then(format!(
            "the service made {first} the owner at {before}, and {second} at {after}."
        ))
        .however(format!(
            "{second} was inside from {entered}, and {first} only from {late_entry}."
        ))
        .broken(
            format!("{first} got the lock before {second} and entered after it"),
            late.acquired,
            None,
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(text: &str) -> Verdict {
        INVARIANT.verdict(&notation::run(text))
    }

    fn summary(text: &str) -> String {
        verdict(text)
            .witness()
            .expect("a violation")
            .summary
            .clone()
    }

    #[test]
    fn the_queue_may_shrink_in_the_middle() {
        let text = "a.queued:0 b.queued:1 c.queued:2 a=0-10 b.unqueued:4 a.unqueued:10 c=10-20";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn with_several_permits_who_owns_one_may_learn_of_it_in_any_order() {
        let with_two = |text: &str| {
            let mut run = notation::run(text);
            run.facts.permits = 2;
            INVARIANT.verdict(&run)
        };
        let text = "a.queued:0 b.queued:1 a=0-10 b=1-10 b:2-9 a:3-9";
        assert!(verdict(text).witness().is_some());
        assert_eq!(with_two(text), Verdict::Holds);
        let overtakes = "a.queued:0 b.queued:1 c.queued:2 a=0-10 c=2-10 b=9-20";
        let found = with_two(overtakes);
        assert_eq!(
            found.witness().expect("a violation").summary,
            "c overtook b"
        );
    }

    #[test]
    fn to_be_served_before_a_lower_place_is_to_overtake() {
        let text = "a.queued:0 b.queued:1 c.queued:2 a=0-10 a.unqueued:10 c=10-20";
        assert_eq!(summary(text), "c overtook b");
    }

    #[test]
    fn places_count_and_not_the_order_in_which_they_are_seen() {
        let text = "a.queued:0/place=9 b.queued:0/place=3 b=1-2 b.unqueued:2 a=2-3";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn an_owner_that_leaves_at_the_moment_of_the_next_grant_is_not_overtaken() {
        let mut run = notation::run("a.queued:0 b.queued:0 a.unqueued:1 b=1-9");
        run.history.events.swap(2, 3);
        assert_eq!(INVARIANT.verdict(&run), Verdict::Holds);
    }

    #[test]
    fn to_leave_the_queue_of_another_lock_is_not_to_make_way() {
        let mut run = notation::run("a.queued:0 b.queued:0 a.unqueued:1/on=y b=1-9");
        run.history.events.swap(2, 3);
        assert!(INVARIANT.verdict(&run).witness().is_some());
    }

    #[test]
    fn readers_may_overtake_readers_and_not_a_writer() {
        let text = "a.queued:0/shared b.queued:1/shared b=1-5/shared a=2-4/shared b:2-5/shared \
                    a:3-4/shared";
        assert_eq!(verdict(text), Verdict::Holds);
        let text = "a.queued:0 b.queued:1/shared b=1-5/shared a=5-6";
        assert_eq!(summary(text), "b overtook a");
        let text = "a.queued:0/shared b.queued:1 b=1-5 a=5-6/shared";
        assert_eq!(summary(text), "b overtook a");
    }

    #[test]
    fn an_owner_has_been_served() {
        let text = "a.queued:0 b.queued:1 a=0-5 b=5-9 a.unqueued:9";
        assert_eq!(verdict(text), Verdict::Holds);
    }

    #[test]
    fn to_enter_before_an_earlier_grant_is_to_overtake() {
        let text = "a.acquire:0 a.queued:0 b.queued:1 a=0-5/how=expired a.unqueued:5 b=5-9 b:6-9 \
                    a:7-8";
        assert_eq!(
            summary(text),
            "a got the lock before b and entered after it"
        );
    }

    #[test]
    fn a_queue_of_one_tells_nothing() {
        let alone = Verdict::Undecided("no contender ever waited for the lock".to_owned());
        assert_eq!(
            verdict("a.queued:0 a=0-5 a.unqueued:5 b.queued:6 b=6-7"),
            alone
        );
        assert!(matches!(verdict("a=0-5 b=5-7"), Verdict::Undecided(_)));
    }
}
