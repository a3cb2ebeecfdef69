//! Contenders that are tasks of one process: what strikes the process strikes all of them, and what they share is one.

use crate::common::plans;

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::{Held, Lease, Lock, LockError, Recipe};
use picklock_checker::{ContenderId, EventKind, History, VirtualTime};
use picklock_clients::RequestKind;
use picklock_clients::env::Env;
use picklock_clients::redis::{Command, Redis};
use picklock_sim::plan::{
    Arrival, ContenderName, Deployment, Ensemble, Fault, Hold, LockCall, Plan, PlannedFault,
    Service, Share, Trigger,
};
use picklock_sim::simulate;
use plans::{FIRST, acquired, plan_on, planned, seconds};

const A: ContenderId = ContenderId(0);
const SECOND: ContenderName = ContenderName(1);

/// Four contenders in two processes.
fn plan(service: Service, algorithm: &str, share: Share, faults: Vec<PlannedFault>) -> Plan {
    let mut plan = plan_on(service, algorithm, faults);
    plan.workload.contenders = 4;
    plan.workload.tasks_per_process = 2;
    plan.workload.share = share;
    plan
}

fn on_zookeeper(share: Share, faults: Vec<PlannedFault>) -> History {
    let ensemble = Service::ZooKeeper(Ensemble::default());
    simulate(&plan(ensemble, "zk-predecessor-watch", share, faults), 0)
        .whole()
        .run
        .history
}

/// The contenders of such events, in order.
fn whose(history: &History, is: impl Fn(&EventKind) -> Option<ContenderId>) -> Vec<u32> {
    let events = history.events.iter();
    let found = events.filter_map(|event| is(&event.what));
    found.map(|by| by.0).collect()
}

fn strike(inject: Fault) -> Vec<PlannedFault> {
    vec![planned(acquired(), inject)]
}

#[test]
fn a_pause_of_a_process_stops_all_of_its_tasks_and_no_other() {
    let pause = Fault::Pause {
        target: FIRST,
        length: seconds(2).into(),
    };
    let history = on_zookeeper(Share::Nothing, strike(pause));
    let paused = whose(&history, |what| match what {
        EventKind::Paused { by } => Some(*by),
        _ => None,
    });
    let resumed = whose(&history, |what| match what {
        EventKind::Resumed { by } => Some(*by),
        _ => None,
    });
    assert_eq!((paused, resumed), (vec![0, 1], vec![0, 1]));
    assert!(history.faults[0].ends_with("(one process with contender-2)"));
}

#[test]
fn a_crash_ends_all_tasks_of_a_process_and_all_come_back() {
    let crash = Fault::Crash {
        target: SECOND,
        restart_after: Some(seconds(1)),
    };
    let history = on_zookeeper(Share::Session, strike(crash));
    let crashed = whose(&history, |what| match what {
        EventKind::Crashed { by } => Some(*by),
        _ => None,
    });
    let restarted = whose(&history, |what| match what {
        EventKind::Restarted { by } => Some(*by),
        _ => None,
    });
    assert_eq!((crashed, restarted), (vec![0, 1], vec![0, 1]));
    let mut finished = whose(&history, |what| match what {
        EventKind::Finished { by } => Some(*by),
        _ => None,
    });
    finished.sort_unstable();
    assert_eq!(finished, [0, 1, 2, 3]);
}

#[test]
fn a_link_is_that_of_the_process_and_a_cancelled_call_that_of_the_task() {
    let disconnected = |history: &History| {
        let mut disconnected = whose(history, |what| match what {
            EventKind::Disconnected { by } => Some(*by),
            _ => None,
        });
        disconnected.sort_unstable();
        disconnected
    };
    let cut = on_zookeeper(Share::Nothing, strike(Fault::Cut { target: FIRST }));
    assert_eq!(disconnected(&cut), [0, 1]);
    let waiting = Trigger::Waiting { by: SECOND, nth: 1 };
    let cancel = Fault::Cancel {
        target: SECOND,
        call: LockCall::Acquire,
    };
    let history = on_zookeeper(Share::Session, vec![planned(waiting, cancel)]);
    let cancelled = whose(&history, |what| match what {
        EventKind::Cancelled { by, .. } => Some(*by),
        _ => None,
    });
    assert_eq!(cancelled, [1]);
}

