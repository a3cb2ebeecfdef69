//! Cases over Redis: those over ZooKeeper, with what only ZooKeeper has taken for something else.

use std::time::Duration;

use picklock_algorithms::Claim;
use picklock_algorithms::clients::{RequestKind, ServiceKind};
use picklock_scenarios::{Case, describe};
use picklock_sim::plan::{
    Cluster, ConnectionMode, Deployment, Fault, FaultDuration, FaultKind, Fsync, KeyspaceEvents,
    Persistence, PlannedFault, ReadFrom, Sentinels, ServerName, ServerVersion, Service,
    SwitchMaster, Trigger,
};
use proptest::prelude::*;

use super::barriers;
use super::plans;

fn deployment() -> BoxedStrategy<Deployment> {
    let time = || (1_u64..100_000_000).prop_map(Duration::from_micros);
    (
        prop_oneof![Just(1), 1_u8..=15],
        time(),
        time(),
        0_u32..=100,
        time(),
        time(),
    )
        .prop_map(
            |(servers, lease, timeout, retries, retry_pause, command_time)| Deployment {
                version: ServerVersion::ALL[(retries % 5) as usize].1,
                servers,
                replicas: if servers == 1 && retries % 3 > 0 {
                    2
                } else {
                    0
                },
                sentinels: (servers == 1 && retries % 3 == 1).then(|| Sentinels {
                    down_after: lease,
                    ..Sentinels::of(5)
                }),
                cluster: (servers == 1 && retries % 3 == 0).then(|| Cluster {
                    node_timeout: timeout,
                    validity_factor: retries,
                    ..Cluster::of(3, (retries % 4) as u8)
                }),
                poll: (servers == 1 && retries % 3 < 2 && retries > 5).then_some(timeout),
                switch_master: match servers == 1 && retries % 3 == 1 {
                    true => SwitchMaster::ALL[(retries / 3) as usize % 3].1,
                    false => SwitchMaster::Nowhere,
                },
                persistence: Persistence::Log(Fsync::EverySecond),
                load_time: lease,
                notify_keyspace_events: KeyspaceEvents::parse(match retries % 3 {
                    0 => "",
                    1 => "KEAn",
                    _ => "xgE",
                })
                .unwrap_or_default(),
                busy_reply_threshold: timeout,
                serve_stale_data: retries % 2 == 0,
                min_replicas_to_write: 0,
                min_replicas_max_lag: Duration::from_secs(10),
                lease,
                timeout,
                connect_timeout: retry_pause + timeout,
                retries: if retries % 5 == 0 { 0 } else { retries },
                retry_pause,
                // In a cluster, clients follow rules of their own.
                retry_pause_max: (retries % 3 > 0 || servers > 1).then_some(retry_pause * 8),
                replay: retries % 5 == 0 && (retries % 3 > 0 || servers > 1),
                tcp_user_timeout: (retries % 7 > 0).then_some(lease),
                resend: retries % 2 == 0,
                close_on_timeout: [None, Some(true), Some(false)][(retries / 2) as usize % 3],
                read_from: read_from(retries, servers),
                connections: match retries {
                    0..50 => ConnectionMode::Multiplexed,
                    size => ConnectionMode::Pool(size as u8),
                },
                command_time,
            },
        )
        .boxed()
}

/// Without replicas there is no other server to read from.
fn read_from(retries: u32, servers: u8) -> ReadFrom {
    match (retries % 4, servers) {
        (1, 1) => ReadFrom::Any,
        (2, 1) => ReadFrom::Replicas,
        _ => ReadFrom::Primary,
    }
}

