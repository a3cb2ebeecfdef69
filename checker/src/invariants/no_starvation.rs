//! No starvation: a contender that keeps asking for the lock is let in.
//!
//! `bounded-bypass` judges one request, and a contender that gives up and asks again makes another. Here all calls
//! count from the first one that a contender has made in vain until it is let in: what a lock does to one that asks by
//! `tryLock`, or for a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::witness::WitnessBuilder;
use crate::{ContenderId, EventKind, Evidence, Invariant, LockId, Mode, Truth, Verdict};

/// The registry row.
pub const INVARIANT: Invariant = Invariant {
    name: "no-starvation",
    truth: Truth::Service,
    meaning: "A contender that asks for the lock, again and again if it is refused, is let in before others that \
              exclude it have been let in more often than `starvation-bound` says.",
    check,
    inexcusable: None,
};

/// What a contender asks for.
struct Want {
    /// The mode of its latest call.
    mode: Mode,
    /// The first of its calls, or what has kept it from asking.
    since: usize,
    /// Where others were let in meanwhile that exclude it.
    entries: Vec<usize>,
}

/// The contenders that ask, and those that cannot: they stand still, or have no connection.
#[derive(Default)]
struct Wants {
    all: BTreeMap<(ContenderId, LockId), Want>,
    paused: BTreeSet<ContenderId>,
    disconnected: BTreeSet<ContenderId>,
}

fn check(evidence: &Evidence<'_>) -> Verdict {
    let undecided = |why: &str| Verdict::Undecided(why.to_owned());
    let Some(bound) = evidence.run.facts.starvation_bound else {
        return undecided("no bound is given: `starvation-bound`");
    };
    if evidence.beliefs.is_empty() {
        return undecided("no contender ever got the lock");
    }
    let mut wants = Wants::default();
    for (index, event) in evidence.run.history.events.iter().enumerate() {
        if let Some((by, want)) = wants.step(index, event.what, bound) {
            return starved(evidence, by, &want, bound);
        }
    }
    match evidence.waited {
        true => Verdict::Holds,
        false => undecided("no contender ever waited for the lock"),
    }
}

impl Wants {
    /// What an event makes of those that ask: gives back one that has seen others let in once too often.
    fn step(&mut self, index: usize, what: EventKind, bound: u32) -> Option<(ContenderId, Want)> {
        match what {
            EventKind::AcquireStarted { by, lock, mode } => {
                let want = self.all.entry((by, lock)).or_insert(Want {
                    mode,
                    since: index,
                    entries: Vec::new(),
                });
                want.mode = mode;
            }
            EventKind::Cancelled { by, lock } => {
                self.all.remove(&(by, lock));
            }
            EventKind::Finished { by } | EventKind::Crashed { by } => {
                self.all.retain(|(of, _), _| *of != by);
                self.paused.remove(&by);
                self.disconnected.remove(&by);
            }
            EventKind::Paused { by } => {
                self.paused.insert(by);
                self.begin_again(index, by);
            }
            EventKind::Resumed { by } => {
                self.paused.remove(&by);
                self.begin_again(index, by);
            }
            EventKind::Disconnected { by } => {
                self.disconnected.insert(by);
                self.begin_again(index, by);
            }
            EventKind::Reconnected { by } | EventKind::SessionLost { by } => {
                self.disconnected.remove(&by);
                self.begin_again(index, by);
            }
            EventKind::SessionExpired { by } => self.begin_again(index, by),
            EventKind::Acquired { by, lock, mode, .. } => {
                self.all.remove(&(by, lock));
                return self.let_in(index, (lock, mode), bound);
            }
            _ => {}
        }
        None
    }

    /// A contender was kept from asking, or can ask again: what was before does not count.
    fn begin_again(&mut self, index: usize, by: ContenderId) {
        for ((of, _), want) in &mut self.all {
            if *of == by {
                want.since = index;
                want.entries.clear();
            }
        }
    }

    /// Another contender has been let in.
    fn let_in(
        &mut self,
        index: usize,
        (lock, mode): (LockId, Mode),
        bound: u32,
    ) -> Option<(ContenderId, Want)> {
        for ((by, of), want) in &mut self.all {
            let can_ask = !self.paused.contains(by) && !self.disconnected.contains(by);
            if *of == lock && want.mode.excludes(mode) && can_ask {
                want.entries.push(index);
            }
        }
        let mut all = self.all.iter();
        let (starved, _) = all.find(|(_, want)| want.entries.len() > bound as usize)?;
        let starved = *starved;
        Some((starved.0, self.all.remove(&starved)?))
    }
}

