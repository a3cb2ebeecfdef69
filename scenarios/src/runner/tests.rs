use std::sync::atomic::AtomicU64;
use std::time::Duration;

use picklock_checker::outcome::{Finding, Standing};
use picklock_checker::{Counts, Reached, Verdict, VirtualTime, Witness};

use super::*;
use crate::replay_command::ReplayCommand;
use crate::scenario::{Catalogue, Expectation, Measure};
use crate::shard::Shard;

const SCENARIO: &str = r#"
claim = "The death of a waiter does not hand the lock to the one behind it."
because = "A waiter is no holder."
source = "Apache ZooKeeper, Recipes and Solutions, 'Locks'"

[service.zookeeper]

[workload]
contenders = 3
arrive = "in-order"
hold = "20s"

[[fault]]
when.queued = { by = "contender-3" }
after = "50ms"
inject.expire-session = { target = "contender-2" }

[[case]]
algorithm = "zk-predecessor-watch"

[[case]]
algorithm = "zk-no-recheck"
expect.mutual-exclusion.violated = { because = "it does not look again", within-seeds = 10 }
"#;

fn scenario() -> Scenario {
    let parsed = crate::parse("zookeeper/waiter-death", SCENARIO, &Catalogue::EVERYTHING);
    parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
}

/// A case that wants this of `fifo`, and nothing else.
fn wanting(want: Want) -> Case {
    let mut case = scenario().cases.remove(0);
    case.expectations = vec![Expectation {
        invariant: "fifo",
        want,
    }];
    case.measures = Vec::new();
    case
}

fn to_be_violated(within_seeds: u64) -> Want {
    Want::Violated {
        because: "the queue\nhas no order".to_owned(),
        within_seeds,
    }
}

fn violated() -> Verdict {
    Verdict::Violated(Box::new(Witness {
        summary: "b went before a".to_owned(),
        at: VirtualTime::ZERO,
        overlap: None,
        events: Vec::new(),
        argument: Vec::new(),
    }))
}

fn seed(seed: u64, verdict: Verdict) -> SeedOutcome {
    let verdicts = match verdict {
        Verdict::Holds => Vec::new(),
        Verdict::Violated(_) | Verdict::Undecided(_) => vec![("fifo", verdict)],
    };
    SeedOutcome {
        seed,
        hash: seed,
        verdicts,
        vacuous: None,
        vacuous_detail: None,
        excused: Vec::new(),
        moot: Vec::new(),
        reached: Reached::default(),
        nearness: Nearness::default(),
        counts: Counts::default(),
        broken: None,
    }
}

fn outcome(case: &Case, seeds: impl IntoIterator<Item = SeedOutcome>) -> CaseOutcome {
    let seeds: Vec<_> = seeds.into_iter().collect();
    let (first, end) = (seeds[0].seed, seeds[seeds.len() - 1].seed + 1);
    let mut tally = Tally::new(&Seeds::all(first..end));
    for seed in seeds {
        tally.add(Shard::WHOLE, seed);
    }
    tally.outcome(&scenario(), case)
}

/// How the only finding stands, and its line.
fn finding(case: &Case, seeds: impl IntoIterator<Item = SeedOutcome>) -> (Standing, String) {
    let mut outcome = outcome(case, seeds);
    assert_eq!(outcome.findings.len(), 1);
    let Finding { standing, line, .. } = outcome.findings.remove(0);
    assert_eq!(standing, outcome.standing);
    (standing, line)
}

fn undecided() -> Verdict {
    Verdict::Undecided("no contender queued".to_owned())
}

#[test]
fn what_is_to_hold_and_holds_is_fine() {
    let found = finding(
        &wanting(Want::Holds),
        (0..3).map(|number| seed(number, Verdict::Holds)),
    );
    assert_eq!(found, (Standing::Holds, "fifo holds".to_owned()));
}

