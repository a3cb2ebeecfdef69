use picklock_sim::plan::{
    ContenderName, Ensemble, LockCall, Network, Resource, ServerName, Service, Trigger, Workload,
};

use super::*;

const TARGET: ContenderName = ContenderName(0);

/// A world with sessions of 6 s.
fn plan(fenced: bool) -> Plan {
    Plan {
        recipe: picklock_algorithms::registry::RECIPES[0],
        service: Service::ZooKeeper(Ensemble {
            session_timeout: Duration::from_secs(6),
            ..Ensemble::default()
        }),
        network: Network::default(),
        workload: Workload::default(),
        resource: Resource { fenced },
        faults: Vec::new(),
        event_budget: 1,
    }
}

/// What is excused there under these faults.
fn excused(fenced: bool, faults: &[Fault]) -> Vec<&'static str> {
    excused_in(&plan(fenced), faults)
}

fn excused_in(plan: &Plan, faults: &[Fault]) -> Vec<&'static str> {
    let planned = faults.iter().map(|inject| PlannedFault {
        when: Trigger::At(Duration::ZERO),
        after: Duration::ZERO,
        repeat: None,
        inject: inject.clone(),
        text: String::new(),
    });
    let faults: Vec<PlannedFault> = planned.collect();
    let excuses = excuses(plan, &faults).into_iter();
    excuses.map(|excuse| excuse.invariant).collect()
}

fn pause(length: Duration) -> Fault {
    let target = TARGET;
    Fault::Pause {
        target,
        length: length.into(),
    }
}

#[test]
fn a_pause_is_an_excuse_only_if_the_session_can_end_in_it() {
    let believers = ["mutual-exclusion", "no-lost-update", "fifo"];
    assert!(excused(true, &[pause(Duration::from_millis(1_900))]).is_empty());
    assert_eq!(excused(true, &[pause(Duration::from_secs(2))]), believers);
}

#[test]
fn an_owner_whose_connection_breaks_for_longer_than_a_session_lives_may_own_unknowingly() {
    let target = TARGET;
    let mut breaks = vec![Fault::Cut { target }; 5];
    assert!(excused(true, &breaks).is_empty());
    breaks.push(Fault::LoseReply { target });
    assert_eq!(excused(true, &breaks), ["no-orphan"]);
    // Those of others do not count.
    breaks[0] = Fault::Cut {
        target: ContenderName(1),
    };
    assert!(excused(true, &breaks).is_empty());
    // Far away, each takes longer.
    let mut far = plan(true);
    far.network.client_latency.1 = Duration::from_millis(100);
    assert_eq!(excused_in(&far, &breaks), ["no-orphan"]);
}

#[test]
fn blocked_events_excuse_overlaps_only_if_there_is_a_loss() {
    let (target, length) = (TARGET, Duration::from_secs(2));
    let (cut, long) = (
        Fault::Cut { target },
        Fault::BlockEvents {
            target,
            length: length.into(),
        },
    );
    assert_eq!(excused(true, std::slice::from_ref(&long)), ["no-orphan"]);
    assert!(excused(true, &[long, cut]).contains(&"mutual-exclusion"));
}

#[test]
fn a_fence_keeps_stale_writes_out_whatever_happens() {
    let long = pause(Duration::from_secs(20));
    assert!(excused(false, std::slice::from_ref(&long)).contains(&"no-stale-effect"));
    assert!(!excused(true, &[long]).contains(&"no-stale-effect"));
}

#[test]
fn several_short_ones_are_as_bad_as_a_long_one() {
    let short = pause(Duration::from_millis(1_100));
    assert!(excused(true, &[short.clone(), short]).contains(&"mutual-exclusion"));
}

#[test]
fn what_a_client_can_see_is_no_excuse() {
    let target = TARGET;
    let seen = [
        Fault::Cut { target },
        Fault::Cancel {
            target,
            call: LockCall::Acquire,
        },
        Fault::LoseReply { target },
        Fault::LoseRequest { target },
        Fault::Crash {
            target,
            restart_after: None,
        },
        Fault::ClockJump {
            target,
            by_millis: -7_200_000,
        },
    ];
    assert!(excused(true, &seen).is_empty());
    let crash = Fault::CrashServer {
        target: ServerName::Leader,
        restart_after: None,
    };
    assert_eq!(excused(true, &[crash]), ["no-orphan"]);
}

