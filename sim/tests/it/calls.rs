//! How contenders call a lock: again while they hold it, for a time, and after a pause.

use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::zookeeper::curator_mutex::InterProcessMutex;
use picklock_algorithms::{Build, Held, Lock, LockError, registry};
use picklock_checker::{ContenderId, Event, EventKind, Failure, History, Verdict, invariants};
use picklock_clients::RequestKind;
use picklock_clients::curator::CuratorConfig;
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Network, Plan, PlannedFault, Resource, Section,
    Service, Trigger, Workload,
};
use picklock_sim::simulate;

const A: ContenderId = ContenderId(0);
const B: ContenderId = ContenderId(1);

fn plan(algorithm: &str, workload: Workload, faults: Vec<PlannedFault>) -> Plan {
    Plan {
        recipe: *registry::find(algorithm).expect("a registered algorithm"),
        service: Service::ZooKeeper(Ensemble::default()),
        network: Network::default(),
        workload: Workload {
            contenders: 2,
            arrive: Arrival::InOrder,
            section: Section::Write,
            ..workload
        },
        resource: Resource { fenced: false },
        faults,
        event_budget: 1_000_000,
    }
}

/// The places in the history where that happens.
fn places(history: &History, wanted: impl Fn(&EventKind) -> bool) -> Vec<usize> {
    let events = history.events.iter().enumerate();
    let found = events.filter(|(_, event)| wanted(&event.what));
    found.map(|(index, _)| index).collect()
}

#[test]
fn a_timed_acquire_gives_up_in_time_and_leaves_nothing() {
    let workload = Workload {
        hold: Hold::For(Duration::from_secs(5)),
        acquire_timeout: Some(Duration::from_secs(2)),
        ..Workload::default()
    };
    let plan = plan("curator-mutex", workload, Vec::new());
    for seed in 0..20 {
        let history = simulate(&plan, seed).run.history;
        let at = |place: usize| history.events[place].at;
        let asked = places(&history, |what| {
            matches!(what, EventKind::AcquireStarted { by: B, .. })
        });
        let gave_up = places(&history, |what| {
            matches!(
                what,
                EventKind::AcquireFailed {
                    by: B,
                    why: Failure::TimedOut,
                    definite: true,
                    ..
                }
            )
        });
        // The lock is held for five seconds: it is waited for in vain twice, and then for less than two.
        assert_eq!((asked.len(), gave_up.len()), (3, 2), "seed {seed}");
        for (asked, gave_up) in asked.iter().zip(&gave_up) {
            let took = (at(*gave_up) - at(*asked)).as_millis();
            // Three requests more than the wait: to queue, to look, and to leave.
            assert!((2_000..2_050).contains(&took), "seed {seed}: {took} ms");
        }
        let left = places(&history, |what| {
            matches!(what, EventKind::Unqueued { by: B, .. })
        });
        assert_eq!(left.len(), 3, "seed {seed}");
        assert!(left[0] < gave_up[0] && left[1] < gave_up[1], "seed {seed}");
    }
}

#[test]
fn only_the_last_to_leave_frees_the_lock() {
    let of = |reentrancy_depth| {
        let workload = Workload {
            reentrancy_depth,
            ..Workload::default()
        };
        let plan = plan("curator-mutex", workload, Vec::new());
        simulate(&plan, 1).run.history
    };
    let (once, thrice) = (of(1), of(3));
    assert!(
        !places(&once, |what| matches!(
            what,
            EventKind::Released { by: B, .. }
        ))
        .is_empty()
    );
    // Entries cost nothing: they send no request.
    let is_entry = |event: &Event| matches!(event.what, EventKind::Reentry { .. });
    let (entries, others): (Vec<Event>, Vec<Event>) = thrice.events.into_iter().partition(is_entry);
    assert_eq!(once.events, others);
    // Of each of the two sections: two calls, their returns, and two entries that are left.
    assert_eq!(entries.len(), 2 * 6);
}

#[test]
fn a_contender_that_pauses_between_two_tries_does_not_wait() {
    let when = Trigger::Answered {
        request: RequestKind::Create,
        by: ContenderName(0),
        nth: 1,
        at: None,
    };
    let lost = PlannedFault {
        when,
        after: Duration::ZERO,
        repeat: None,
        text: String::new(),
        inject: Fault::LoseReply {
            target: ContenderName(0),
        },
    };
    let plan = plan("curator-mutex", Workload::default(), vec![lost]);
    for seed in 0..50 {
        let history = simulate(&plan, seed).run.history;
        let first = |wanted: &dyn Fn(&EventKind) -> bool| places(&history, wanted)[0];
        let held = first(&|what| matches!(what, EventKind::Acquired { by: A, .. }));
        let came = first(&|what| matches!(what, EventKind::AcquireStarted { by: B, .. }));
        // The second comes when the first has the lock, or waits for another. Here there is no other.
        assert!(held < came, "seed {seed}");
    }
}

/// Curator's lock, given back twice.
struct GivenBackTwice(InterProcessMutex);

#[async_trait(?Send)]
impl Lock for GivenBackTwice {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.0.acquire().await
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held.clone()).await?;
        let again = self.0.release(held).await;
        assert_eq!(again, Err(LockError::NotHeld));
        again
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.0.lost(held).await
    }
}

#[test]
fn a_release_without_a_hold_fails_and_leaves_the_holder_alone() {
    assert!(LockError::NotHeld.definite(), "no request was sent");
    let workload = Workload {
        hold: Hold::For(Duration::from_secs(5)),
        ..Workload::default()
    };
    let mut plan = plan("curator-mutex", workload, Vec::new());
    plan.recipe.build = Build::ZooKeeper(&|zk, env, lock| {
        let lock = InterProcessMutex::with_settings(zk, env, lock, CuratorConfig::default());
        Box::new(GivenBackTwice(lock))
    });
    for seed in 0..20 {
        let run = simulate(&plan, seed).run;
        for by in [A, B] {
            let failed = |what: &EventKind| match *what {
                EventKind::ReleaseFailed { by: who, why, .. } => {
                    (who, why) == (by, Failure::Refused)
                }
                _ => false,
            };
            assert_eq!(places(&run.history, failed).len(), 1, "seed {seed}");
        }
        for name in [
            "mutual-exclusion",
            "exclusive-ownership",
            "own-release-only",
        ] {
            let invariant = invariants::find(name).expect("an invariant");
            assert_eq!(
                invariant.verdict(&run),
                Verdict::Holds,
                "seed {seed}: {name}"
            );
        }
        let left = |what: &EventKind| matches!(what, EventKind::Leftover { .. });
        assert!(places(&run.history, left).is_empty());
    }
}
