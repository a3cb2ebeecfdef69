//! Cases with any plan that a scenario file can say.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_algorithms::clients::{RequestKind, ServiceKind};
use picklock_algorithms::registry::RECIPES;
use picklock_algorithms::{Claim, LockKind, Recipe, RecipeInput};
use picklock_scenarios::{Case, Expectation, Measure, Want, describe};
use picklock_sim::plan::Library;
use picklock_sim::plan::Version;
use picklock_sim::plan::{Strategy as Chance, *};
use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::barriers;
use super::faults::{contender, fault_of_contender, fault_of_request, fault_of_server, trigger};
use super::kept::{cancels, kept};
use super::regions::regions;

fn micros(range: std::ops::Range<u64>) -> BoxedStrategy<Duration> {
    range.prop_map(Duration::from_micros).boxed()
}

pub fn length() -> BoxedStrategy<Duration> {
    micros(1..1_000_000_000)
}

pub fn lasts() -> BoxedStrategy<FaultDuration> {
    prop::option::of(length())
        .prop_map(FaultDuration::from)
        .boxed()
}

pub fn maybe_zero() -> BoxedStrategy<Duration> {
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

fn arrivals() -> BoxedStrategy<Arrival> {
    prop_oneof![
        Just(Arrival::Together),
        Just(Arrival::InOrder),
        Just(Arrival::BehindHolder),
        Just(Arrival::InOrderBehindHolder),
        length().prop_map(Arrival::Within),
    ]
    .boxed()
}

fn sections() -> BoxedStrategy<Section> {
    prop_oneof![
        Just(Section::Write),
        Just(Section::Count),
        Just(Section::Nothing),
        (1_u32..1_000_000).prop_map(|stock| Section::Sell(Stock { stock })),
        length().prop_map(Section::DelayedWrite),
    ]
    .boxed()
}

fn workload() -> BoxedStrategy<Workload> {
    let arrive = (
        arrivals(),
        prop::sample::select(LockOrder::ALL.map(|(_, order)| order).to_vec()),
    );
    let hold = prop_oneof![Just(Hold::Settled), maybe_zero().prop_map(Hold::For)];
    let maybe = || prop::option::of(length());
    let bounds = (maybe(), maybe(), prop::option::of(0_u32..=1_000));
    let locks = (prop_oneof![Just(1_u32), 2..=LockName::MOST], 1_u32..=3);
    let tasks = prop_oneof![Just(1_u32), 2_u32..=4];
    let processes = (1_u32..=25, tasks, any::<bool>());
    let numbers = (processes, 1_u32..=1_000, 0_u32..=100, locks);
    let calls = (maybe(), 1_u32..=1_000);
    let permits = prop::option::of(1_u32..=100);
    let times = (length(), bounds, calls, reads(), permits);
    (numbers, arrive, hold, (span(), span()), sections(), times)
        .prop_map(
            |(numbers, (arrive, lock_order), hold, (think, processing), section, times)| {
                let (bystander_every, bounds, calls, reads, permits) = times;
                Workload {
                    contenders: numbers.0.0 * numbers.0.1,
                    tasks_per_process: numbers.0.1,
                    // Which client it is follows from the service.
                    share: match numbers.0.1 > 1 && numbers.0.2 {
                        true => Share::Session,
                        false => Share::Nothing,
                    },
                    locks: numbers.3.0.min(numbers.0.0 * numbers.0.1 * numbers.1),
                    locks_at_once: numbers.3.1,
                    lock_order,
                    arrive,
                    rounds: numbers.1,
                    reads,
                    permits,
                    permits_per_acquire: numbers.3.1,
                    count: None,
                    acquire_timeout: calls.0,
                    reentrancy_depth: calls.1,
                    hold,
                    think,
                    processing,
                    section,
                    bystanders: numbers.2,
                    bystander_every,
                    contender_settings: BTreeMap::new(),
                    progress_bound: bounds.0,
                    bypass_bound: bounds.2,
                    starvation_bound: bounds.2.map(|bound| bound / 2),
                    storm: bounds.1,
                }
            },
        )
        .prop_flat_map(|workload| {
            let own = prop::collection::btree_map(contender(workload.contenders), settings(), 0..3);
            (Just(workload), own).prop_map(|(workload, contender_settings)| {
                let workload = Workload {
                    contender_settings,
                    ..workload
                };
                let workload = with_locks_that_are_taken(workload);
                with_time_for_sections(with_one_machine_for_each_process(workload))
            })
        })
        .boxed()
}

fn reads() -> BoxedStrategy<Reads> {
    let share = (1..Rate::WHOLE).prop_filter_map("more than nothing", Rate::of_million);
    prop_oneof![
        Just(Reads::Never),
        Just(Reads::Always),
        share.prop_map(Reads::Share)
    ]
    .boxed()
}

/// A semaphore has permits, and nothing else has; and there is nothing to enter again in it, and in an election.
pub fn with_permits_of_a_semaphore(workload: &mut Workload, recipe: &Recipe) {
    if matches!(
        recipe.ownership.kind,
        LockKind::Semaphore | LockKind::Election
    ) {
        workload.reentrancy_depth = 1;
    }
    workload.permits = match recipe.ownership.kind {
        LockKind::Semaphore => Some(workload.permits()),
        LockKind::Mutex
        | LockKind::MultiLock
        | LockKind::ReadWrite
        | LockKind::Election
        | LockKind::Barrier
        | LockKind::DoubleBarrier
        | LockKind::CountDownLatch => None,
    };
    workload.permits_per_acquire = match recipe.inputs.contains(&RecipeInput::SeveralPermits) {
        true => workload.permits_per_acquire.min(workload.permits()),
        false => 1,
    };
}

/// Several locks at once are of mutexes, multi-locks, and read-write locks, and are entered once. A multi-lock is of
/// several.
pub fn with_locks_at_once(workload: &mut Workload, recipe: &Recipe) {
    if recipe.ownership.kind == LockKind::MultiLock {
        workload.locks = workload.locks.max(2);
    }
    workload.locks_at_once = match recipe.ownership.kind {
        LockKind::Mutex | LockKind::ReadWrite => workload.locks_at_once.min(workload.locks),
        LockKind::MultiLock => workload.locks_at_once.clamp(2, workload.locks),
        LockKind::Semaphore
        | LockKind::Election
        | LockKind::Barrier
        | LockKind::DoubleBarrier
        | LockKind::CountDownLatch => 1,
    };
    if workload.locks_at_once == 1 {
        workload.lock_order = LockOrder::ByName;
        return;
    }
    workload.reentrancy_depth = 1;
    for own in workload.contender_settings.values_mut() {
        own.locks.sort_unstable();
        own.locks.dedup();
        if own.locks.len() < workload.locks_at_once as usize {
            own.locks.clear();
        }
    }
    let own = &mut workload.contender_settings;
    own.retain(|_, settings| *settings != ContenderSettings::default());
}

/// A mutex has no reads.
pub fn without_reads_of_a_mutex(workload: &mut Workload, recipe: &Recipe) {
    if recipe.ownership.kind == LockKind::ReadWrite {
        return;
    }
    workload.reads = Reads::Never;
    for own in workload.contender_settings.values_mut() {
        own.reads = None;
    }
    let own = &mut workload.contender_settings;
    own.retain(|_, settings| *settings != ContenderSettings::default());
    *workload = with_locks_that_are_taken(std::mem::take(workload));
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

/// What one task says of the machine of its process, the others do not say otherwise.
fn with_one_machine_for_each_process(mut workload: Workload) -> Workload {
    let all = workload.contender_settings.clone();
    for (name, own) in &mut workload.contender_settings {
        let others = all.keys().filter(|other| **other < *name);
        let each = workload.tasks_per_process;
        if others.clone().any(|other| other.0 / each == name.0 / each) {
            own.latency = None;
            own.clock_offset_millis = 0;
        }
    }
    workload
        .contender_settings
        .retain(|_, own| *own != ContenderSettings::default());
    workload
}

/// Each section can end within the bound on progress.
fn with_time_for_sections(mut workload: Workload) -> Workload {
    let own = workload.contender_settings.values();
    let holds = own.filter_map(|own| own.hold).chain([workload.hold]);
    let longest = holds.map(|hold| match hold {
        Hold::For(hold) => hold,
        Hold::Settled => Duration::ZERO,
    });
    let bound = workload.progress_bound;
    workload.progress_bound = bound.map(|bound| longest.fold(bound, Duration::max));
    workload
}

/// The tasks of a process share an object, where the recipe says how; a client, where the service has such.
pub fn shared(workload: &mut Workload, recipe: &Recipe) {
    if workload.share == Share::Nothing {
        return;
    }
    workload.share = match recipe.build.service() {
        _ if recipe.shareable && workload.rounds.is_multiple_of(2) => Share::Lock,
        ServiceKind::ZooKeeper => Share::Session,
        _ => Share::Connection,
    };
}

/// What one contender does otherwise; not nothing.
fn settings() -> BoxedStrategy<ContenderSettings> {
    let hold = prop_oneof![length().prop_map(Hold::For), Just(Hold::Settled)];
    let times = (
        prop::option::of(hold),
        prop::option::of(span()),
        prop::option::of(length()),
        prop::option::of(span()),
    );
    let others = (
        prop::option::of(1_u32..1_000),
        prop::option::of(length()),
        prop::option::of(span()),
        -1_000_000_i64..1_000_000,
        prop::collection::vec((0..LockName::MOST).prop_map(LockName), 0..3),
        prop::option::of(reads()),
    );
    (times, others)
        .prop_map(
            |(
                (hold, think, acquire_timeout, processing),
                (rounds, arrive_after, latency, clock_offset_millis, locks, reads),
            )| {
                ContenderSettings {
                    conversion: None,
                    arrive_after,
                    reaper_interval: None,
                    releases_for_others: false,
                    permits_per_acquire: None,
                    hold,
                    rounds,
                    reads,
                    locks,
                    think,
                    processing,
                    acquire_timeout,
                    latency,
                    clock_offset_millis,
                }
            },
        )
        .prop_filter("own says something", |own| {
            *own != ContenderSettings::default()
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

pub fn kinds_of_zookeeper() -> Vec<RequestKind> {
    RequestKind::of_service(ServiceKind::ZooKeeper).collect()
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

/// One of the recipes on ZooKeeper to which all of these faults can happen.
fn that_fits(number: usize, faults: &[PlannedFault]) -> Recipe {
    let recipe = recipe_on(ServiceKind::ZooKeeper, number);
    let revokes = |fault: &PlannedFault| matches!(fault.inject, Fault::Revoke { .. });
    if faults.iter().any(revokes) && recipe.revoke_message().is_none() {
        let mut revocable = RECIPES
            .iter()
            .filter(|recipe| recipe.revoke_message().is_some());
        return *revocable.next().expect("there is one");
    }
    match faults.iter().any(cancels) && !recipe.is_interruptible() {
        true => recipe_on(ServiceKind::ZooKeeper, 0),
        false => recipe,
    }
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
            |((mut ensemble, network, mut workload, rest, mut wants, bound), faults)| {
                let blocks =
                    |fault: &PlannedFault| matches!(fault.inject, Fault::BlockEvents { .. });
                if faults.iter().any(blocks) && !ensemble.library.has_event_thread() {
                    ensemble.library = Library::Kazoo;
                }
                let (fenced, event_budget, algorithm, (recorded, saved)) = rest;
                let algorithm = that_fits(algorithm, &faults);
                if !algorithm.inputs.contains(&RecipeInput::LockNode) {
                    ensemble.lock_node = LockNode::Persistent;
                }
                without_reads_of_a_mutex(&mut workload, &algorithm);
                with_permits_of_a_semaphore(&mut workload, &algorithm);
                with_locks_at_once(&mut workload, &algorithm);
                shared(&mut workload, &algorithm);
                barriers::fit(&algorithm, &mut workload, &mut wants);
                let fenced = fenced && algorithm.claims.contains(&Claim::FencingMonotonic);
                Case {
                    name: format!("{}-again", algorithm.name),
                    line: None,
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
                    seeds_at_most: None,
                }
            },
        )
        .boxed()
}
