//! The promise of barriers against brute force: every passage compared with every use of every other party.

use picklock_checker::{
    ContenderId, Counts, Event, EventKind, Facts, Failure, ForGood, History, LockId, Mode,
    Rendezvous, Run, Verdict, VirtualTime, invariants,
};
use proptest::prelude::*;

const PARTIES: u32 = 3;

/// One use of a barrier by a party, by the places of the events.
#[derive(Clone, Copy, Default)]
struct Use {
    came: usize,
    done: Option<usize>,
    over: Option<usize>,
}

/// All uses of a barrier by one party, and since when it is out of step.
#[derive(Default)]
struct Uses {
    all: Vec<Use>,
    out: Option<usize>,
}

fn uses(events: &[Event], who: u32, at: LockId) -> Uses {
    let who = ContenderId(who);
    let mut uses = Uses::default();
    for (index, event) in events.iter().enumerate() {
        let open = uses.all.last_mut().filter(|last| last.over.is_none());
        match event.what {
            EventKind::AcquireStarted { by, lock, .. } | EventKind::Acquired { by, lock, .. }
                if (by, lock) == (who, at) && open.is_none() =>
            {
                uses.all.push(Use {
                    came: index,
                    ..Use::default()
                });
            }
            EventKind::ReleaseStarted { by, lock } if (by, lock) == (who, at) => {
                if let Some(open) = open {
                    open.done = Some(index);
                }
            }
            EventKind::Released { by, lock } if (by, lock) == (who, at) => {
                if let Some(open) = open {
                    open.over = Some(index);
                }
            }
            EventKind::Cancelled { by, lock } if (by, lock) == (who, at) => {
                uses.out.get_or_insert(index);
                if let Some(open) = open {
                    open.over = Some(index);
                }
            }
            EventKind::Crashed { by } if by == who => {
                if let Some(open) = open {
                    open.over = Some(index);
                }
                if !uses.all.is_empty() {
                    uses.out.get_or_insert(index);
                }
            }
            EventKind::SessionExpired { by } if by == who && open.is_some() => {
                uses.out.get_or_insert(index);
            }
            _ => {}
        }
    }
    uses
}

/// When the first contender passes too early: `None` if none does.
fn early(events: &[Event]) -> Option<VirtualTime> {
    let in_step = |uses: &Uses, at: usize| uses.out.is_none_or(|out| out > at);
    let passes = |(index, event): (usize, &Event)| {
        let (by, lock, leaves) = match event.what {
            EventKind::Acquired { by, lock, .. } => (by, lock, false),
            EventKind::Released { by, lock } => (by, lock, true),
            _ => return None,
        };
        let until = &events[..=index];
        let ours = uses(until, by.0, lock);
        let of = |use_: &Use| match leaves {
            false => Some(use_.came),
            true => use_.done,
        };
        let times = |uses: &Uses| uses.all.iter().filter_map(of).count();
        let late = |other: u32| {
            let theirs = uses(until, other, lock);
            in_step(&theirs, index) && times(&theirs) < times(&ours)
        };
        (in_step(&ours, index) && (0..PARTIES).any(late)).then_some(event.at)
    };
    events.iter().enumerate().find_map(passes)
}

/// What a party can do next, as a contender of a run does it.
fn next(events: &[Event], by: u32, choice: u8, lock: LockId) -> Option<EventKind> {
    let by = ContenderId(by);
    let mine = events.iter().rev().find_map(|event| match event.what {
        EventKind::AcquireStarted { by: who, lock, .. } if who == by => Some((1, lock)),
        EventKind::AcquireFailed { by: who, lock, .. } if who == by => Some((2, lock)),
        EventKind::Acquired { by: who, lock, .. } if who == by => Some((3, lock)),
        EventKind::ReleaseStarted { by: who, lock } if who == by => Some((4, lock)),
        EventKind::Released { by: who, lock } | EventKind::Cancelled { by: who, lock }
            if who == by =>
        {
            Some((0, lock))
        }
        EventKind::Crashed { by: who } if who == by => Some((0, lock)),
        _ => None,
    });
    let (stage, at) = mine.unwrap_or((0, lock));
    let mode = Mode::Exclusive;
    Some(match (stage, choice) {
        (_, 0) => EventKind::Crashed { by },
        (_, 1) => EventKind::SessionExpired { by },
        (0, _) => EventKind::AcquireStarted { by, lock, mode },
        (1, 2) => EventKind::Cancelled { by, lock: at },
        (1, 3) => EventKind::AcquireFailed {
            by,
            lock: at,
            why: Failure::ConnectionLoss,
            definite: false,
        },
        (1, _) => EventKind::Acquired {
            by,
            lock: at,
            token: None,
            mode,
        },
        (2, _) => EventKind::AcquireStarted { by, lock: at, mode },
        (3, _) => EventKind::ReleaseStarted { by, lock: at },
        (4, _) => EventKind::Released { by, lock: at },
        _ => return None,
    })
}

fn run() -> impl Strategy<Value = Run> {
    // Most choices are to go on, so that many get far.
    let step = (0..PARTIES, 0..24_u8, 0..2_u32);
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let mut history = History {
            contenders: (0..PARTIES).map(|party| format!("party-{party}")).collect(),
            locks: vec!["x".to_owned(), "y".to_owned()],
            ..History::default()
        };
        for (index, (by, choice, lock)) in steps.into_iter().enumerate() {
            let at = VirtualTime::from_micros(index as u64);
            let lock = LockId(u32::from(lock == 0 && choice > 20));
            if let Some(what) = next(&history.events, by, choice, lock) {
                history.events.push(Event { at, what });
            }
        }
        Run {
            history,
            facts: Facts {
                rendezvous: Some(Rendezvous::DoubleBarrier { parties: PARTIES }),
                ..Facts::default()
            },
            counts: Counts::default(),
            lease_resets: Vec::new(),
            late_extensions: Vec::new(),
            for_good: ForGood::default(),
            awaited: Vec::new(),
            permits_left: Vec::new(),
        }
    })
}

fn verdict(run: &Run) -> Verdict {
    invariants::find("barrier")
        .expect("it is known")
        .verdict(run)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

    #[test]
    fn a_passage_is_early_if_any_use_of_any_party_says_so(run in run()) {
        let found = verdict(&run);
        prop_assert_eq!(found.witness().map(|witness| witness.at), early(&run.history.events));
        if let Some(witness) = found.witness() {
            prop_assert!(witness.events.is_sorted_by(|one, next| one < next));
            prop_assert!(!witness.argument.is_empty());
        }
    }
}

#[test]
fn random_runs_break_the_promise_both_ways_and_keep_it() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut kept, mut enters, mut leaves) = (0, 0, 0);
    for _ in 0..4_000 {
        let run = run().new_tree(&mut runner).unwrap().current();
        match verdict(&run) {
            Verdict::Holds => kept += 1,
            Verdict::Violated(witness) if witness.summary.contains("enters") => enters += 1,
            Verdict::Violated(_) => leaves += 1,
            Verdict::Undecided(_) => {}
        }
    }
    assert!(
        kept > 50 && enters > 50 && leaves > 50,
        "{kept} {enters} {leaves}"
    );
}