#[test]
fn what_is_to_hold_and_is_violated_fails_even_if_another_seed_is_undecided() {
    let seeds = [
        seed(7, undecided()),
        seed(8, violated()),
        seed(9, violated()),
    ];
    let case = wanting(Want::Holds);
    let (standing, line) = finding(&case, seeds.clone());
    assert_eq!(standing, Standing::Fail);
    assert_eq!(
        line,
        "fifo violated at seed 8 (2 of 3 seeds, 66.7 %): b went before a"
    );
    let violation = outcome(&case, seeds).violations.remove(0);
    assert_eq!((violation.seed, violation.found_after), (8, 2));
    assert_eq!((violation.seeds, violation.expected), (2, false));
}

#[test]
fn what_is_to_be_violated_and_is_in_time_is_as_expected() {
    let seeds = [seed(0, Verdict::Holds), seed(1, violated())];
    let case = wanting(to_be_violated(2));
    let (standing, line) = finding(&case, seeds.clone());
    assert_eq!(standing, Standing::AsExpected);
    assert_eq!(
        line,
        "fifo violated at seed 1 (1 of 2 seeds, 50 %): the queue has no order"
    );
    assert!(outcome(&case, seeds).violations[0].expected);
}

#[test]
fn what_is_to_be_violated_and_is_too_late_fails() {
    let seeds = [seed(0, Verdict::Holds), seed(1, violated())];
    let (standing, line) = finding(&wanting(to_be_violated(1)), seeds);
    assert_eq!(standing, Standing::Fail);
    assert_eq!(
        line,
        "fifo was to be violated within 1 seed, and was after 2"
    );
}

#[test]
fn what_is_to_be_violated_and_holds_fails() {
    let seeds = (0..3).map(|number| seed(number, Verdict::Holds));
    let (standing, line) = finding(&wanting(to_be_violated(3)), seeds);
    assert_eq!(standing, Standing::Fail);
    assert_eq!(line, "fifo was to be violated within 3 seeds, and held");
}

#[test]
fn what_is_to_be_violated_had_too_few_seeds_to_tell() {
    let (standing, line) = finding(
        &wanting(to_be_violated(3)),
        (0..2).map(|number| seed(number, Verdict::Holds)),
    );
    assert_eq!(standing, Standing::Skipped);
    assert_eq!(line, "fifo may need 3 seeds to be violated; 2 ran");
}

#[test]
fn undecided_is_undecided_whatever_was_expected() {
    for want in [Want::Holds, to_be_violated(1)] {
        let seeds = [seed(0, undecided()), seed(1, Verdict::Holds)];
        let (standing, line) = finding(&wanting(want), seeds);
        assert_eq!(standing, Standing::Undecided);
        assert_eq!(line, "fifo: no contender queued (1 of 2 seeds)");
    }
}

#[test]
fn what_is_to_be_undecided_needs_a_seed_that_cannot_tell_and_none_that_violates_it() {
    let case = wanting(Want::Undecided {
        because: "no quorum\nis left".to_owned(),
    });
    let (standing, line) = finding(&case, [seed(0, undecided()), seed(1, Verdict::Holds)]);
    assert_eq!(standing, Standing::AsExpected);
    assert_eq!(
        line,
        "fifo is undecided, as expected: no quorum is left (1 of 2 seeds)"
    );
    let (standing, line) = finding(&case, [seed(0, Verdict::Holds)]);
    assert_eq!(standing, Standing::Undecided);
    assert_eq!(line, "fifo is to be undecided, and every seed decides it");
    let (standing, _) = finding(&case, [seed(0, undecided()), seed(1, violated())]);
    assert_eq!(standing, Standing::Fail);
}

