//! Bounded bypass: no waiter is overtaken more often than so many times.

use std::collections::BTreeMap;

use crate::witness::WitnessBuilder;
use crate::{
    ContenderId, EventKind, Evidence, Invariant, LockId, Mode, NameId, Truth, Verdict, VirtualTime,
};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "bounded-bypass",
    truth: Truth::Service,
    meaning: "A request that waits is overtaken no more often than `bypass-bound` says: by grants to requests that \
              came later, and that cannot share the lock with it.",
    check,
    inexcusable: None,
};

/// A request that waits. Where the service keeps a queue, it is a place there: whatever has not arrived waits for
/// nothing. Where it keeps none, only the contender knows that it waits, and the request is its call.
struct Request {
    by: ContenderId,
    mode: Mode,
    /// Which of two came first: the place, or else when the call began.
    came: u64,
    /// The event by which it came, and its node if it has one.
    began: usize,
    node: Option<NameId>,
    overtaken_by: Vec<Grant>,
}

#[derive(Clone, Copy)]
struct Grant {
    owned: usize,
    by: ContenderId,
    /// The mode that was asked for.
    mode: Mode,
}

/// The waiters for one lock, and whether the service has them in a queue.
#[derive(Default)]
struct Waiting {
    in_queue: bool,
    requests: Vec<Request>,
}

/// Few files give a bound. So the history is read once more here, and nothing is kept for this in any other run.
fn check(evidence: &Evidence<'_>) -> Verdict {
    let Some(bound) = evidence.run.facts.bypass_bound else {
        return Verdict::Undecided("no bound is given: `bypass-bound`".to_owned());
    };
    if evidence.ownerships.is_empty() {
        return Verdict::Undecided("the service never made a contender the owner".to_owned());
    }
    let mut locks = Locks::of_evidence(evidence);
    for index in 0..evidence.run.history.events.len() {
        if let Some(request) = locks.step(evidence, index, bound) {
            return bypassed(evidence, &request, bound);
        }
    }
    match evidence.waited {
        true => Verdict::Holds,
        false => Verdict::Undecided("no contender ever waited for the lock".to_owned()),
    }
}

/// The waiters, by lock.
struct Locks(BTreeMap<LockId, Waiting>);

impl Locks {
    fn of_evidence(evidence: &Evidence<'_>) -> Self {
        let mut locks = Self(BTreeMap::new());
        for &index in &evidence.queueing {
            if let EventKind::Queued { lock, .. } = evidence.event(index).what {
                locks.of(lock).in_queue = true;
            }
        }
        locks
    }

    fn of(&mut self, lock: LockId) -> &mut Waiting {
        self.0.entry(lock).or_default()
    }

    /// Applies an event to the waiters: gives back a request that it overtakes once too often.
    fn step(&mut self, evidence: &Evidence<'_>, index: usize, bound: u32) -> Option<Request> {
        let event = evidence.event(index);
        match event.what {
            EventKind::AcquireStarted { by, lock, mode } => {
                self.of(lock).calls(index, event.at, by, mode);
            }
            EventKind::Acquired { by, lock, .. }
            | EventKind::AcquireFailed { by, lock, .. }
            | EventKind::Cancelled { by, lock } => self.of(lock).call_ends(by),
            EventKind::Crashed { by } => {
                self.0.values_mut().for_each(|lock| lock.call_ends(by));
            }
            // A holder that wants another mode holds the lock already.
            EventKind::Queued { by, lock, .. }
                if evidence.conversion_under_way(index, by, lock).is_some() => {}
            EventKind::Queued {
                by,
                lock,
                place,
                name,
                mode,
            } => self.of(lock).requests.push(Request {
                by,
                mode,
                came: place,
                began: index,
                node: Some(name),
                overtaken_by: Vec::new(),
            }),
            EventKind::Unqueued {
                by, lock, place, ..
            } => self.of(lock).gives_up(by, place),
            EventKind::Owned { by, lock, name, .. } => {
                let goes = |request: &Request| gives_up_now(evidence, request, index);
                return self.of(lock).granted((index, by, name), bound, goes);
            }
            _ => {}
        }
        None
    }
}

impl Waiting {
    /// A contender calls `acquire`. It has one call at a time.
    fn calls(&mut self, began: usize, at: VirtualTime, by: ContenderId, mode: Mode) {
        if !self.in_queue && self.requests.iter().all(|request| request.by != by) {
            self.requests.push(Request {
                by,
                mode,
                came: at.micros(),
                began,
                node: None,
                overtaken_by: Vec::new(),
            });
        }
    }

