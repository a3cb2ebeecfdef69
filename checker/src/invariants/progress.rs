//! Every waiter gets the lock in the end.

mod at_barrier;
mod at_latch;
mod between_calls;
mod circular_wait;
mod list_too_long;
mod livelock;
mod permit_deadlock;
mod wait;

use self::wait::{Wait, has_queue};
use crate::lists::listed;
use crate::witness::WitnessBuilder;
use crate::{ContenderId, Ended, EventKind, Evidence, Invariant, Rendezvous, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "progress",
    truth: Truth::Service,
    meaning: "Once nothing breaks any more, each contender that waits for the lock gets it, and keeps it \
              until its section is done.",
    check,
    inexcusable: None,
};

fn check(evidence: &Evidence<'_>) -> Verdict {
    let undecided = |why: &str| Verdict::Undecided(why.to_owned());
    if let (Some(list), Some((ended, Ended::BoundReached))) =
        (evidence.run.history.too_long, evidence.ended)
    {
        return no_service_left(evidence)
            .unwrap_or_else(|| list_too_long::verdict(evidence, list, ended));
    }
    match evidence.ended {
        None => undecided("the history does not say how the run ended"),
        Some((_, Ended::OutOfBudget)) => undecided("the run was out of its budget"),
        Some((_, Ended::NotModelled)) => {
            undecided("the run ended at something that is not modelled")
        }
        Some((_, Ended::Broken)) => undecided("the run broke off"),
        Some((_, Ended::AllFinished)) if evidence.waiting.is_empty() => Verdict::Holds,
        Some((ended, Ended::AllFinished | Ended::BoundReached)) => excused(evidence)
            .or_else(|| at_barrier::verdict(evidence, ended))
            .or_else(|| at_latch::verdict(evidence, ended))
            .or_else(|| livelock::verdict(evidence, ended))
            .unwrap_or_else(|| stuck(evidence, ended)),
    }
}

/// A service of which too little is left owes no lock, and a stranded contender cannot get one whatever is left: where
/// all others have what they came for, it holds.
fn excused(evidence: &Evidence<'_>) -> Option<Verdict> {
    let gone = &evidence.run.for_good;
    no_service_left(evidence).or_else(|| {
        let first = gone.contenders.first()?;
        let all = 0..evidence.run.history.contenders.len() as u32;
        let owes = |by: ContenderId| gone.stranded(by).is_none();
        if all.clone().all(|by| !owes(ContenderId(by))) {
            return Some(Verdict::Undecided(first.why.clone()));
        }
        let mut waiting = all.map(ContenderId).filter(|by| owes(*by));
        waiting
            .all(|by| has_left(evidence, by))
            .then_some(Verdict::Holds)
    })
}

/// Whether a contender has done what it came for, or is dead.
fn has_left(evidence: &Evidence<'_>, by: ContenderId) -> bool {
    let mut events = evidence.run.history.events.iter().rev();
    let last = events.find_map(|event| match event.what {
        EventKind::Finished { by: who } | EventKind::Crashed { by: who } if who == by => Some(true),
        EventKind::Restarted { by: who } if who == by => Some(false),
        _ => None,
    });
    last.unwrap_or(false)
}

/// Undecided, if too little is left of the service for any contender to get the lock.
fn no_service_left(evidence: &Evidence<'_>) -> Option<Verdict> {
    let gone = evidence.run.for_good.service.as_ref()?;
    Some(Verdict::Undecided(gone.why.clone()))
}

/// Follows each wait to the contender for which it waits, from the first wait on, until that contender does not wait or
/// has come up before: there the queue is stuck.
fn stuck(evidence: &Evidence<'_>, ended: usize) -> Verdict {
    let waits: Vec<Wait> = evidence
        .waiting
        .iter()
        .filter_map(|&event| Wait::read(evidence, event))
        .filter(|wait| evidence.run.for_good.stranded(wait.by).is_none())
        .collect();
    let Some(&first) = waits.first() else {
        return between_calls::verdict(evidence, ended);
    };
    if let Some(verdict) = permit_deadlock::verdict(evidence, &waits, ended) {
        return verdict;
    }
    let mut path = vec![first];
    let circle = loop {
        let Some(next) = circular_wait::next(evidence, &waits, &path[path.len() - 1]) else {
            break None;
        };
        if let Some(start) = path.iter().position(|wait| wait.event == next.event) {
            break Some(start);
        }
        path.push(next);
    };
    let stuck = match circle {
        Some(start) => &path[start..],
        None => &path[path.len() - 1..],
    };
    if let Some(why) = held_up(evidence, stuck) {
        return Verdict::Undecided(why);
    }
    let mut case = WitnessBuilder::new(evidence);
    let circle = circular_wait::explain(&mut case, evidence, stuck);
    let summary = circle.unwrap_or_else(|| {
        let each = stuck.iter();
        each.for_each(|wait| explain(&mut case, evidence, wait));
        summary(&case, evidence, stuck)
    });
    case.show(path.iter().map(|wait| wait.event));
    case.however(format!(
        "{} of {} still waited when the run ended at {}.",
        waits.len(),
        evidence.run.history.contenders.len(),
        evidence.at(ended)
    ));
    case.broken(summary, ended, None)
}