#[test]
fn a_run_that_says_nothing_leaves_everything_undecided_and_is_told_once() {
    let mut case = wanting(Want::Holds);
    case.expectations.push(Expectation {
        invariant: "progress",
        want: Want::Holds,
    });
    case.measures.push(Measure {
        metric: "wakeups-per-release",
        at_least: None,
        at_most: Some(1.0),
    });
    let mut vacuous = seed(0, Verdict::Holds);
    vacuous.vacuous = Some("fault 1 never fired: cut".to_owned());
    vacuous.counts.departures = 1;
    let (standing, line) = finding(&case, [vacuous, seed(1, Verdict::Holds)]);
    assert_eq!(standing, Standing::Undecided);
    assert_eq!(line, "fault 1 never fired: cut (1 of 2 seeds)");
}

#[test]
fn a_case_that_looks_at_nothing_finds_nothing_out() {
    let case = wanting(Want::Unchecked { because: None });
    let outcome = outcome(&case, [seed(0, Verdict::Holds)]);
    assert_eq!(outcome.standing, Standing::Undecided);
}

#[test]
fn a_metric_beyond_its_bounds_fails() {
    let mut case = wanting(Want::Unchecked { because: None });
    case.measures.push(Measure {
        metric: "wakeups-per-release",
        at_least: Some(1.0),
        at_most: Some(2.0),
    });
    let measured = |wakeups, departures| {
        let mut seed = seed(0, Verdict::Holds);
        (seed.counts.wakeups, seed.counts.departures) = (wakeups, departures);
        finding(&case, [seed])
    };
    let line = |text: &str| format!("wakeups-per-release{text}");
    assert_eq!(measured(4, 2), (Standing::Holds, line(" 2.00")));
    let low = line(" 0.50, expected at least 1");
    assert_eq!(measured(1, 2), (Standing::Fail, low));
    let high = line(" 2.50, expected at most 2");
    assert_eq!(measured(5, 2), (Standing::Fail, high));
    let none = line(": nothing was counted");
    assert_eq!(measured(5, 0), (Standing::Undecided, none));
}

fn run_with(threads: usize, stop: &AtomicBool) -> (Vec<Result<CaseOutcome, Stopped>>, u64) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let settings = RunOptions {
        seeds: Seeds::all(5..100),
        verify_determinism: true,
    };
    let done = AtomicU64::new(0);
    let progress = || {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let scenario = scenario();
    let outcomes = pool.install(|| {
        let cases = scenario.cases.iter();
        let run = |case| run_case(&scenario, case, &settings, stop, &progress);
        cases.map(run).collect()
    });
    (outcomes, done.into_inner())
}

#[test]
fn the_outcome_does_not_depend_on_the_number_of_threads() {
    let untimed = |threads| {
        let (outcomes, done) = run_with(threads, &AtomicBool::new(false));
        let outcomes = outcomes.into_iter().map(|outcome| CaseOutcome {
            took: Duration::ZERO,
            ..outcome.unwrap()
        });
        (outcomes.collect::<Vec<_>>(), done)
    };
    let alone = untimed(1);
    assert_eq!(alone, untimed(3));
    let (outcomes, done) = alone;
    assert_eq!(done, 2 * 95);
    let standings: Vec<_> = outcomes.iter().map(|outcome| outcome.standing).collect();
    assert_eq!(standings, [Standing::Holds, Standing::AsExpected]);
    let story = outcomes[1].story.as_ref().unwrap();
    assert_eq!((outcomes[1].seeds, story.seed), (95, 5));
    assert_eq!(
        story.replay,
        format!(
            "picklock replay zookeeper/waiter-death.toml --case zk-no-recheck --seed 5 --was {}:{:016x}",
            env!("CARGO_PKG_VERSION"),
            story.hash
        )
    );
}

#[test]
fn what_is_to_stop_runs_no_seed() {
    let (outcomes, done) = run_with(2, &AtomicBool::new(true));
    assert_eq!(done, 0);
    for outcome in outcomes {
        assert_eq!(outcome, Err(Stopped::Interrupted));
    }
}

