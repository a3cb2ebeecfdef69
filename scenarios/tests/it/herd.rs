//! What a herd costs, beside the formula.

use picklock_algorithms::registry;
use picklock_scenarios::herd::{Experiment, Measured, Mode};

fn experiment(algorithm: &str, contenders: u32, mode: Mode) -> Experiment {
    let recipe = *registry::find(algorithm).expect("a registered algorithm");
    Experiment {
        mode,
        ..Experiment::of(recipe, contenders)
    }
}

fn notifications(measured: &Measured) -> u64 {
    measured.counts.notifications_to_waiters + measured.counts.notifications_to_releaser
}

/// Each way in which an algorithm is taken for which there is a formula.
const MODES: &[(Mode, &[&str])] = &[
    (
        Mode::Exclusive,
        &[
            "zk-predecessor-watch",
            "zk-same-name",
            "zk-children-watch",
            "zk-leader-election",
            "curator-leader-latch",
            "curator-leader-selector",
            "kazoo-election",
            "zk-shared-locks",
            "curator-read-write-lock",
            "curator-semaphore",
            "curator-semaphore-hardened",
            "kazoo-semaphore",
            "curator-semaphore-v1",
            "zk-barrier",
            "zk-barrier-sync",
            "curator-barrier",
            "kazoo-barrier",
        ],
    ),
    (
        Mode::Readers,
        &[
            "zk-shared-locks",
            "curator-read-write-lock",
            "kazoo-read-write-lock",
        ],
    ),
    (Mode::Permits(2), &["curator-semaphore-v1"]),
    (Mode::Permits(4), &["curator-semaphore-v1"]),
];

#[test]
fn notifications_are_as_many_as_the_formula_says() {
    for (mode, algorithms) in MODES {
        for algorithm in *algorithms {
            for contenders in [11, 40] {
                let experiment = experiment(algorithm, contenders, *mode);
                let expected = experiment.formula().expect("there is one");
                let measured = notifications(&experiment.run());
                assert_eq!(measured, expected, "{algorithm} {mode:?} {contenders}");
            }
        }
    }
}

#[test]
fn the_release_of_a_writer_wakes_all_readers_and_none_of_them_in_vain() {
    let measured = experiment("zk-shared-locks", 40, Mode::Readers).run();
    assert_eq!(measured.counts.wakeups, 39);
    assert_eq!(measured.counts.wasted_wakeups, 0);
}

#[test]
fn a_lease_that_is_given_back_wakes_one_whatever_the_number_of_waiters() {
    for algorithm in ["curator-semaphore", "kazoo-semaphore"] {
        let per_departure = |contenders| {
            let counts = experiment(algorithm, contenders, Mode::Permits(2))
                .run()
                .counts;
            counts.notifications_to_waiters / u64::from(contenders)
        };
        assert_eq!(per_departure(20), per_departure(80), "{algorithm}");
    }
}
