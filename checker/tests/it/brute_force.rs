//! The checks against their definitions, said a second time as plainly as can be, on small random
//! histories: every pair, every event, no cleverness.

use crate::plain;

use picklock_checker::{
    ContenderId, ConversionStep, Counts, Disowned, Ended, EntryStep, Event, EventKind, Evidence,
    Facts, Failure, ForGood, History, Knowledge, LockId, Mode, NameId, Run, Token, Verdict,
    VirtualTime, invariants,
};
use plain::{Answer, Plain};
use proptest::prelude::*;

/// What can happen, with little to choose from, so that things meet: beliefs, the service, and
/// writes, each as often as its weight says.
fn what(
    [beliefs, service, writes, losses, queue, entries]: [u32; 6],
) -> impl Strategy<Value = EventKind> {
    let by = || (0..3u32).prop_map(ContenderId);
    let lock = || prop_oneof![4 => Just(LockId(0)), 1 => Just(LockId(1))];
    let token = || (0..3u64).prop_map(Token);
    let name = || (0..3u32).prop_map(NameId);
    let value = || -1..3i64;
    let maybe = || prop::option::of(token());
    let mode = || prop_oneof![2 => Just(Mode::Exclusive), 1 => Just(Mode::Shared)];
    let why = Failure::TimedOut;
    let of_beliefs = prop_oneof![
        2 => (by(), lock(), mode())
            .prop_map(|(by, lock, mode)| EventKind::AcquireStarted { by, lock, mode }),
        4 => (by(), lock(), maybe(), mode())
            .prop_map(|(by, lock, token, mode)| EventKind::Acquired { by, lock, token, mode }),
        1 => (by(), lock()).prop_map(|(by, lock)| EventKind::Cancelled { by, lock }),
        3 => (by(), lock()).prop_map(|(by, lock)| EventKind::ReleaseStarted { by, lock }),
        1 => (by(), lock()).prop_map(move |(by, lock)| EventKind::Lost { by, lock, why }),
        1 => by().prop_map(|by| EventKind::Crashed { by }),
    ];
    let how = Disowned::Expired;
    let of_the_service = prop_oneof![
        queue => place(),
        4 => (by(), lock(), token(), name(), mode())
            .prop_map(|(by, lock, token, name, mode)| {
                EventKind::Owned { by, lock, token, name, mode }
            }),
        3 => (by(), lock(), token())
            .prop_map(move |(by, lock, token)| EventKind::Disowned { by, lock, token, how }),
    ];
    let of_writes = prop_oneof![
        (by(), lock(), maybe()).prop_map(|(by, lock, token)| EventKind::Writing {
            by,
            lock,
            token
        }),
        (
            by(),
            lock(),
            maybe(),
            value(),
            value(),
            prop::option::of(value()),
            any::<bool>()
        )
            .prop_map(|(by, lock, token, before, after, based_on, accepted)| {
                EventKind::Effect {
                    by,
                    lock,
                    token,
                    before,
                    after,
                    based_on,
                    accepted,
                }
            }),
    ];
    prop_oneof![
        beliefs => of_beliefs,
        service => of_the_service,
        writes => of_writes,
        losses => loss(),
        entries => entry(),
    ]
}

/// A place in the queue is taken, or gone.
fn place() -> impl Strategy<Value = EventKind> {
    let by = || (0..3u32).prop_map(ContenderId);
    let lock = || prop_oneof![4 => Just(LockId(0)), 1 => Just(LockId(1))];
    let name = || (0..3u32).prop_map(NameId);
    let mode = prop_oneof![2 => Just(Mode::Exclusive), 1 => Just(Mode::Shared)];
    prop_oneof![
        2 => (by(), lock(), 0..9u64, name(), mode).prop_map(|(by, lock, place, name, mode)| {
            EventKind::Queued {
                by,
                lock,
                place,
                name,
                mode,
            }
        }),
        1 => (by(), lock(), 0..9u64, name())
            .prop_map(|(by, lock, place, name)| EventKind::Unqueued { by, lock, place, name }),
    ]
}