    fn call_ends(&mut self, by: ContenderId) {
        if !self.in_queue {
            self.requests.retain(|request| request.by != by);
        }
    }

    fn gives_up(&mut self, by: ContenderId, place: u64) {
        self.requests
            .retain(|request| (request.by, request.came) != (by, place));
    }

    /// The lock is granted to the request of this node, or else to the first one of its contender. That waits no more,
    /// and has overtaken those that came before it, unless they go by themselves.
    fn granted(
        &mut self,
        (owned, by, node): (usize, ContenderId, NameId),
        bound: u32,
        goes: impl Fn(&Request) -> bool,
    ) -> Option<Request> {
        let first = |named: bool| {
            let all = self.requests.iter().enumerate();
            let own = all
                .filter(|(_, request)| request.by == by && (!named || request.node == Some(node)));
            let first = own.min_by_key(|(_, request)| request.came);
            first.map(|(at, _)| at)
        };
        let at = first(true).or_else(|| first(false))?;
        let served = self.requests.remove(at);
        let mode = served.mode;
        let mut too_often = None;
        for (at, request) in self.requests.iter_mut().enumerate() {
            let overtakes =
                request.came < served.came && request.by != by && request.mode.excludes(mode);
            if overtakes && !goes(request) {
                request.overtaken_by.push(Grant { owned, by, mode });
                if request.overtaken_by.len() > bound as usize {
                    too_often.get_or_insert(at);
                }
            }
        }
        too_often.map(|at| self.requests.remove(at))
    }
}

/// Whether a request is given up at the very moment of a grant: then it may have made way for it, whichever of the two
/// was written down first.
fn gives_up_now(evidence: &Evidence<'_>, request: &Request, owned: usize) -> bool {
    let at = evidence.at(owned);
    let EventKind::Queued {
        by, lock, place, ..
    } = evidence.event(request.began).what
    else {
        return false;
    };
    let later = &evidence.run.history.events[owned..];
    let mut same_time = later.iter().take_while(|event| event.at == at);
    same_time.any(|event| {
        matches!(event.what, EventKind::Unqueued { by: other, lock: of, place: left, .. }
            if (other, of, left) == (by, lock, place))
    })
}

