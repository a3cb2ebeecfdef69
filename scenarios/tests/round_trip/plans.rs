//! Cases with any plan that a scenario file can say.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_algorithms::clients::{RequestKind, ServiceKind};
use picklock_algorithms::registry::RECIPES;
use picklock_algorithms::{Claim, Recipe};
use picklock_scenarios::{Case, Expectation, Measure, Want, describe};
use picklock_sim::plan::Library;
use picklock_sim::plan::Version;
use picklock_sim::plan::{Strategy as Chance, *};
use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::kept::{cancels, kept};
use super::regions::regions;

fn micros(range: std::ops::Range<u64>) -> BoxedStrategy<Duration> {
    range.prop_map(Duration::from_micros).boxed()
}

fn length() -> BoxedStrategy<Duration> {
    micros(1..1_000_000_000)
}

fn lasts() -> BoxedStrategy<FaultDuration> {
    prop::option::of(length())
        .prop_map(FaultDuration::from)
        .boxed()
}

fn maybe_zero() -> BoxedStrategy<Duration> {
    prop_oneof![Just(Duration::ZERO), length()].boxed()
}

pub fn span() -> BoxedStrategy<(Duration, Duration)> {
    (maybe_zero(), maybe_zero())
        .prop_map(|(from, more)| (from, from + more))
        .boxed()
}

fn ensemble() -> BoxedStrategy<Ensemble> {
    let servers = (prop::sample::select(vec![1_u8, 3, 5]), 0_u8..=5);
    let limits = (1_u32..=10_000, 1_u32..=10_000);
    let times = [(); 5].map(|()| maybe_zero());
    let versions = prop::sample::select(Version::ALL.to_vec());
    let libraries = prop::sample::select(Library::ALL.to_vec());
    let clients = (
        versions,
        libraries,
        prop::option::of(length()),
        any::<bool>(),
    );
    let nodes = (
        any::<bool>(),
        length(),
        prop::sample::select(LockNode::ALL.to_vec()),
    );
    let granted = (prop::option::of(2_u32..=9), prop::option::of(9_u32..=30));
    let ticks = (2_u32..=20, granted);
    (servers, length(), limits, ticks, times, (clients, nodes))
        .prop_map(
            |(
                (servers, observers),
                tick,
                (sync_limit, init_limit),
                (ticks, (least, most)),
                times,
                (
                    ((_, version), (_, library), request_timeout, read_only),
                    (extended_types, container_check_interval, (_, lock_node)),
                ),
            )| Ensemble {
                servers,
                observers: if servers > 1 { observers } else { 0 },
                tick,
                sync_limit,
                init_limit,
                session_timeout: tick * ticks,
                min_session_timeout: least.map(|ticks| tick * ticks),
                max_session_timeout: most.map(|ticks| tick * ticks),
                fsync: times[0],
                read_time: times[1],
                write_time: times[2],
                notification_time: times[3],
                proposal_time: times[4],
                version,
                library,
                request_timeout,
                jute_max_buffer: 1_024 + u32::from(servers) * 1_000_000,
                read_only: read_only && servers > 1 && library == Library::Java,
                extended_types,
                container_check_interval,
                lock_node,
            },
        )
        .boxed()
}

fn workload() -> BoxedStrategy<Workload> {
    let arrive = prop_oneof![
        Just(Arrival::Together),
        Just(Arrival::InOrder),
        Just(Arrival::BehindHolder),
        Just(Arrival::InOrderBehindHolder),
        length().prop_map(Arrival::Within),
    ];
    let hold = prop_oneof![Just(Hold::Settled), maybe_zero().prop_map(Hold::For)];
    let section = prop_oneof![
        Just(Section::Write),
        Just(Section::Count),
        Just(Section::Nothing),
        (1_i64..1_000_000).prop_map(|stock| Section::Sell { stock }),
        length().prop_map(|delay| Section::DelayedWrite { delay }),
    ];
    let bounds = (prop::option::of(length()), prop::option::of(length()));
    let locks = prop_oneof![Just(1_u32), 2..=LockName::MOST];
    let numbers = (1_u32..=100, 1_u32..=1_000, 0_u32..=100, locks);
    let calls = (prop::option::of(length()), 1_u32..=1_000);
    let times = (length(), bounds, calls);
    (numbers, arrive, hold, span(), section, times)
        .prop_map(
            |(numbers, arrive, hold, think, section, (bystander_every, bounds, calls))| Workload {
                contenders: numbers.0,
                locks: numbers.3.min(numbers.0 * numbers.1),
                arrive,
                rounds: numbers.1,
                acquire_timeout: calls.0,
                reentrancy_depth: calls.1,
                hold,
                think,
                section,
                bystanders: numbers.2,
                bystander_every,
                contender_settings: BTreeMap::new(),
                progress_bound: bounds.0,
                storm: bounds.1,
            },
        )
        .prop_flat_map(|workload| {
            let own = prop::collection::btree_map(contender(workload.contenders), settings(), 0..3);
            (Just(workload), own).prop_map(|(workload, contender_settings)| {
                let workload = Workload {
                    contender_settings,
                    ..workload
                };
                with_locks_that_are_taken(workload)
            })
        })
        .boxed()
}