/// Any case over Redis.
pub fn case() -> BoxedStrategy<Case> {
    let kinds: Vec<_> = RequestKind::of_service(ServiceKind::Redis).collect();
    (
        plans::case(),
        deployment(),
        any::<usize>(),
        prop::sample::select(kinds),
        any::<i32>(),
    )
        .prop_map(|(mut case, mut deployment, recipe, kind, jump)| {
            // An answer can be in time.
            let round_trip = case.plan.latency_at_most() * 2;
            deployment.timeout = deployment.timeout.max(round_trip);
            deployment.connect_timeout = deployment.connect_timeout.max(round_trip);
            let mut recipe = plans::recipe_on(ServiceKind::Redis, recipe);
            if case.plan.faults.iter().any(super::kept::cancels) && !recipe.cancellable {
                recipe = plans::recipe_on(ServiceKind::Redis, 0);
            }
            if let Some(usual) = Service::for_build(recipe.build).get::<Deployment>()
                && recipe.build.variants().is_some()
            {
                deployment.version = usual.version;
            }
            case.algorithm = recipe;
            case.plan.recipe = recipe;
            plans::without_reads_of_a_mutex(&mut case.plan.workload, &recipe);
            plans::with_permits_of_a_semaphore(&mut case.plan.workload, &recipe);
            plans::with_locks_at_once(&mut case.plan.workload, &recipe);
            plans::shared(&mut case.plan.workload, &recipe);
            barriers::fit(&recipe, &mut case.plan.workload, &mut case.expectations);
            case.plan.resource.fenced &= recipe.claims.contains(&Claim::FencingMonotonic);
            let jump = i64::from(jump | 1);
            for (place, fault) in case.plan.faults.iter_mut().enumerate() {
                let server = match &deployment.sentinels {
                    Some(_) if matches!(fault.inject, Fault::HangServer { .. }) => {
                        ServerName::Sentinel(place as u32 % 5)
                    }
                    _ => ServerName::Number((place % usize::from(deployment.servers)) as u32),
                };
                let sides = deployment.servers > 1 || deployment.replicas > 0;
                over(fault, kind, (server, sides), jump);
            }
            case.plan.service = Service::Redis(deployment);
            case
        })
        .boxed()
}

/// `sides` says whether there are so many servers that a partition leaves some on each side.
fn over(
    planned: &mut PlannedFault,
    kind: RequestKind,
    (server, sides): (ServerName, bool),
    jump: i64,
) {
    match &mut planned.when {
        Trigger::Sent { request, at, .. }
        | Trigger::Answered { request, at, .. }
        | Trigger::Received { request, at, .. } => {
            (*request, *at) = (kind, at.map(|_| server));
        }
        Trigger::Committed { request, .. } => *request = kind,
        Trigger::Proposed { by, nth, .. } => {
            let (request, by, nth) = (kind, *by, *nth);
            planned.when = Trigger::Committed { request, by, nth };
        }
        Trigger::Queued { by, nth } => {
            planned.when = Trigger::Waiting { by: *by, nth: *nth };
        }
        Trigger::SessionExpired { by } => {
            planned.when = Trigger::Told { by: *by, nth: 1 };
        }
        Trigger::Disconnected { by, nth }
        | Trigger::Reconnected { by, nth }
        | Trigger::SessionLost { by, nth } => {
            let (request, by, nth) = (kind, *by, *nth);
            planned.when = Trigger::Streamed { request, by, nth };
        }
        Trigger::Applied { request, at, .. } => (*request, *at) = (kind, server),
        _ => {}
    }
    match &mut planned.inject {
        Fault::Cut { target } if matches!(planned.when, Trigger::Told { by, .. } if by == *target) =>
        {
            let target = *target;
            planned.inject = Fault::LoseMessage { target };
            // It strikes the message that the trigger speaks of, and so at once, and not by the clock.
            planned.after = Duration::ZERO;
            planned.repeat = planned.repeat.filter(|repeat| repeat.every.is_none());
        }
        Fault::CrashServer { target, .. } | Fault::HangServer { target, .. } => *target = server,
        Fault::Partition { servers, .. } if sides => *servers = vec![server],
        other
            if FaultKind::of(other).service() == Some(ServiceKind::ZooKeeper)
                || matches!(
                    other,
                    Fault::HoldLink { .. } | Fault::IsolateServer { .. } | Fault::Partition { .. }
                ) =>
        {
            planned.inject = of_redis(server, jump);
        }
        _ => {}
    }
    let again = !planned.inject.is_for_good() && !planned.overlaps_itself();
    planned.repeat = planned.repeat.filter(|_| again);
    describe::update_text(planned);
}

/// A fault that only Redis has.
fn of_redis(server: ServerName, jump: i64) -> Fault {
    let length = Duration::from_millis(jump.unsigned_abs());
    let length = FaultDuration::from((jump % 13 != 0).then_some(length));
    if jump % 17 == 0 {
        Fault::SlowScript {
            target: server,
            length: Duration::from_millis(jump.unsigned_abs()),
        }
    } else if jump % 7 == 0 {
        Fault::FullMemory {
            target: server,
            length,
        }
    } else if jump % 11 == 0 {
        Fault::FullDisk {
            target: server,
            length,
        }
    } else if jump % 3 == 0 {
        Fault::EvictKey { target: server }
    } else if jump % 5 == 0 {
        Fault::PowerLoss {
            target: server,
            restart_after: None,
        }
    } else {
        Fault::ServerClockJump {
            target: server,
            by_millis: jump,
        }
    }
}
