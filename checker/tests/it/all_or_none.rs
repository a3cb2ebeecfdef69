//! The promise of multi-locks against brute force: every call compared with what its caller owned at every event.

use picklock_checker::{
    ContenderId, Counts, Disowned, Event, EventKind, Facts, Failure, ForGood, History, LockId,
    Mode, NameId, Run, Token, Verdict, VirtualTime, invariants,
};
use proptest::prelude::*;

const LOCKS: [LockId; 2] = [LockId(0), LockId(1)];

const WHO: ContenderId = ContenderId(0);

/// What happens next to the one contender that calls.
#[derive(Clone, Copy, Debug)]
enum Step {
    Asks,
    GetsAll,
    Fails,
    Owns(LockId),
    /// Its session ends.
    Loses(LockId),
    GivesBack(LockId),
}

fn step() -> impl Strategy<Value = Step> {
    let lock = || prop::sample::select(&LOCKS[..]);
    prop_oneof![
        2 => Just(Step::Asks),
        2 => Just(Step::GetsAll),
        1 => Just(Step::Fails),
        4 => lock().prop_map(Step::Owns),
        1 => lock().prop_map(Step::Loses),
        2 => lock().prop_map(Step::GivesBack),
    ]
}

fn acquired(lock: LockId) -> EventKind {
    EventKind::Acquired {
        by: WHO,
        lock,
        token: None,
        mode: Mode::Exclusive,
    }
}

fn failed(lock: LockId) -> EventKind {
    EventKind::AcquireFailed {
        by: WHO,
        lock,
        why: Failure::TimedOut,
        definite: true,
    }
}

/// A history of these steps, those that make no sense left out.
fn history(steps: &[Step]) -> Vec<Event> {
    let mut events = Vec::new();
    let (mut asks, mut owned, mut grants) = (false, [None; 2], 0);
    for (second, step) in steps.iter().enumerate() {
        let at = VirtualTime::from_micros(second as u64 * 1_000_000);
        let mut push = |what| events.push(Event { at, what });
        let (by, mode) = (WHO, Mode::Exclusive);
        match *step {
            Step::Asks if !asks => {
                for lock in LOCKS {
                    push(EventKind::AcquireStarted { by, lock, mode });
                }
                asks = true;
            }
            Step::GetsAll if asks => {
                LOCKS.into_iter().for_each(|lock| push(acquired(lock)));
                for lock in LOCKS {
                    push(EventKind::ReleaseStarted { by, lock });
                }
                asks = false;
            }
            Step::Fails if asks => {
                LOCKS.into_iter().for_each(|lock| push(failed(lock)));
                asks = false;
            }
            Step::Owns(lock) if owned[lock.0 as usize].is_none() => {
                grants += 1;
                let (token, name) = (Token(grants), NameId(grants as u32 - 1));
                owned[lock.0 as usize] = Some(token);
                push(EventKind::Owned {
                    by,
                    lock,
                    token,
                    name,
                    mode,
                });
            }
            Step::Loses(lock) | Step::GivesBack(lock) => {
                let how = match step {
                    Step::Loses(_) => Disowned::Expired,
                    _ => Disowned::Released,
                };
                if let Some(token) = owned[lock.0 as usize].take() {
                    push(EventKind::Disowned {
                        by,
                        lock,
                        token,
                        how,
                    });
                }
            }
            _ => {}
        }
    }
    events
}

fn run(events: Vec<Event>) -> Run {
    let names = |prefix: &str, count: usize| {
        let names = (0..count).map(|number| format!("{prefix}{number}"));
        names.collect()
    };
    Run {
        history: History {
            contenders: names("c", 1),
            locks: names("l", 2),
            names: names("n", events.len()),
            events,
            ..History::default()
        },
        facts: Facts::default(),
        counts: Counts::default(),
        lease_resets: Vec::new(),
        late_extensions: Vec::new(),
        for_good: ForGood::default(),
        awaited: Vec::new(),
        permits_left: Vec::new(),
    }
}

/// Whether an event gives the contender a lock, or takes it.
fn owns_after(what: EventKind, lock: LockId) -> Option<bool> {
    match what {
        EventKind::Owned { lock: of, .. } if of == lock => Some(true),
        EventKind::Disowned { lock: of, .. } if of == lock => Some(false),
        _ => None,
    }
}

/// Whether the contender owns a lock right after this event.
fn owns(events: &[Event], lock: LockId, at: usize) -> bool {
    let mut before = events[..=at].iter().rev();
    let last = before.find_map(|event| owns_after(event.what, lock));
    last.unwrap_or(false)
}

/// Whether a call begins with this event.
fn asks(what: EventKind) -> bool {
    matches!(what, EventKind::AcquireStarted { lock, .. } if lock == LOCKS[0])
}

/// Whether a call has an answer with this event.
fn answers(what: EventKind) -> bool {
    what == acquired(LOCKS[0]) || what == failed(LOCKS[0])
}

/// Whether a call was told that it had all, and never had (if the service says of each lock who owns it); or that it
/// had none, and had one then or later, until the next call or to the end.
fn is_broken(events: &[Event]) -> bool {
    let first_from = |from: usize, test: fn(EventKind) -> bool| {
        (from..events.len()).find(|index| test(events[*index].what))
    };
    let calls = (0..events.len()).filter(|index| asks(events[*index].what));
    let mut answered = calls.filter_map(|asked| Some((asked, first_from(asked, answers)?)));
    answered.any(|(asked, end)| {
        if events[end].what == acquired(LOCKS[0]) {
            let both = |at| LOCKS.iter().all(|lock| owns(events, *lock, at));
            let is_said = |lock: &LockId| (0..events.len()).any(|at| owns(events, *lock, at));
            return LOCKS.iter().all(is_said) && !(asked + 1..end).any(both);
        }
        let next = first_from(end, asks).unwrap_or(events.len());
        LOCKS.iter().any(|lock| {
            let came = |index: &usize| owns_after(events[*index].what, *lock) == Some(true);
            let mut came = (asked..next).filter(came);
            came.any(|came| owns(events, *lock, came.max(end + 1)))
        })
    })
}

fn verdict(run: &Run) -> Verdict {
    let found = invariants::find("all-or-none");
    found.expect("it is an invariant").verdict(run)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn all_or_none_is_what_every_call_and_every_event_say(
        steps in prop::collection::vec(step(), 0..25),
    ) {
        let events = history(&steps);
        let broken = is_broken(&events);
        prop_assert_eq!(verdict(&run(events)).witness().is_some(), broken);
    }
}

/// A comparison in which one answer never comes up would prove little.
#[test]
fn the_random_calls_are_of_all_kinds() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut seen = [0; 3];
    for _ in 0..1_000 {
        let steps = prop::collection::vec(step(), 0..25);
        let steps = steps.new_tree(&mut runner).expect("a value").current();
        seen[match verdict(&run(history(&steps))) {
            Verdict::Holds => 0,
            Verdict::Violated(_) => 1,
            Verdict::Undecided(_) => 2,
        }] += 1;
    }
    assert!(seen.iter().all(|seen| *seen >= 50), "{seen:?}");
}