/// Of the locks of a workload, those that there are sections for.
fn with_locks_that_are_taken(mut workload: Workload) -> Workload {
    workload.locks = workload.locks.min(workload.sections());
    for own in workload.contender_settings.values_mut() {
        for lock in &mut own.locks {
            lock.0 %= workload.locks;
        }
    }
    workload
}

/// What one contender does otherwise; not nothing.
fn settings() -> BoxedStrategy<ContenderSettings> {
    let hold = prop_oneof![length().prop_map(Hold::For), Just(Hold::Settled)];
    let times = (
        prop::option::of(hold),
        prop::option::of(span()),
        prop::option::of(length()),
    );
    let others = (
        prop::option::of(1_u32..1_000),
        prop::option::of(span()),
        -1_000_000_i64..1_000_000,
        prop::collection::vec((0..LockName::MOST).prop_map(LockName), 0..3),
    );
    (times, others)
        .prop_map(
            |((hold, think, acquire_timeout), (rounds, latency, clock_offset_millis, locks))| {
                ContenderSettings {
                    hold,
                    rounds,
                    locks,
                    think,
                    acquire_timeout,
                    latency,
                    clock_offset_millis,
                }
            },
        )
        .prop_filter("it says something", |it| {
            *it != ContenderSettings::default()
        })
        .boxed()
}

fn recipes_on(service: ServiceKind) -> impl Iterator<Item = &'static Recipe> {
    let all = RECIPES.iter();
    all.filter(move |recipe| recipe.build.service() == service)
}

/// One of the recipes on a service, by a number that may be too high.
pub fn recipe_on(service: ServiceKind, number: usize) -> Recipe {
    let number = number % recipes_on(service).count();
    *recipes_on(service).nth(number).expect("there is one")
}

fn kinds_of_zookeeper() -> Vec<RequestKind> {
    RequestKind::of_service(ServiceKind::ZooKeeper).collect()
}

fn contender(contenders: u32) -> BoxedStrategy<ContenderName> {
    (0..contenders).prop_map(ContenderName).boxed()
}

fn server(contenders: u32, (servers, observers): (u8, u8)) -> BoxedStrategy<ServerName> {
    let servers = u32::from(servers);
    let of = contender(contenders).prop_map(ServerName::Of);
    let number = (0..servers).prop_map(ServerName::Number);
    match servers {
        1 => prop_oneof![Just(ServerName::Leader), of, number].boxed(),
        several => {
            let follower = (0..several - 1).prop_map(ServerName::Follower);
            let named = prop_oneof![Just(ServerName::Leader), of, number, follower];
            match observers {
                0 => named.boxed(),
                _ => {
                    let observer = (0..u32::from(observers)).prop_map(ServerName::Observer);
                    prop_oneof![4 => named, 1 => observer].boxed()
                }
            }
        }
    }
}

type OfStep = fn((ContenderName, u32)) -> Trigger;
type OfRequest = fn((RequestKind, (ContenderName, u32))) -> Trigger;

const STEPS: [OfStep; 9] = [
    |(by, nth)| Trigger::Acquiring { by, nth },
    |(by, nth)| Trigger::Queued { by, nth },
    |(by, nth)| Trigger::Waiting { by, nth },
    |(by, nth)| Trigger::Acquired { by, nth },
    |(by, nth)| Trigger::Releasing { by, nth },
    |(by, nth)| Trigger::Released { by, nth },
    |(by, nth)| Trigger::Disconnected { by, nth },
    |(by, nth)| Trigger::Reconnected { by, nth },
    |(by, nth)| Trigger::SessionLost { by, nth },
];