/// A contender enters again, or has left.
fn entry() -> impl Strategy<Value = EventKind> {
    let by = || prop_oneof![4 => Just(ContenderId(0)), 1 => Just(ContenderId(1))];
    let lock = LockId(0);
    let step = prop_oneof![
        Just(EntryStep::Asks),
        Just(EntryStep::Enters),
        Just(EntryStep::Leaves)
    ];
    prop_oneof![
        3 => (by(), step).prop_map(move |(by, step)| EventKind::Reentry { by, lock, step }),
        2 => by().prop_map(move |by| EventKind::Released { by, lock }),
        2 => by().prop_map(move |by| EventKind::Acquired {
            by,
            lock,
            token: None,
            mode: Mode::Exclusive,
        }),
        2 => (by(), (0..3u64).prop_map(Token)).prop_map(move |(by, token)| EventKind::Owned {
            by,
            lock,
            token,
            name: NameId(0),
            mode: Mode::Exclusive,
        }),
        2 => (by(), (0..3u64).prop_map(Token)).prop_map(move |(by, token)| EventKind::Disowned {
            by,
            lock,
            token,
            how: Disowned::Released,
        }),
    ]
}

/// A contender loses the lock, or could have known that it has.
fn loss() -> impl Strategy<Value = EventKind> {
    let by = || (0..3u32).prop_map(ContenderId);
    let lock = || prop_oneof![4 => Just(LockId(0)), 1 => Just(LockId(1))];
    let token = (0..3u64).prop_map(Token);
    let how = prop_oneof![Just(Knowledge::Refused), Just(Knowledge::ValidityOver)];
    prop_oneof![
        (by(), lock(), 0..9u64, how).prop_map(|(by, lock, since, how)| {
            let since = VirtualTime::from_micros(since * 1_000_000);
            EventKind::CouldHaveKnown {
                by,
                lock,
                since,
                how,
            }
        }),
        (by(), lock(), token).prop_map(|(by, lock, token)| EventKind::Disowned {
            by,
            lock,
            token,
            how: Disowned::Expired,
        }),
    ]
}

/// Histories about contenders and the service, such about writes, such about losses, such about contenders and a
/// service without a queue, and such about contenders that enter again.
const OF_TURNS: [u32; 6] = [4, 4, 1, 0, 6, 0];
const OF_WRITES: [u32; 6] = [4, 2, 6, 0, 6, 0];
const OF_LOSSES: [u32; 6] = [6, 5, 0, 6, 6, 0];
const OF_CALLS: [u32; 6] = [5, 4, 0, 0, 0, 0];
const OF_ENTRIES: [u32; 6] = [3, 3, 0, 0, 4, 9];

/// A history as the recorder would write it at least this far: a call is answered before the next,
/// and a place is given once.
fn run(weights: [u32; 6]) -> impl Strategy<Value = Run> {
    let length = if weights == OF_TURNS { 26 } else { 40 };
    let step = prop_oneof![3 => Just(1u64), 2 => Just(0), 1 => Just(2)];
    let events = prop::collection::vec((step, what(weights)), 0..length);
    let facts = (prop::option::of(0..2i64), prop::option::of(-1..2i64));
    (events, facts, prop::option::of(-1..4i64)).prop_map(|(events, (step, floor), last)| {
        let mut history = History::default();
        let mut at = VirtualTime::ZERO;
        for (step, what) in events {
            at = VirtualTime::from_micros(at.micros() + step * 1_000_000);
            if may_follow(&history, what) {
                history.events.push(Event { at, what });
            }
        }
        let why = Ended::AllFinished;
        history.events.push(Event {
            at,
            what: EventKind::Ended { why },
        });
        if let Some(value) = last {
            let lock = LockId(0);
            history.events.push(Event {
                at,
                what: EventKind::Final { lock, value },
            });
        }
        let facts = Facts {
            step,
            floor,
            ..Facts::default()
        };
        Run {
            history,
            facts,
            counts: Counts::default(),
            lease_resets: Vec::new(),
            late_extensions: Vec::new(),
            for_good: ForGood::default(),
            awaited: Vec::new(),
            permits_left: Vec::new(),
        }
    })
}

fn may_follow(history: &History, what: EventKind) -> bool {
    let plain = Plain::new(&history.events);
    match what {
        EventKind::AcquireStarted { by, lock, .. } => plain.asked(history.events.len(), by, lock).is_none(),
        EventKind::Queued { lock, place, .. } => !history.events.iter().any(|event| {
            matches!(event.what, EventKind::Queued { lock: l, place: p, .. } if (l, p) == (lock, place))
        }),
        _ => true,
    }
}

