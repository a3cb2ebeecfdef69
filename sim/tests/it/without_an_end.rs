//! Every fault that can be without an end is still in force when the calm has begun, and progress is judged by that.

use crate::common;

use std::time::Duration;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_checker::{ContenderId, EventKind, INVARIANTS, Run, Verdict, VirtualTime};
use picklock_sim::plan::{
    ContenderName, Deployment, Direction, Ensemble, Fault, FaultDuration, Hold, Persistence,
    ServerName, Service, Trigger,
};
use picklock_sim::simulate;

const B: ContenderId = ContenderId(1);
const SECOND: ContenderName = ContenderName(1);
const ONLY: ServerName = ServerName::Number(0);
const LONG: Duration = Duration::from_secs(40);

/// What is seen of a fault in the calm, and how progress stands: judged, or not for this reason.
struct Row {
    service: Service,
    fault: Fault,
    in_force: fn(&Run) -> bool,
    undecided: Option<&'static str>,
}

fn ensemble(servers: u8) -> Service {
    Service::ZooKeeper(Ensemble {
        servers,
        ..Ensemble::default()
    })
}

fn redis() -> Service {
    Service::Redis(Deployment {
        persistence: Persistence::Log(picklock_sim::plan::Fsync::EverySecond),
        ..Deployment::default()
    })
}

fn row(service: Service, fault: Fault, in_force: fn(&Run) -> bool) -> Row {
    Row {
        service,
        fault,
        in_force,
        undecided: None,
    }
}

impl Row {
    fn undecided(self, why: &'static str) -> Self {
        Self {
            undecided: Some(why),
            ..self
        }
    }
}

fn at(run: &Run, wanted: impl Fn(&EventKind) -> bool) -> Option<VirtualTime> {
    let mut events = run.history.events.iter();
    events
        .find(|event| wanted(&event.what))
        .map(|event| event.at)
}

fn enters(run: &Run, who: ContenderId) -> Option<VirtualTime> {
    at(
        run,
        |what| matches!(what, EventKind::Acquired { by, .. } if *by == who),
    )
}

/// The second never gets the lock.
fn shut_out(run: &Run) -> bool {
    enters(run, B).is_none()
}

/// The first does nothing any more.
fn silent(run: &Run) -> bool {
    at(run, |what| {
        matches!(
            what,
            EventKind::Writing { by: A, .. } | EventKind::ReleaseStarted { by: A, .. }
        )
    })
    .is_none()
}

/// It takes the second more than a second to get what the first gives back.
fn late(run: &Run) -> bool {
    let left = at(run, |what| {
        matches!(what, EventKind::ReleaseStarted { by: A, .. })
    });
    let entered = enters(run, B);
    left.zip(entered)
        .is_some_and(|(left, entered)| entered - left > seconds(1))
}

/// Something in the way of the second.
fn hole(direction: Direction) -> Fault {
    Fault::BlackHole {
        target: SECOND,
        direction,
        length: FaultDuration::ForGood,
    }
}

/// A slow link, both ways.
fn slow(target: ContenderName, millis: u64) -> Fault {
    Fault::SlowLink {
        target,
        direction: Direction::Both,
        by: Duration::from_millis(millis),
        length: FaultDuration::ForGood,
    }
}

fn at_contenders() -> Vec<Row> {
    let length = FaultDuration::ForGood;
    vec![
        row(
            ensemble(3),
            Fault::Pause {
                target: FIRST,
                length,
            },
            silent,
        ),
        row(
            redis(),
            Fault::Pause {
                target: FIRST,
                length,
            },
            silent,
        ),
        row(
            ensemble(3),
            Fault::Crash {
                target: FIRST,
                restart_after: None,
            },
            silent,
        ),
        row(
            ensemble(3),
            Fault::BlockEvents {
                target: SECOND,
                length,
            },
            shut_out,
        ),
        row(
            redis(),
            Fault::BlockEvents {
                target: SECOND,
                length,
            },
            shut_out,
        ),
        row(ensemble(3), hole(Direction::Both), shut_out),
        row(redis(), hole(Direction::ToClient), shut_out),
        row(redis(), slow(SECOND, 30_000), shut_out),
        row(redis(), slow(FIRST, 600), late),
    ]
}

fn dies() -> Fault {
    Fault::CrashServer {
        target: ONLY,
        restart_after: None,
    }
}

fn loses_power() -> Fault {
    Fault::PowerLoss {
        target: ONLY,
        restart_after: None,
    }
}

fn at_servers() -> Vec<Row> {
    let length = FaultDuration::ForGood;
    let target = ONLY;
    let two = [0, 1].map(ServerName::Number).to_vec();
    vec![
        row(redis(), dies(), shut_out).undecided("the only server is dead for good"),
        row(redis(), loses_power(), shut_out).undecided("the only server is dead for good"),
        row(ensemble(1), Fault::HangServer { target, length }, shut_out)
            .undecided("the only server stands still for good"),
        row(redis(), Fault::HangServer { target, length }, shut_out)
            .undecided("the only server stands still for good"),
        row(redis(), Fault::FullMemory { target, length }, shut_out)
            .undecided("full for good: no server that is left takes a write"),
        row(redis(), Fault::FullDisk { target, length }, shut_out)
            .undecided("full for good: no server that is left takes a write"),
        row(
            ensemble(3),
            Fault::Partition {
                servers: two,
                contenders: vec![FIRST],
                length,
            },
            shut_out,
        ),
        row(
            ensemble(3),
            Fault::HoldLink {
                from: [1, 2].map(ServerName::Number).to_vec(),
                to: ServerName::Number(0),
                length,
            },
            |run| run.for_good.service.is_some(),
        ),
        row(
            ensemble(3),
            Fault::LagServer {
                target: ServerName::Of(SECOND),
                by: seconds(2),
                length,
            },
            late,
        ),
        row(
            ensemble(1),
            Fault::SlowDisk {
                target,
                fsync: Duration::from_millis(1_500),
                length,
            },
            late,
        ),
        row(
            ensemble(3),
            Fault::IsolateServer {
                target: ServerName::Leader,
                length,
            },
            |run| enters(run, B).is_some(),
        ),
    ]
}