const REQUESTS: [OfRequest; 2] = [
    |(request, (by, nth))| Trigger::Sent { request, by, nth },
    |(request, (by, nth))| Trigger::Answered { request, by, nth },
];

const WRITES: [OfRequest; 3] = [
    |(request, (by, nth))| Trigger::Proposed { request, by, nth },
    |(request, (by, nth))| Trigger::Committed { request, by, nth },
    |(request, (by, nth))| Trigger::Applied {
        request,
        by,
        nth,
        at: ServerName::Of(by),
    },
];

fn trigger(contenders: u32, place: usize, writes: bool) -> BoxedStrategy<Trigger> {
    let step = || (contender(contenders), 1_u32..=1_000);
    let any = || prop::sample::select(kinds_of_zookeeper());
    let writing = || {
        prop::sample::select(vec![
            RequestKind::Create,
            RequestKind::Delete,
            RequestKind::SetData,
            RequestKind::Multi,
        ])
    };
    let mut all = vec![
        maybe_zero().prop_map(Trigger::At).boxed(),
        contender(contenders)
            .prop_map(|by| Trigger::SessionExpired { by })
            .boxed(),
        (1_u32..=1_000)
            .prop_map(|nth| Trigger::Elected { nth })
            .boxed(),
    ];
    all.extend(STEPS.map(|make| step().prop_map(make).boxed()));
    all.extend(REQUESTS.map(|make| (any(), step()).prop_map(make).boxed()));
    all.extend(WRITES.map(|make| (writing(), step()).prop_map(make).boxed()));
    if writes {
        let make: OfStep = |(by, nth)| Trigger::Writing { by, nth };
        all.push(step().prop_map(make).boxed());
    }
    if place > 0 {
        all.push(
            (0..place)
                .prop_map(|fault| Trigger::Fired { fault })
                .boxed(),
        );
    }
    prop::strategy::Union::new(all).boxed()
}

/// Faults of the link of a contender.
fn fault_of_link(contenders: u32) -> BoxedStrategy<Fault> {
    let target = || contender(contenders);
    let way = || {
        prop::sample::select(vec![
            Direction::ToServer,
            Direction::ToClient,
            Direction::Both,
        ])
    };
    prop_oneof![
        (target(), way(), lasts()).prop_map(|(target, direction, length)| Fault::BlackHole {
            target,
            direction,
            length
        }),
        (target(), way(), length(), lasts()).prop_map(|(target, direction, by, length)| {
            Fault::SlowLink {
                target,
                direction,
                by,
                length,
            }
        }),
        (target(), way(), 1_u32..1_000_000, length()).prop_map(
            |(target, direction, parts, length)| Fault::LosePackets {
                target,
                direction,
                rate: Rate::of_million(parts).expect("less than all"),
                length,
            }
        ),
        (
            target(),
            way(),
            (length(), length()),
            (length(), length()),
            length()
        )
            .prop_map(|(target, direction, down, up, length)| Fault::Flap {
                target,
                direction,
                down: (down.0.min(down.1), down.0.max(down.1)),
                up: (up.0.min(up.1), up.0.max(up.1)),
                length,
            }),
    ]
    .boxed()
}

/// Faults of contenders that go with any trigger.
fn fault_of_contender(contenders: u32) -> BoxedStrategy<Fault> {
    let target = || contender(contenders);
    let jump = prop_oneof![-1_000_000_i64..0, 1_i64..1_000_000];
    let drift = prop_oneof![-900_000_i32..0, 1_i32..1_000_000];
    prop_oneof![
        (target(), lasts()).prop_map(|(target, length)| Fault::Pause { target, length }),
        (target(), lasts()).prop_map(|(target, length)| Fault::BlockEvents { target, length }),
        (target(), prop::option::of(maybe_zero())).prop_map(|(target, restart_after)| {
            Fault::Crash {
                target,
                restart_after,
            }
        }),
        (
            target(),
            prop::sample::select(vec![LockCall::Acquire, LockCall::Release])
        )
            .prop_map(|(target, call)| Fault::Cancel { target, call }),
        target().prop_map(|target| Fault::ExpireSession { target }),
        target().prop_map(|target| Fault::Cut { target }),
        fault_of_link(contenders),
        (target(), jump).prop_map(|(target, by_millis)| Fault::ClockJump { target, by_millis }),
        (target(), drift, prop::option::of(length())).prop_map(
            |(target, parts_per_million, length)| Fault::ClockDrift {
                target,
                parts_per_million,
                length
            }
        ),
        target().prop_map(|of| Fault::DeleteNode { of }),
        Just(Fault::RecreateLock),
    ]
    .boxed()
}