fn found(name: &str, run: &Run) -> Answer {
    answer(invariants::find(name).expect("a known name").verdict(run))
}

/// The same of the part that nothing excuses.
fn found_inexcusable(name: &str, run: &Run) -> Answer {
    let invariant = invariants::find(name).expect("a known name");
    let check = invariant.inexcusable.expect("there is such a part");
    answer(check(&Evidence::of(run)))
}

fn answer(verdict: Verdict) -> Answer {
    match verdict {
        Verdict::Holds => Answer::Holds,
        Verdict::Undecided(_) => Answer::Undecided,
        Verdict::Violated(witness) => {
            assert!(witness.events.is_sorted_by(|one, next| one < next));
            assert!(!witness.argument.is_empty());
            Answer::Violated {
                at: witness.at,
                overlap: witness.overlap,
            }
        }
    }
}

/// The same of a semaphore with two permits.
fn with_two_permits(weights: [u32; 6]) -> impl Strategy<Value = Run> {
    run(weights).prop_map(|mut run| {
        run.facts.permits = 2;
        run
    })
}

/// The same, in which contenders convert where they would ask.
fn with_conversions(weights: [u32; 6]) -> impl Strategy<Value = Run> {
    run(weights).prop_map(|mut run| {
        for event in &mut run.history.events {
            if let EventKind::AcquireStarted { by, lock, mode } = event.what {
                event.what = EventKind::Conversion {
                    by,
                    lock,
                    mode,
                    step: ConversionStep::Converts,
                };
            }
        }
        run
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn mutual_exclusion_is_what_every_pair_of_beliefs_says(run in run(OF_TURNS)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("mutual-exclusion", &run), plain.mutual_exclusion());
    }

    #[test]
    fn mutual_exclusion_of_holders_that_convert_is_what_every_pair_says(run in with_conversions(OF_TURNS)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("mutual-exclusion", &run), plain.mutual_exclusion());
    }

    #[test]
    fn what_nothing_excuses_of_mutual_exclusion_is_what_every_pair_says(run in run(OF_LOSSES)) {
        let plain = Plain::new(&run.history.events);
        let found = found_inexcusable("mutual-exclusion", &run);
        let late = plain.inexcusable_overlap(run.facts.reaction);
        prop_assert_eq!(found.is_violated(), late || plain.overlap_without_loss());
    }

    #[test]
    fn timely_loss_is_what_every_belief_says(run in run(OF_LOSSES)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("timely-loss", &run), plain.timely_loss(run.facts.reaction));
    }

    #[test]
    fn exclusive_ownership_is_what_every_pair_of_ownerships_says(run in run(OF_TURNS)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("exclusive-ownership", &run), plain.exclusive_ownership());
    }

    #[test]
    fn fifo_is_what_every_grant_and_every_place_say(run in run(OF_TURNS)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("fifo", &run), plain.fifo());
    }

    #[test]
    fn bounded_bypass_is_what_every_grant_and_every_request_say(
        mut run in prop_oneof![run(OF_TURNS), run(OF_CALLS)],
        bound in 0..3u32,
    ) {
        run.facts.bypass_bound = Some(bound);
        let plain = Plain::new(&run.history.events);
        let at = match found("bounded-bypass", &run) {
            Answer::Violated { at, .. } => Some(at),
            Answer::Holds | Answer::Undecided => None,
        };
        prop_assert_eq!(at, plain.bypassed_more_than(bound as usize));
    }

    #[test]
    fn no_starvation_is_what_every_entry_and_every_call_say(
        mut run in prop_oneof![run(OF_CALLS), run(OF_LOSSES)],
        bound in 0..3u32,
    ) {
        run.facts.starvation_bound = Some(bound);
        let plain = Plain::new(&run.history.events);
        let at = match found("no-starvation", &run) {
            Answer::Violated { at, .. } => Some(at),
            Answer::Holds | Answer::Undecided => None,
        };
        prop_assert_eq!(at, plain.let_in_more_often_than(bound as usize));
    }

    #[test]
    fn reentrancy_is_what_every_entry_says(run in run(OF_ENTRIES)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("reentrancy", &run).is_violated(), plain.entries_do_not_count());
    }

    #[test]
    fn no_stale_effect_is_what_every_pair_of_writes_says(run in run(OF_WRITES)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("no-stale-effect", &run), plain.no_stale_effect());
    }

    #[test]
    fn no_lost_update_is_what_every_write_says(run in run(OF_WRITES)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("no-lost-update", &run), plain.no_lost_update(&run.facts));
    }

    #[test]
    fn mutual_exclusion_with_permits_is_what_every_moment_says(run in with_two_permits(OF_TURNS)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("mutual-exclusion", &run), plain.more_believe_than(2, 1));
    }

    #[test]
    fn mutual_exclusion_with_two_permits_by_one_call_is_what_every_moment_says(run in run(OF_TURNS)) {
        let mut run = run;
        (run.facts.permits, run.facts.permits_per_acquire) = (3, vec![2]);
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("mutual-exclusion", &run), plain.more_believe_than(3, 2));
    }

    #[test]
    fn what_nothing_excuses_with_permits_is_what_every_moment_says(run in with_two_permits(OF_LOSSES)) {
        let plain = Plain::new(&run.history.events);
        let found = found_inexcusable("mutual-exclusion", &run);
        let late = plain.inexcusably_more_than(2, run.facts.reaction);
        prop_assert_eq!(found.is_violated(), late || plain.too_many_without_loss(2));
    }

    #[test]
    fn exclusive_ownership_with_permits_is_what_every_moment_says(run in with_two_permits(OF_TURNS)) {
        let plain = Plain::new(&run.history.events);
        prop_assert_eq!(found("exclusive-ownership", &run), plain.more_own_than(2));
    }

    #[test]
    fn no_check_stumbles_over_any_history(run in run(OF_TURNS)) {
        for (_, verdict) in picklock_checker::check_all(&run) {
            prop_assert_ne!(verdict, Verdict::Holds);
        }
        let _ = picklock_checker::vacuous(&run);
    }
}