fn run(row: &Row) -> Run {
    let algorithm = match &row.service {
        Service::ZooKeeper(_) => "zk-hardened",
        _ => "redis-compare-and-delete",
    };
    let mut fault = planned(acquired(), row.fault.clone());
    fault.text = "full for good".to_owned();
    // The second is there when it strikes.
    fault.after = Duration::from_millis(200);
    simulate(&plan_on(row.service.clone(), algorithm, vec![fault]), 1).run
}

fn progress(run: &Run) -> Verdict {
    let invariant = INVARIANTS.iter().find(|known| known.name == "progress");
    invariant.expect("an invariant").verdict(run)
}

#[test]
fn whatever_is_without_an_end_is_in_force_in_the_calm_and_progress_is_judged_by_it() {
    for row in at_contenders().iter().chain(&at_servers()) {
        let run = run(row);
        let name = format!("{:?}", row.fault);
        assert!(row.fault.is_for_good(), "{name}");
        assert!(
            at(&run, |what| matches!(what, EventKind::CalmBegan)).is_some(),
            "{name}"
        );
        let healed = |what: &EventKind| matches!(what, EventKind::FaultHealed { .. });
        assert_eq!(at(&run, healed), None, "{name}");
        assert!((row.in_force)(&run), "{name}");
        let expected = row.undecided.map(|why| Verdict::Undecided(why.to_owned()));
        assert_eq!(progress(&run), expected.unwrap_or(Verdict::Holds), "{name}");
    }
}

#[test]
fn every_fault_that_can_be_without_an_end_has_a_row() {
    let rows: Vec<Fault> = at_contenders()
        .into_iter()
        .chain(at_servers())
        .map(|row| row.fault)
        .collect();
    let mut kinds: Vec<_> = rows.iter().map(std::mem::discriminant).collect();
    kinds.sort_by_key(|kind| format!("{kind:?}"));
    kinds.dedup();
    assert_eq!(kinds.len(), 15);
}

#[test]
fn when_all_are_cut_off_for_good_progress_is_undecided() {
    let fault = |target| {
        let inject = Fault::BlackHole {
            target,
            direction: Direction::Both,
            length: FaultDuration::ForGood,
        };
        planned(acquired(), inject)
    };
    let faults = [FIRST, SECOND].map(fault).to_vec();
    let run = simulate(&plan_on(ensemble(3), "zk-hardened", faults), 1).run;
    let why = "contender-1 is cut off for good";
    assert_eq!(progress(&run), Verdict::Undecided(why.to_owned()));
}

#[test]
fn what_heals_does_not_heal_what_is_for_good() {
    let ends = FaultDuration::For(seconds(1));
    let good = FaultDuration::ForGood;
    let pairs: [fn(FaultDuration) -> Fault; 4] = [
        |length| Fault::Pause {
            target: FIRST,
            length,
        },
        |length| Fault::BlackHole {
            target: FIRST,
            direction: Direction::Both,
            length,
        },
        |length| Fault::HangServer {
            target: ONLY,
            length,
        },
        |length| Fault::FullMemory {
            target: ONLY,
            length,
        },
    ];
    for fault in pairs {
        for lengths in [[good, ends], [ends, good]] {
            let faults = lengths.map(|length| planned(acquired(), fault(length)));
            let run = simulate(
                &plan_on(redis(), "redis-compare-and-delete", faults.to_vec()),
                1,
            )
            .run;
            let released = at(&run, |what| {
                matches!(what, EventKind::Released { by: A, .. })
            });
            let shut = released.is_none() || shut_out(&run);
            assert!(shut, "{:?}", fault(good));
        }
    }
}

#[test]
fn a_drift_ends_when_it_says_so() {
    let drift = Fault::ClockDrift {
        target: FIRST,
        parts_per_million: 10_000,
        length: Some(seconds(2)),
    };
    let history = history_on(
        ensemble(3),
        "zk-hardened",
        vec![planned(Trigger::At(seconds(1)), drift)],
    );
    let healed = history
        .events
        .iter()
        .find(|event| matches!(event.what, EventKind::FaultHealed { .. }));
    assert_eq!(
        healed.map(|event| event.at),
        Some(VirtualTime::ZERO + seconds(3))
    );
    assert!(
        history
            .events
            .iter()
            .all(|event| event.at < VirtualTime::ZERO + LONG)
    );
}

#[test]
fn a_settled_hold_does_not_wait_for_one_cut_off_for_good() {
    let faults = vec![planned(acquired(), hole(Direction::Both))];
    let mut plan = plan_on(ensemble(3), "zk-hardened", faults);
    plan.workload.hold = Hold::Settled;
    plan.workload.contenders = 3;
    let run = simulate(&plan, 1).run;
    assert_eq!(progress(&run), Verdict::Holds);
    assert!(enters(&run, ContenderId(2)).is_some());
}