#[test]
fn a_session_that_expires_is_lost_to_all_tasks_that_share_it() {
    let expired = |share| {
        let expire = Fault::ExpireSession { target: FIRST };
        let history = on_zookeeper(share, strike(expire));
        let mut expired = whose(&history, |what| match what {
            EventKind::SessionExpired { by } => Some(*by),
            _ => None,
        });
        let lost = whose(&history, |what| match what {
            EventKind::SessionLost { by } => Some(*by),
            _ => None,
        });
        assert_eq!(expired, lost);
        expired.sort_unstable();
        expired
    };
    assert_eq!(expired(Share::Nothing), [0]);
    assert_eq!(expired(Share::Session), [0, 1]);
}

/// A contender that enters owns the lock then, by its own request.
#[test]
fn requests_by_what_is_shared_are_those_of_the_task_that_asks() {
    let (zookeeper, redis) = (
        Service::ZooKeeper(Ensemble::default()),
        Service::Redis(Deployment::default()),
    );
    for (service, algorithm, share) in [
        (&zookeeper, "zk-predecessor-watch", Share::Session),
        (&zookeeper, "curator-mutex", Share::Session),
        (&zookeeper, "curator-mutex", Share::Lock),
        (&redis, "redis-fencing-token", Share::Connection),
        (&redis, "redisson-lock", Share::Connection),
        (&redis, "redisson-lock", Share::Lock),
        (&redis, "redis-py-lock", Share::Lock),
    ] {
        for seed in 0..5 {
            let mut plan = plan(service.clone(), algorithm, share, Vec::new());
            plan.workload.arrive = Arrival::Together;
            plan.workload.rounds = 2;
            plan.workload.hold = Hold::For(seconds(1));
            let history = simulate(&plan, seed).whole().run.history;
            let mut owner = None;
            let mut entered = 0;
            for event in &history.events {
                match event.what {
                    EventKind::Owned { by, .. } => owner = Some(by),
                    EventKind::Acquired { by, .. } => {
                        assert_eq!(owner, Some(by), "{algorithm} at seed {seed}");
                        entered += 1;
                    }
                    _ => {}
                }
            }
            assert_eq!(entered, 8, "{algorithm} at seed {seed}");
        }
    }
}

#[test]
fn a_fault_waits_for_the_request_of_the_task_that_it_names() {
    let creates = Trigger::Sent {
        request: RequestKind::Create,
        by: SECOND,
        nth: 1,
        at: None,
    };
    let lose = Fault::LoseReply { target: SECOND };
    let history = on_zookeeper(Share::Session, vec![planned(creates, lose)]);
    let fired = history
        .events
        .iter()
        .position(|event| matches!(event.what, EventKind::FaultFired { .. }));
    let acquiring = history.events.iter().position(|event| {
        matches!(
            event.what,
            EventKind::AcquireStarted {
                by: ContenderId(1),
                ..
            }
        )
    });
    assert!(fired > acquiring && acquiring.is_some());
}

/// One thread waits for an element for two seconds; any other sets a key.
struct WaitsOrSets {
    redis: Redis,
    env: Env,
    key: Rc<str>,
}

#[async_trait(?Send)]
impl Lock for WaitsOrSets {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let command = match self.env.thread() {
            1 => Command::new("BLPOP").arg("nothing").arg("2"),
            _ => {
                // It asks when the first thread is waiting.
                self.env.sleep(Duration::from_millis(100)).await;
                Command::new("SET").arg(&*self.key).arg("x")
            }
        };
        self.redis.ask(command).await?;
        Ok(Held::at(Rc::clone(&self.key)))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        std::future::pending().await
    }
}

#[test]
fn what_waits_at_the_server_holds_up_the_other_task_of_its_connection() {
    let build = |redis, env: Env, lease: Lease| -> Box<dyn Lock> {
        Box::new(WaitsOrSets {
            redis,
            env,
            key: lease.key,
        })
    };
    let recipe = Recipe::over_redis("waits-or-sets", build);
    let entered = |share| {
        let redis = Service::Redis(Deployment::default());
        let mut plan = plan(redis, "redis-set-nx-get", share, Vec::new());
        plan.recipe = recipe;
        plan.workload.contenders = 2;
        plan.workload.arrive = Arrival::Together;
        let history = simulate(&plan, 0).whole().run.history;
        let entered = history
            .events
            .iter()
            .find(|event| matches!(event.what, EventKind::Acquired { by, .. } if by != A));
        entered.expect("it sets the key").at
    };
    assert!(entered(Share::Nothing) < VirtualTime::ZERO + seconds(1));
    assert!(entered(Share::Connection) >= VirtualTime::ZERO + seconds(2));
}