#[test]
fn some_random_overlaps_are_excused_and_some_are_not() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    for permits in [1, 2] {
        let mut runner = TestRunner::deterministic();
        let (mut excused, mut inexcusable) = (0, 0);
        for _ in 0..2_000 {
            let mut run = run(OF_LOSSES).new_tree(&mut runner).unwrap().current();
            run.facts.permits = permits;
            if found("mutual-exclusion", &run).is_violated() {
                match found_inexcusable("mutual-exclusion", &run).is_violated() {
                    true => inexcusable += 1,
                    false => excused += 1,
                }
            }
        }
        assert!(
            excused >= 20 && inexcusable >= 20,
            "{permits}: {excused} and {inexcusable}"
        );
    }
}

/// A comparison in which one answer never comes up would prove little.
#[test]
fn the_random_histories_are_of_all_kinds() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let names = [
        ("mutual-exclusion", OF_TURNS, 1),
        ("mutual-exclusion", OF_TURNS, 2),
        ("exclusive-ownership", OF_TURNS, 1),
        ("exclusive-ownership", OF_TURNS, 2),
        ("fifo", OF_TURNS, 1),
        ("bounded-bypass", OF_TURNS, 1),
        ("bounded-bypass", OF_CALLS, 1),
        ("no-starvation", OF_CALLS, 1),
        ("reentrancy", OF_ENTRIES, 1),
        ("timely-loss", OF_LOSSES, 1),
        ("no-stale-effect", OF_WRITES, 1),
        ("no-lost-update", OF_WRITES, 1),
    ];
    let mut seen = [[0; 3]; 12];
    for ((name, weights, permits), seen) in names.into_iter().zip(&mut seen) {
        for _ in 0..2_000 {
            let mut run = run(weights).new_tree(&mut runner).unwrap().current();
            run.facts.permits = permits;
            run.facts.bypass_bound = Some(0);
            run.facts.starvation_bound = Some(0);
            let kind = match found(name, &run) {
                Answer::Holds => 0,
                Answer::Violated { .. } => 1,
                Answer::Undecided => 2,
            };
            seen[kind] += 1;
        }
    }
    let least = seen.iter().flatten().min().unwrap();
    assert!(*least >= 20, "holds, violated, undecided: {seen:?}");
}