#[test]
fn the_last_seed_of_all_can_be_run() {
    let scenario = scenario();
    let settings = RunOptions {
        seeds: Seeds::all(u64::MAX - 2..u64::MAX),
        verify_determinism: false,
    };
    let stop = AtomicBool::new(false);
    let outcome = run_case(&scenario, &scenario.cases[0], &settings, &stop, &|| {}).unwrap();
    assert_eq!(outcome.seeds, 2);
}

#[test]
fn a_command_keeps_words_together() {
    let mut scenario = scenario();
    scenario.path = "my locks/it's one.toml".to_owned();
    let again = ReplayCommand {
        scenario: &scenario,
        case: &scenario.cases[0],
        seed: 3,
        hash: Some(0xc0ffee),
    };
    let run = r#""my locks/it's one.toml" --case zk-predecessor-watch --seed 3"#;
    let was = format!("--was {}:0000000000c0ffee", env!("CARGO_PKG_VERSION"));
    assert_eq!(again.replay(), format!("picklock replay {run} {was}"));
    assert_eq!(
        again.why("fifo"),
        format!("picklock why {run} --invariant fifo {was}")
    );
    let unknown = ReplayCommand {
        hash: None,
        ..again
    };
    assert_eq!(
        unknown.shrink("fifo"),
        format!("picklock shrink {run} --invariant fifo --out regressions")
    );
}

#[test]
fn a_fault_that_never_fired_says_what_it_waited_for() {
    const STRUCK: &str = "when.queued = { by = \"contender-3\" }\nafter = \"50ms\"";
    let why = |when: &str| {
        let text = SCENARIO.replace(STRUCK, when);
        let parsed = crate::parse("test", &text, &Catalogue::EVERYTHING);
        let case = &parsed
            .unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
            .cases[0];
        let outcome = run_seed(case, 0, false).expect("it is run once");
        outcome.vacuous_detail.unwrap_or_default()
    };
    let due = why("when.at = \"200s\"");
    let ended = due.strip_prefix("it was due at 200.000 s, and the run ended at ");
    assert!(ended.is_some_and(|at| at.starts_with("60.")), "{due}");
    let later = why("when.queued = { by = \"contender-3\" }\nafter = \"100s\"");
    assert!(later.starts_with("it was due at 100."), "{later}");
    let again = why("when.acquired = { by = \"contender-3\", nth = 3 }");
    let counted = "it waited until contender-3 has acquired for the 3rd time: that had come 1 of 3 times when";
    assert!(again.starts_with(counted), "{again}");
    let never = why("when.session-lost = { by = \"contender-1\" }");
    let waited =
        "it waited until contender-1 learns that its session is gone, and the run ended at";
    assert!(never.starts_with(waited), "{never}");
    assert_eq!(why(STRUCK), "");
}

#[test]
fn seeds_with_one_reason_are_counted_together_and_one_is_told() {
    let case = wanting(Want::Holds);
    let cut = |number, at: &str| SeedOutcome {
        vacuous: Some("fault 1 never fired: cut".to_owned()),
        vacuous_detail: Some(format!("it was due at 20 s, and the run ended at {at}")),
        ..seed(number, Verdict::Holds)
    };
    let (_, line) = finding(&case, [cut(4, "18 s"), cut(5, "19 s")]);
    let told = "fault 1 never fired: cut (2 of 2 seeds); at seed 4, it was due at 20 s, and the run ended at 18 s";
    assert_eq!(line, told);
}

#[test]
fn a_seed_that_violates_a_promise_decides_it() {
    let case = wanting(Want::Holds);
    let mut alone = seed(0, violated());
    alone.vacuous = Some("fault 1 never fired: cut".to_owned());
    let outcome = outcome(&case, [alone, seed(1, violated()), seed(2, undecided())]);
    let can_tell = outcome.findings.iter().map(|finding| finding.can_tell);
    assert_eq!(can_tell.collect::<Vec<_>>(), [Some(2)]);
}
