//! Messages that are late to come: what contenders cannot conclude from them, and how long the run waits for them.

use crate::common;

use std::time::Duration;

use async_trait::async_trait;
use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_algorithms::clients::RequestKind;
use picklock_algorithms::clients::redis::Redis;
use picklock_algorithms::{Env, Held, Lease, Lock, LockError, Recipe, timeout};
use picklock_checker::{EventKind, History, INVARIANTS, Verdict, VirtualTime};
use picklock_sim::plan::{Deployment, Fault, PlannedFault, ServerName, Service, Trigger};
use picklock_sim::simulate;

const KEY: Fault = Fault::EvictKey {
    target: ServerName::Number(0),
};

fn delay_request(by: Duration) -> Fault {
    let target = FIRST;
    Fault::DelayRequest { target, by }
}

fn history(faults: Vec<PlannedFault>) -> History {
    let mut plan = plan_on(
        Service::Redis(Deployment::default()),
        "redis-watch-exec",
        faults,
    );
    plan.workload.contenders = 1;
    plan.workload.rounds = 2;
    simulate(&plan, 1).run.history
}

fn could_have_known(history: &History) -> bool {
    let known = |what: &EventKind| matches!(what, EventKind::CouldHaveKnown { .. });
    history.events.iter().any(|event| known(&event.what))
}

/// The first release asks for the key, and is not answered in time. The key is gone meanwhile, so the next round has
/// the lock when the question arrives.
fn asks_late(of_the_second_hold: Option<Fault>) -> History {
    let request = RequestKind::Get;
    let sent = |nth| {
        let by = FIRST;
        Trigger::Sent {
            request,
            by,
            nth,
            at: None,
        }
    };
    let second = Trigger::Acquired { by: FIRST, nth: 2 };
    let mut faults = vec![
        planned(sent(1), delay_request(seconds(4))),
        PlannedFault {
            after: seconds(1),
            ..planned(sent(1), KEY)
        },
    ];
    faults.extend(of_the_second_hold.map(|inject| planned(second, inject)));
    history(faults)
}

#[test]
fn an_answer_from_before_the_hold_does_not_reveal_its_loss() {
    let history = asks_late(Some(KEY));
    let enters = |what: &EventKind| matches!(what, EventKind::Acquired { by: A, .. });
    let entries = { history.events.iter() }.filter(|event| enters(&event.what));
    assert_eq!(
        entries.count(),
        2,
        "the second hold is there when the answer comes"
    );
    assert!(!could_have_known(&history));
}

#[test]
fn a_release_that_comes_too_late_has_failed() {
    let service = Service::Redis(Deployment::default());
    let release = Trigger::Sent {
        request: RequestKind::Get,
        by: FIRST,
        nth: 1,
        at: None,
    };
    let late = vec![planned(release, delay_request(seconds(4)))];
    let history = history_on(service, "redis-watch-exec", late);
    let fails = |what: &EventKind| matches!(what, EventKind::ReleaseFailed { by: A, .. });
    assert!(history.events.iter().any(|event| fails(&event.what)));
}

#[test]
fn progress_waits_for_messages_that_are_late() {
    let bound = |faults| {
        let service = Service::Redis(Deployment::default());
        let plan = plan_on(service, "redis-fencing-token", faults);
        simulate(&plan, 1).run.facts.progress_bound
    };
    let late = vec![planned(acquired(), delay_request(seconds(40)))];
    assert_eq!(bound(late), bound(Vec::new()) + seconds(40));
}

#[test]
fn the_calm_waits_for_a_message_that_is_late() {
    let service = || Service::Redis(Deployment::default());
    let sent = |request| {
        let (by, nth) = (FIRST, 1);
        Trigger::Sent {
            request,
            by,
            nth,
            at: None,
        }
    };
    let delay_reply = Fault::DelayReply {
        target: FIRST,
        by: seconds(10),
    };
    for late in [
        planned(sent(RequestKind::Set), delay_request(seconds(10))),
        planned(sent(RequestKind::Set), delay_reply),
    ] {
        let mut plan = plan_on(service(), "redis-compare-and-delete", vec![late]);
        plan.workload.contenders = 1;
        plan.workload.progress_bound = Some(seconds(8));
        let run = simulate(&plan, 1).run;
        let mut events = run.history.events.iter();
        let calm = events.find(|event| event.what == EventKind::CalmBegan);
        assert!(calm.is_none_or(|event| event.at >= VirtualTime::ZERO + seconds(10)));
        let progress = INVARIANTS.iter().find(|known| known.name == "progress");
        let verdict = progress.expect("an invariant").verdict(&run);
        assert_eq!(verdict, Verdict::Holds);
    }
}

#[test]
fn the_calm_waits_for_a_script_that_another_held_up() {
    let script = Fault::SlowScript {
        target: ServerName::Number(0),
        length: seconds(4),
    };
    let faults = vec![
        planned(acquired(), script.clone()),
        planned(acquired(), script),
    ];
    let service = Service::Redis(Deployment::default());
    let history = history_on(service, "redis-compare-and-delete", faults);
    let mut events = history.events.iter();
    let calm = events.find(|event| event.what == EventKind::CalmBegan);
    let calm = calm.expect("a calm").at;
    assert!(calm >= VirtualTime::ZERO + seconds(8), "{calm}");
}

/// Holds for as long as its caller does, and asks once for its key, for no longer than this.
struct AsksOnce {
    redis: Redis,
    env: Env,
    lease: Lease,
    patience: Duration,
}

#[async_trait(?Send)]
impl Lock for AsksOnce {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Lease { key, time } = &self.lease;
        while !self.redis.set_if_missing(key, "ours", *time).await? {
            self.env.sleep(seconds(1)).await;
        }
        Ok(Held::at(key.clone()))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.env.sleep(seconds(1)).await;
        let asked = self.redis.get(&self.lease.key);
        _ = timeout(&self.env, self.patience, asked).await;
        std::future::pending().await
    }
}

#[test]
fn an_answer_that_the_recipe_has_dropped_tells_nothing() {
    let told = |patience| {
        let recipe = Recipe::over_redis("asks-once", move |redis, env, lease| {
            Box::new(AsksOnce {
                redis,
                env,
                lease,
                patience,
            })
        });
        let sent = Trigger::Sent {
            request: RequestKind::Get,
            by: FIRST,
            nth: 1,
            at: None,
        };
        let delay = Fault::DelayReply {
            target: FIRST,
            by: Duration::from_millis(300),
        };
        let faults = vec![planned(acquired(), KEY), planned(sent, delay)];
        let mut plan = plan_on(
            Service::Redis(Deployment::default()),
            "redis-watch-exec",
            faults,
        );
        plan.recipe = recipe;
        plan.workload.contenders = 1;
        could_have_known(&simulate(&plan, 1).run.history)
    };
    assert!(told(seconds(2)));
    assert!(!told(Duration::from_millis(100)));
}