#[test]
fn old_news_of_a_dead_link_is_an_excuse_if_another_keeps_silent_from_then_on() {
    let dead = |target, direction, millis| Fault::BlackHole {
        target,
        direction,
        length: Duration::from_millis(millis).into(),
    };
    let brings = dead(TARGET, Direction::Both, 3_300);
    let keeps = dead(TARGET, Direction::Both, 9_000);
    let of = |faults: &[&Fault]| {
        let faults: Vec<Fault> = faults.iter().map(|fault| (*fault).clone()).collect();
        excused(true, &faults).contains(&"mutual-exclusion")
    };
    assert!(of(&[&brings, &keeps]) && of(&[&keeps, &brings]));
    assert!(!of(&[&brings]) && !of(&[&keeps]));
    let of_another = dead(ContenderName(1), Direction::Both, 9_000);
    assert!(!of(&[&brings, &of_another]));
    let too_short = dead(TARGET, Direction::Both, 3_900);
    assert!(!of(&[&brings, &too_short]));
}

#[test]
fn a_client_unheard_for_most_of_a_session_can_believe_too_long() {
    let mute_for = |millis| {
        let fault = Fault::BlackHole {
            target: TARGET,
            direction: Direction::ToServer,
            length: Duration::from_millis(millis).into(),
        };
        excused(true, &[fault]).contains(&"mutual-exclusion")
    };
    // Two thirds of six seconds, and half a tick of two until a follower's news is the leader's.
    assert!(!mute_for(2_999) && mute_for(3_000));
}

#[test]
fn broken_connections_and_a_pause_hold_an_owner_up_together() {
    let (target, short) = (TARGET, pause(Duration::from_millis(1_900)));
    let lost = vec![Fault::LoseReply { target }; 3];
    assert!(excused(true, &lost).is_empty());
    let with_pause = [&lost[..], std::slice::from_ref(&short)].concat();
    assert_eq!(excused(true, &with_pause), ["no-orphan"]);
    assert!(excused(true, &with_pause[1..]).is_empty());
}

#[test]
fn a_client_that_dies_behind_a_dead_link_is_heard_later() {
    let (target, direction) = (TARGET, Direction::Both);
    let dead_for = |length| Fault::BlackHole {
        target,
        direction,
        length,
    };
    let crash = Fault::Crash {
        target,
        restart_after: None,
    };
    let long = dead_for(Duration::from_secs(2).into());
    assert!(excused(true, std::slice::from_ref(&long)).is_empty());
    assert_eq!(excused(true, &[long, crash.clone()]), ["no-orphan"]);
    let short = dead_for(Duration::from_millis(1_900).into());
    assert!(excused(true, &[short, crash]).is_empty());
}

#[test]
fn some_promises_are_never_excused() {
    let target = TARGET;
    let all = [
        pause(Duration::from_secs(60)),
        Fault::ExpireSession { target },
        Fault::RecreateLock,
        Fault::IsolateServer {
            target: ServerName::Leader,
            length: Duration::from_secs(60).into(),
        },
    ];
    let excused = excused(false, &all);
    for never in [
        "exclusive-ownership",
        "fencing-monotonic",
        "own-release-only",
        "honest-answer",
        "progress",
    ] {
        assert!(!excused.contains(&never), "{never}");
    }
}

#[test]
fn no_lock_goes_on_without_an_answer_unless_requests_have_a_timeout() {
    let target = TARGET;
    let swallowed = [Fault::SwallowReply { target }];
    assert_eq!(excused(true, &swallowed), ["no-orphan", "progress"]);
    let mut plan = plan(true);
    if let Service::ZooKeeper(ensemble) = &mut plan.service {
        ensemble.request_timeout = Some(Duration::from_secs(5));
    }
    assert!(excused_in(&plan, &swallowed).is_empty());
}