fn bypassed(evidence: &Evidence<'_>, request: &Request, bound: u32) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let Some(last) = request.overtaken_by.last() else {
        unreachable!("a request that is overtaken too often is overtaken");
    };
    let modes: Vec<Mode> = request
        .overtaken_by
        .iter()
        .map(|grant| grant.mode)
        .collect();
    let mut others: Vec<ContenderId> = request.overtaken_by.iter().map(|grant| grant.by).collect();
    others.sort_unstable();
    others.dedup();
    let (who, by) = (case.name(request.by), case.names(others.iter().copied()));
    let (waits, they) = match (request.mode, modes.iter().all(|mode| !mode.is_exclusive())) {
        (Mode::Shared, _) => (" to read", "to write "),
        (Mode::Exclusive, true) => (" to write", "to read "),
        (Mode::Exclusive, false) => ("", ""),
    };
    let times = match request.overtaken_by.len() {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    };
    let since = evidence.at(request.began);
    let from = match request.node {
        Some(node) => {
            let node = evidence.run.history.name(node);
            format!("{who} waits{waits} since {since}, by {node}")
        }
        None => format!("{who} waits{waits} since {since}, when it called `acquire`"),
    };
    let until = evidence.at(last.owned);
    let owners = request.overtaken_by.iter().map(|grant| grant.owned);
    case.show([request.began])
        .show(owners)
        .then(format!("{from}."))
        .however(format!(
            "up to {until} the service made {by} the owner {times} {they}for requests that came later, and \
             the bound is {bound}."
        ))
        .broken(
            format!("{by} overtook {who} {times} while it waited{waits}"),
            last.owned,
            None,
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(bound: u32, text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.bypass_bound = Some(bound);
        INVARIANT.verdict(&run)
    }

    fn summary(bound: u32, text: &str) -> String {
        let verdict = verdict(bound, text);
        verdict.witness().expect("a violation").summary.clone()
    }

    /// `b` calls before `c`, and `c` has the lock twice meanwhile.
    const TWICE: &str = "a.acquire:0 a=0-2 a:0-2 b.acquire:1 c.acquire:1.5 c=2-3 c:2-3 c.acquire:3 \
                         c=4-5 c:4-5 b=6-7 b:6-7";

    #[test]
    fn as_often_as_the_bound_says_is_fine_and_once_more_is_not() {
        assert_eq!(verdict(2, TWICE), Verdict::Holds);
        assert_eq!(summary(1, TWICE), "c overtook b twice while it waited");
        assert_eq!(summary(0, TWICE), "c overtook b once while it waited");
    }

    #[test]
    fn without_a_bound_nothing_is_said() {
        assert!(matches!(
            INVARIANT.verdict(&notation::run(TWICE)),
            Verdict::Undecided(_)
        ));
    }

    #[test]
    fn an_earlier_caller_does_not_overtake() {
        let text = "a.acquire:0 a=0-2 a:0-2 c.acquire:1 b.acquire:1.5 c=2-3 c:2-3 b=4-5 b:4-5";
        assert_eq!(verdict(0, text), Verdict::Holds);
        let at_once = "a.acquire:0 a=0-2 a:0-2 b.acquire:1 c.acquire:1 c=2-3 c:2-3 b=4-5 b:4-5";
        assert_eq!(verdict(0, at_once), Verdict::Holds);
    }

    #[test]
    fn each_call_is_a_wait_of_its_own() {
        let text = "a.acquire:0 a=0-2 a:0-2 b.acquire:1 c.acquire:1.5 c=2-3 c:2-3 b.failed:3.5 \
                    b.acquire:3.6 c.acquire:3.7 c=4-5 c:4-5 b=6-7 b:6-7";
        assert_eq!(verdict(1, text), Verdict::Holds);
        assert!(verdict(0, text).witness().is_some());
    }

    #[test]
    fn who_has_died_waits_no_more() {
        let text = "a.acquire:0 a=0-2 a:0-2 b.acquire:1 b.crashed:1.2 c.acquire:1.5 c=2-3 c:2-3";
        assert_eq!(verdict(0, text), Verdict::Holds);
    }

    #[test]
    fn where_there_is_a_queue_places_count_and_not_calls() {
        let text = "a.acquire:0 a.queued:0 a=0-2 b.acquire:0.5 c.acquire:0.6 c.queued:1 b.queued:1.5 \
                    a.unqueued:2 c=2-3 c.unqueued:3 b=3-4";
        assert_eq!(verdict(0, text), Verdict::Holds);
        let text = "a.queued:0 a=0-2 b.queued:1 c.queued:1.5 a.unqueued:2 c=2-3 c.unqueued:3 b=3-4";
        assert_eq!(summary(0, text), "c overtook b once while it waited");
    }

    #[test]
    fn a_place_that_goes_at_the_moment_of_the_grant_makes_way() {
        let mut run = notation::run(
            "c.queued:0 c=0-1 c.unqueued:1 a.queued:0.5 b.queued:0.6 a.unqueued:1 b=1-9",
        );
        let last = run.history.events.len();
        run.history.events.swap(last - 2, last - 3);
        run.facts.bypass_bound = Some(0);
        assert!(INVARIANT.verdict(&run).witness().is_none());
    }

    #[test]
    fn readers_that_come_later_starve_a_writer_and_no_reader() {
        let text = "a.queued:0/shared a=0-4/shared w.acquire:1 w.queued:1 r.queued:1.2/shared b.queued:1.5/shared \
                    b=1.5-5/shared r=4-5/shared w=6-7";
        assert_eq!(
            summary(1, text),
            "r and b overtook w twice while it waited to write"
        );
        assert_eq!(verdict(2, text), Verdict::Holds);
    }

    #[test]
    fn writers_that_come_later_starve_a_reader() {
        let text =
            "a.queued:0 a=0-1 r.queued:0.5/shared w.queued:0.6 a.unqueued:1 w=1-2 r=2-3/shared";
        assert_eq!(
            summary(0, text),
            "w overtook r once while it waited to read"
        );
    }

    #[test]
    fn without_a_waiter_nothing_is_said() {
        let text = "a.acquire:0 a=0-1 a:0-1 b.acquire:1 b=2-3 b:2-3";
        assert!(matches!(verdict(0, text), Verdict::Undecided(_)));
    }
}