/// Why no lock could make progress, if so: a stranded contender owns the lock, and the service still hears from
/// it. What the dead have left behind ought to go, but for a barrier: that stands until it is removed.
fn held_up(evidence: &Evidence<'_>, stuck: &[Wait]) -> Option<String> {
    let owners = stuck.iter().filter_map(|wait| wait.owner);
    let mut stranded = owners.filter_map(|owner| evidence.run.for_good.stranded(owner));
    let stands = evidence.run.facts.rendezvous == Some(Rendezvous::Barrier);
    let stranded = stranded.find(|stranded| stranded.is_heard || stands)?;
    Some(format!("{}, and all others wait for it", stranded.why))
}

fn summary(case: &WitnessBuilder<'_>, evidence: &Evidence<'_>, stuck: &[Wait]) -> String {
    let node = |wait: &Wait| wait.behind.map(|name| evidence.run.history.name(name));
    let wait = &stuck[0];
    let who = case.name(wait.by);
    if stuck.len() > 1 {
        let each = stuck.iter().map(|wait| {
            let owner = wait.owner.map_or("another", |owner| case.name(owner));
            let name = case.name(wait.by);
            match node(wait) {
                Some(node) => format!("{name} behind {node} of {owner}"),
                None => format!("{name} for {owner}"),
            }
        });
        let each: Vec<_> = each.collect();
        return format!("they wait for each other: {}", listed(&each));
    }
    let never = evidence.words().never_got_it();
    match (node(wait), wait.owner) {
        (Some(node), Some(owner)) if owner == wait.by => {
            if let Some(owned) = evidence.owned_by_place(owner, wait.lock, wait.behind) {
                let since = evidence.at(owned.owned);
                return format!("{who} owns the lock since {since} and waits: it does not know");
            }
            let believed = evidence.believes_at_end(owner, wait.lock);
            let but = if believed {
                ""
            } else {
                " and no contender believes in"
            };
            format!("{who} waits behind {node}, which {who} made itself{but}")
        }
        (Some(node), Some(owner)) => {
            let owner = case.name(owner);
            format!("{who} {never}: {node} of {owner} blocks it")
        }
        (Some(node), None) => format!("{who} {never}: {node} blocks it"),
        (None, Some(owner)) if owner == wait.by => {
            format!("{who} {never}, although it owns it")
        }
        (None, Some(owner)) => {
            let owner = case.name(owner);
            format!("{who} {never}: {owner} owns it")
        }
        (None, None) if !has_queue(evidence) => {
            format!("{who} {never}, although no contender owns it")
        }
        (None, None) => format!("{who} {never}, although nothing is ahead of it"),
    }
}