fn fault_of_server(contenders: u32, (servers, observers): (u8, u8)) -> BoxedStrategy<Fault> {
    let target = || server(contenders, (servers, observers));
    let mut all = vec![
        (target(), prop::option::of(maybe_zero()))
            .prop_map(|(target, restart_after)| Fault::CrashServer {
                target,
                restart_after,
            })
            .boxed(),
        (target(), lasts())
            .prop_map(|(target, length)| Fault::HangServer { target, length })
            .boxed(),
        (target(), length(), lasts())
            .prop_map(|(target, by, length)| Fault::LagServer { target, by, length })
            .boxed(),
        (target(), length(), lasts())
            .prop_map(|(target, fsync, length)| Fault::SlowDisk {
                target,
                fsync,
                length,
            })
            .boxed(),
    ];
    if servers > 1 {
        let isolate = (target(), lasts());
        all.push(
            isolate
                .prop_map(|(target, length)| Fault::IsolateServer { target, length })
                .boxed(),
        );
        let side = prop::collection::btree_set(target(), 1..usize::from(servers));
        let clients = prop::collection::btree_set(contender(contenders), 0..4);
        let partition = (side, clients, lasts());
        let partition = partition.prop_map(|(servers, contenders, length)| Fault::Partition {
            servers: servers.into_iter().collect(),
            contenders: contenders.into_iter().collect(),
            length,
        });
        all.push(partition.boxed());
        let several = prop::collection::btree_set(target(), 1..4);
        let link = (several, target(), lasts()).prop_filter_map("a link to itself", |it| {
            let (from, to, length) = it;
            let from: Vec<ServerName> = from.into_iter().collect();
            (!from.contains(&to)).then_some(Fault::HoldLink { from, to, length })
        });
        all.push(link.boxed());
    }
    prop::strategy::Union::new(all).boxed()
}

/// A fault that strikes one request, with the trigger that it needs.
fn fault_of_request(contenders: u32) -> BoxedStrategy<(Trigger, Fault)> {
    let kinds = prop::sample::select(kinds_of_zookeeper());
    (kinds, contender(contenders), 1_u32..100, 0..5, length())
        .prop_map(|(request, by, nth, which, more)| {
            let sent = Trigger::Sent { request, by, nth };
            let answered = Trigger::Answered { request, by, nth };
            let committed = Trigger::Committed {
                request: RequestKind::Create,
                by,
                nth,
            };
            match which {
                0 => (sent, Fault::LoseRequest { target: by }),
                1 => (
                    sent,
                    Fault::DelayRequest {
                        target: by,
                        by: more,
                    },
                ),
                2 => (sent, Fault::LoseReply { target: by }),
                4 => (answered, Fault::SwallowReply { target: by }),
                3 => (
                    answered,
                    Fault::DelayReply {
                        target: by,
                        by: more,
                    },
                ),
                _ => (committed, Fault::LoseReply { target: by }),
            }
        })
        .boxed()
}

fn repeat() -> BoxedStrategy<Repeat> {
    (2_u32..10, prop::option::of(length()))
        .prop_map(|(times, every)| Repeat { times, every })
        .boxed()
}

fn planned(
    contenders: u32,
    servers: (u8, u8),
    place: usize,
    writes: bool,
) -> BoxedStrategy<PlannedFault> {
    let plan = |when, after, inject: Fault, repeat: Option<Repeat>| {
        let mut fault = PlannedFault {
            when,
            after,
            repeat: None,
            inject,
            text: String::new(),
        };
        let by_moment = repeat.is_some_and(|repeat| repeat.every.is_none());
        let comes_once = matches!(fault.when, Trigger::At(_)) && by_moment;
        if !fault.inject.is_for_good() && !comes_once {
            fault.repeat = repeat;
            fault.repeat = repeat.filter(|_| !fault.overlaps_itself());
        }
        describe::update_text(&mut fault);
        fault
    };
    let faults = prop_oneof![
        fault_of_contender(contenders),
        fault_of_server(contenders, servers)
    ];
    prop_oneof![
        4 => (trigger(contenders, place, writes), maybe_zero(), faults, prop::option::of(repeat()))
            .prop_map(move |(when, after, inject, repeat)| plan(when, after, inject, repeat)),
        1 => (fault_of_request(contenders), prop::option::of(2_u32..10))
            .prop_map(move |((when, inject), times)| {
                let repeat = times.map(|times| Repeat { times, every: None });
                plan(when, Duration::ZERO, inject, repeat)
            }),
    ]
    .boxed()
}