fn starved(evidence: &Evidence<'_>, by: ContenderId, want: &Want, bound: u32) -> Verdict {
    let mut case = WitnessBuilder::new(evidence);
    let entered = want.entries.iter().map(|&entry| evidence.event(entry).what);
    let others: BTreeSet<ContenderId> = entered.filter_map(|what| what.by()).collect();
    let (who, others) = (case.name(by), case.names(others.into_iter()));
    let times = match want.entries.len() {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    };
    let last = want.entries.last().copied().unwrap_or(want.since);
    let asks = match want.mode {
        Mode::Exclusive => "asks for the lock",
        Mode::Shared => "asks to read",
    };
    case.show([want.since])
        .show(want.entries.iter().copied())
        .then(format!("{who} {asks} since {}.", evidence.at(want.since)))
        .however(format!(
            "up to {} the lock let in {others} {times}, and the bound is {bound}.",
            evidence.at(last)
        ))
        .broken(
            format!("the lock let in {others} {times} while {who} asked in vain"),
            last,
            None,
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    fn verdict(bound: u32, text: &str) -> Verdict {
        let mut run = notation::run(text);
        run.facts.starvation_bound = Some(bound);
        INVARIANT.verdict(&run)
    }

    fn summary(bound: u32, text: &str) -> String {
        let verdict = verdict(bound, text);
        verdict.witness().expect("a violation").summary.clone()
    }

    /// `b` asks, is refused, and asks again, and is let in after `a` and `c`.
    const REFUSED: &str = "a.acquire:0 a:0-1 b.acquire:0.5 b.failed:0.6 c.acquire:1 c:1-2 b.acquire:1.5 b.failed:1.6 \
                           a.acquire:2 a:2-3 b.acquire:3 b:3-4";

    #[test]
    fn a_contender_that_is_refused_and_asks_again_goes_on_asking() {
        assert_eq!(verdict(2, REFUSED), Verdict::Holds);
        let expected = "the lock let in a and c twice while b asked in vain";
        assert_eq!(summary(1, REFUSED), expected);
    }

    #[test]
    fn without_a_bound_or_a_waiter_nothing_is_said() {
        let undecided = |verdict| matches!(verdict, Verdict::Undecided(_));
        assert!(undecided(INVARIANT.verdict(&notation::run(REFUSED))));
        assert!(undecided(verdict(0, "a.acquire:0 a:0-1 b.acquire:2 b:2-3")));
        assert!(undecided(verdict(0, "a.acquire:0")));
    }

    #[test]
    fn readers_that_are_let_in_starve_a_writer_and_no_reader() {
        let readers = "a.acquire:0/shared a:0-4/shared c.acquire:2/shared c:2-5/shared";
        let reads = format!("{readers} b.acquire:1/shared b:5-6/shared w.acquire:5.5 w:7-8");
        assert_eq!(verdict(0, &reads), Verdict::Holds);
        let writes = format!("{readers} b.acquire:1 b:5-6");
        let expected = "the lock let in c once while b asked in vain";
        assert_eq!(summary(0, &writes), expected);
    }

    #[test]
    fn who_cannot_ask_is_starved_by_no_lock() {
        let text = "a.acquire:0 a:0-1 b.acquire:0.5 b.paused:0.6 c.acquire:1 c:1-2 b.resumed:2.5 a.acquire:2 a:2-3";
        assert_eq!(verdict(0, text), Verdict::Holds);
        let cut = text
            .replace("paused", "disconnected")
            .replace("resumed", "reconnected");
        assert_eq!(verdict(0, &cut), Verdict::Holds);
        let before = text.replace("b.resumed:2.5", "b.resumed:1.5");
        assert!(verdict(0, &before).witness().is_some());
    }

    #[test]
    fn who_has_died_or_was_cancelled_asks_no_more() {
        for end in ["b.crashed:0.6", "b.cancelled:0.6"] {
            let text = format!("a.acquire:0 a:0-1 b.acquire:0.5 {end} c.acquire:1 c:1-2");
            assert_eq!(verdict(0, &text), Verdict::Holds, "{end}");
        }
    }
}