#[test]
fn code_that_takes_as_long_as_a_harmful_pause_is_an_excuse_where_there_is_something_to_be_told() {
    let takes = |millis| {
        let mut plan = plan(true);
        let time = Duration::from_millis(millis);
        plan.workload.processing = (Duration::ZERO, time);
        plan
    };
    let cut = [Fault::Cut { target: TARGET }];
    assert!(excused_in(&takes(400), &cut).is_empty());
    assert_eq!(excused_in(&takes(600), &cut), ["no-orphan"]);
    assert!(excused_in(&takes(2_000), &cut).contains(&"mutual-exclusion"));
    assert!(!excused_in(&takes(2_000), &[]).contains(&"mutual-exclusion"));
    let with_pause = |millis| excused_in(&takes(millis), &[pause(Duration::from_millis(1_900))]);
    assert!(with_pause(90).is_empty() && with_pause(100).contains(&"mutual-exclusion"));
}

#[test]
fn a_lease_allows_for_code_that_takes_less_than_a_hundredth_of_it_and_less_where_clocks_drift() {
    let excused = |millis, faults: &[Fault]| {
        let mut plan = plan(true);
        plan.service = Service::Redis(picklock_sim::plan::Deployment {
            lease: Duration::from_secs(10),
            ..Default::default()
        });
        plan.workload.processing.1 = Duration::from_millis(millis);
        excused_in(&plan, faults).contains(&"mutual-exclusion")
    };
    assert!(!excused(100, &[]) && excused(101, &[]));
    let drift = |parts_per_million| Fault::ClockDrift {
        target: TARGET,
        parts_per_million,
        length: None,
    };
    assert!(!excused(0, &[drift(-10_000)]) && !excused(50, &[drift(-5_000)]));
    assert!(excused(51, &[drift(-5_000)]));
}

#[test]
fn dead_links_of_two_tasks_of_a_process_are_those_of_one() {
    let dead = |target, direction, millis| Fault::BlackHole {
        target: ContenderName(target),
        direction,
        length: Duration::from_millis(millis).into(),
    };
    // One brings old news, the other keeps its own word back until it would notice.
    let faults = [
        dead(0, Direction::Both, 3_300),
        dead(1, Direction::Both, 9_000),
    ];
    let apart = plan(true);
    assert!(!excused_in(&apart, &faults).contains(&"mutual-exclusion"));
    let mut together = apart.clone();
    together.workload.tasks_per_process = 3;
    assert!(excused_in(&together, &faults).contains(&"mutual-exclusion"));
}

#[test]
fn of_a_party_whose_node_is_deleted_from_outside_no_barrier_knows() {
    let deleted = [Fault::DeleteNode { of: TARGET }];
    assert!(!excused(true, &deleted).contains(&"barrier"));
    let mut barrier = plan(false);
    barrier.recipe =
        *picklock_algorithms::registry::find("zk-double-barrier").expect("it is known");
    let excused = |faults: &[Fault]| {
        let all = excused_in(&barrier, faults);
        ["barrier", "progress"].map(|invariant| all.contains(&invariant))
    };
    assert_eq!(excused(&deleted), [true, true]);
    assert_eq!(excused(&[Fault::RecreateLock]), [true, true]);
    assert_eq!(excused(&[pause(Duration::from_secs(60))]), [false, false]);
}

#[test]
fn a_barrier_that_an_operator_removes_is_gone_and_all_pass() {
    let mut barrier = plan(false);
    barrier.recipe = *picklock_algorithms::registry::find("zk-barrier-sync").expect("it is known");
    let all = excused_in(&barrier, &[Fault::RecreateLock]);
    assert!(
        all.contains(&"barrier") && !all.contains(&"progress"),
        "{all:?}"
    );
}

#[test]
fn a_promotion_makes_two_primaries_until_one_is_told() {
    let mut plan = plan(true);
    plan.service = Service::Redis(picklock_sim::plan::Deployment {
        replicas: 1,
        ..Default::default()
    });
    let target = ServerName::Number(1);
    let excused = |fault| excused_in(&plan, &[fault]).contains(&"exclusive-ownership");
    assert!(excused(Fault::Promote { target }));
    let length = Duration::from_secs(1).into();
    assert!(!excused(Fault::HangServer { target, length }));
}