fn wants() -> BoxedStrategy<Vec<Expectation>> {
    let reason = "[a-z\"\\\\ä\n\t]{0,20}x";
    let want = prop_oneof![
        Just(Want::Holds),
        (reason, 1_u64..1_000)
            .prop_map(|(because, within_seeds)| (because.trim().to_owned(), within_seeds))
            .prop_map(|(because, within_seeds)| Want::Violated {
                because,
                within_seeds
            }),
        reason.prop_map(|because| Want::Excused {
            because: because.trim().to_owned()
        }),
        prop::option::of(reason).prop_map(|because| Want::Unchecked {
            because: because.map(|because| because.trim().to_owned())
        }),
    ];
    // What every case looks at, so that silence would be noticed.
    let names = ["mutual-exclusion", "timely-loss"];
    (want.clone(), want)
        .prop_map(move |(first, second)| {
            let pairs = names.into_iter().zip([first, second]);
            pairs
                .map(|(invariant, want)| Expectation { invariant, want })
                .collect()
        })
        .boxed()
}

/// Any network.
fn network() -> BoxedStrategy<Network> {
    let chance = prop_oneof![
        Just(Chance::Even),
        Just(Chance::Extremes),
        (1_u32..=100).prop_map(Chance::Delays),
        (1_u32..=100).prop_map(Chance::Priorities),
    ];
    (chance, span(), span(), regions())
        .prop_map(
            |(chance, client_latency, server_latency, regions)| Network {
                chance,
                client_latency,
                server_latency,
                regions,
            },
        )
        .boxed()
}

/// Any case.
pub fn case() -> BoxedStrategy<Case> {
    let algorithm = 0..recipes_on(ServiceKind::ZooKeeper).count();
    let rest = (any::<bool>(), 1_u64..1_000_000_000, algorithm, kept());
    let bounds = (0_u32..1_000).prop_map(|n| f64::from(n) / 8.0);
    (ensemble(), network(), workload(), rest, wants(), bounds)
        .prop_flat_map(|(ensemble, network, workload, rest, wants, bound)| {
            let contenders = workload.contenders;
            let servers = (ensemble.servers, ensemble.observers);
            let writes = workload.section != Section::Nothing;
            let faults: Vec<_> = (0..3)
                .map(|place| planned(contenders, servers, place, writes))
                .collect();
            (
                Just((ensemble, network, workload, rest, wants, bound)),
                faults,
            )
        })
        .prop_map(
            |((mut ensemble, network, workload, rest, wants, bound), faults)| {
                let blocks =
                    |fault: &PlannedFault| matches!(fault.inject, Fault::BlockEvents { .. });
                if faults.iter().any(blocks) && !ensemble.library.has_event_thread() {
                    ensemble.library = Library::Kazoo;
                }
                let (fenced, event_budget, algorithm, (recorded, saved)) = rest;
                let mut algorithm = recipe_on(ServiceKind::ZooKeeper, algorithm);
                if faults.iter().any(cancels) && !algorithm.cancellable {
                    algorithm = recipe_on(ServiceKind::ZooKeeper, 0);
                }
                let fenced = fenced && algorithm.claims.contains(&Claim::FencingMonotonic);
                Case {
                    name: format!("{}-again", algorithm.name),
                    algorithm,
                    plan: Plan {
                        recipe: algorithm,
                        service: Service::ZooKeeper(ensemble),
                        network,
                        workload,
                        resource: Resource { fenced },
                        faults,
                        event_budget,
                    },
                    open: None,
                    drawn: false,
                    sometimes: vec!["two-wait", "adopted"],
                    expectations: wants,
                    measures: vec![Measure {
                        metric: "wakeups-per-release",
                        at_least: Some(bound),
                        at_most: None,
                    }],
                    recorded,
                    saved,
                }
            },
        )
        .boxed()
}