/// What is known of one that waits and of the one that it waits for.
fn explain(case: &mut WitnessBuilder<'_>, evidence: &Evidence<'_>, wait: &Wait) {
    let words = evidence.words();
    let held_it = words.held_it();
    let mut pending = evidence.pending.iter();
    let call = pending.find(|(by, lock, _)| (*by, *lock) == (wait.by, wait.lock));
    if let Some(&(_, _, asked)) = call {
        case.show([asked]);
        let (who, at) = (case.name(wait.by), evidence.at(asked));
        case.then(format!("{who} {} since {at}.", words.wants_it()));
    }
    let Some(owner) = wait.owner else {
        return;
    };
    // Where what it waits for came from, and whether its owner still stands behind that.
    let name = case.name(owner);
    if let Some(node) = wait.behind
        && let Some(made) = evidence.where_made(wait.lock, node, Some(owner))
    {
        case.show([made]);
        let (node, at) = (evidence.run.history.name(node), evidence.at(made));
        case.then(match has_queue(evidence) {
            true => format!("{node} of {name} is there since {at} at the latest."),
            false => format!("The service has {name} as the owner by {node} since {at}."),
        });
    }
    let owned = evidence.owned_by_place(owner, wait.lock, wait.behind);
    if let Some(owned) = owned.filter(|_| owner == wait.by) {
        case.show_ownership(owned);
    }
    let mut beliefs = evidence.beliefs.iter().rev();
    let held = beliefs.find(|belief| belief.by == owner && belief.lock == wait.lock);
    match held {
        None => case.then(format!("{name} never believed that it {held_it}.")),
        Some(belief) => {
            case.show([belief.acquired]).show(belief.left);
            match belief.left {
                Some(left) => {
                    let left = evidence.at(left);
                    case.then(format!(
                        "{name} last believed that it {held_it} until {left}."
                    ))
                }
                None => case.then(format!("{name} still believes that it holds the lock.")),
            }
        }
    };
    let mut events = evidence.run.history.events.iter();
    case.show(events.rposition(
        |event| matches!(event.what, EventKind::Crashed { by } | EventKind::Finished { by } if by == owner),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stranded, Unavailable, VirtualTime, notation};

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
    fn a_run_that_came_to_its_end_has_made_progress() {
        assert_eq!(verdict("a:0-10 b.acquire:5 b:10-20 end:20"), Verdict::Holds);
    }

    #[test]
    fn who_waits_behind_its_own_orphan_is_told_so() {
        let text = "a.acquire:0 a.queued:1/name=x a.queued:4/name=y \
                    bound-reached:90 a.waiting:90/behind=x/owner=a";
        let expected = "a waits behind x, which a made itself and no contender believes in";
        assert_eq!(summary(text), expected);
    }

    #[test]
    fn of_a_queue_only_the_head_is_named() {
        let text = "bound-reached:90 c.waiting:90/behind=y/owner=b b.waiting:90/behind=x/owner=a";
        assert_eq!(summary(text), "b never got the lock: x of a blocks it");
    }

    #[test]
    fn a_circle_is_named_whole_and_without_those_who_only_wait_for_it() {
        let text = "bound-reached:90 c.waiting:90/behind=y/owner=b \
                    b.waiting:90/behind=x/owner=a a.waiting:90/behind=y/owner=b";
        let expected = "they wait for each other: b behind x of a, a behind y of b";
        assert_eq!(summary(text), expected);
    }

    #[test]
    fn a_lost_wake_up_is_called_what_it_is() {
        let text = "b.acquire:0 bound-reached:90 b.waiting:90";
        let expected = "b never got the lock, although no contender owns it";
        assert_eq!(summary(text), expected);
        let queue = "a.acquire:0 a.queued:1/name=x a.cancelled:2 b.acquire:3 b.queued:4/name=y \
                     bound-reached:90 b.waiting:90";
        let expected = "b never got the lock, although nothing is ahead of it";
        assert_eq!(summary(queue), expected);
    }

    #[test]
    fn who_owns_the_lock_of_a_service_without_a_queue_is_named() {
        let text = "a=1-/name=key b.acquire:2 bound-reached:90 b.waiting:90";
        assert_eq!(summary(text), "b never got the lock: key of a blocks it");
        let own = "b.acquire:0 b=1-/name=key bound-reached:90 b.waiting:90";
        let expected = "b waits behind key, which b made itself and no contender believes in";
        assert_eq!(summary(own), expected);
        let over = "a=1-3/name=key b.acquire:2 bound-reached:90 b.waiting:90";
        assert_eq!(
            summary(over),
            "b never got the lock, although no contender owns it"
        );
    }

    #[test]
    fn who_waits_at_the_end_is_looked_at_however_the_run_ended() {
        let expected = "b never got the lock, although no contender owns it";
        assert_eq!(summary("b.acquire:0 end:90 b.waiting:90"), expected);
    }

    #[test]
    fn the_bound_alone_is_a_violation() {
        let text = "b.acquire:0 bound-reached:90";
        assert_eq!(summary(text), "b never got the lock");
    }

    #[test]
    fn a_service_that_is_gone_for_good_owes_no_lock() {
        let why = "the only server is dead for good";
        let without_service = |text: &str| {
            let mut run = notation::run(text);
            run.for_good.service = Some(Unavailable {
                since: VirtualTime::from_micros(7_000_000),
                why: why.to_owned(),
            });
            INVARIANT.verdict(&run)
        };
        for text in [
            "b.acquire:0 bound-reached:90 b.waiting:90",
            "a:0- bound-reached:90",
        ] {
            let undecided = Verdict::Undecided(why.to_owned());
            assert_eq!(without_service(text), undecided, "{text}");
        }
        // A contender that got the lock has made progress, whatever comes later.
        assert_eq!(without_service("a:0-5 end:20"), Verdict::Holds);
    }

    /// With contender b stranded for good.
    fn without_b(text: &str, is_heard: bool) -> Verdict {
        let mut run = notation::run(text);
        run.for_good.contenders = vec![Stranded {
            by: ContenderId(1),
            why: "b is cut off for good".to_owned(),
            is_heard,
        }];
        INVARIANT.verdict(&run)
    }

    #[test]
    fn who_is_stranded_for_good_owes_no_progress_and_all_others_do() {
        let all_others = "a:0-10 b.acquire:5 a.finished:11 bound-reached:90 b.waiting:90";
        assert_eq!(without_b(all_others, false), Verdict::Holds);
        let another = "a.acquire:0 b.acquire:5 bound-reached:90 a.waiting:90 b.waiting:90";
        assert!(without_b(another, false).witness().is_some());
        let unfinished = "a:0- b.acquire:5 bound-reached:90 b.waiting:90";
        assert!(without_b(unfinished, false).witness().is_some());
    }

    #[test]
    fn what_one_holds_that_is_stranded_and_still_heard_no_lock_can_free() {
        let text = "a.acquire:0 b.acquire:1 bound-reached:90 a.waiting:90/behind=x/owner=b";
        let why = "b is cut off for good, and all others wait for it";
        assert_eq!(without_b(text, true), Verdict::Undecided(why.to_owned()));
        assert!(without_b(text, false).witness().is_some());
    }

    #[test]
    fn a_run_out_of_its_budget_cannot_tell() {
        let text = "out-of-budget:90 b.waiting:90";
        assert!(matches!(verdict(text), Verdict::Undecided(_)));
    }
}
