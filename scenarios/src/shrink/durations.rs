//! Round durations: 1s says that it could be any, 1.273s that there is something about it.

use std::time::Duration;

use picklock_sim::plan::{Arrival, ContenderName, Hold, Plan, Regions, Trigger, Value};

use super::FITS;
use super::link_faults;
use super::search::{Change, Effort, Search};
use crate::describe;
use crate::fault_fields::Parts;
use crate::units::{write_duration, write_range};

/// Makes every duration of the plan round, and as short as it may be.
pub(super) fn shorten(search: &mut Search) {
    search.try_plans(Effort::Same, regions);
    search.try_plans(Effort::Same, ranges);
    search.try_plans(Effort::Same, link_faults::rounder);
    search.try_plans(Effort::Same, durations);
}

/// Makes a long story short: a contender that asks again and again while a fault lasts asks less often if it lasts less
/// long, and faults last as long as they have to because of the lease.
pub(super) fn hurry(search: &mut Search) {
    search.try_plans(Effort::Same, failovers);
    if search.operations() > FITS {
        search.try_plans(Effort::Fewer, late_arrivals);
    }
    search.try_plans(Effort::Same, leases);
}

/// Failovers that begin sooner.
fn failovers(plan: &Plan) -> Vec<Change> {
    // Sooner, and heartbeats take up most of a run.
    let least = Duration::from_millis(500);
    let mut changes = Vec::new();
    for key in plan.service.failover_keys() {
        let Some(Value::Time(now)) = plan.service.value(key) else {
            continue;
        };
        let shorter = rounder(now, least).into_iter();
        for sooner in shorter.filter(|sooner| *sooner < now) {
            let mut less = plan.clone();
            less.service.set_value(key, Some(Value::Time(sooner)));
            let (now, sooner) = (write_duration(now), write_duration(sooner));
            changes.push(Change {
                what: format!("{key} {now} to {sooner}"),
                plan: less,
            });
        }
    }
    changes
}

/// Later arrivals: a contender that arrives while the service is down repeats its requests again and again.
fn late_arrivals(plan: &Plan) -> Vec<Change> {
    let late = [10, 5, 20, 2].map(Duration::from_secs);
    let late = late.map(|within| {
        let mut plan = plan.clone();
        plan.workload.arrive = Arrival::Within(within);
        let what = format!("arrivals within {}", write_duration(within));
        Change { what, plan }
    });
    late.into()
}

/// A shorter lease, and everything else shorter by as much.
fn leases(plan: &Plan) -> Vec<Change> {
    let Some(now) = plan.service.clone().lease_mut().copied() else {
        return Vec::new();
    };
    let shorter = rounder(now, Duration::from_secs(1)).into_iter();
    let shorter = shorter.filter(|lease| *lease < now);
    shorter
        .map(|lease| {
            let mut less = plan.clone();
            if let Some(shorter) = less.service.lease_mut() {
                *shorter = lease;
            }
            for slot in slots(plan) {
                if let Some(time) = duration(&mut less, slot) {
                    *time = scaled(*time, lease, now);
                }
            }
            for fault in &mut less.faults {
                describe::update_text(fault);
            }
            let (now, lease) = (write_duration(now), write_duration(lease));
            Change {
                what: format!("lease {now} to {lease}, and all else as much faster"),
                plan: less,
            }
        })
        .collect()
}

/// In whole milliseconds, and none shorter than one unless it was nothing before.
fn scaled(time: Duration, to: Duration, from: Duration) -> Duration {
    let micros = time.as_micros() * to.as_micros() / from.as_micros().max(1);
    let millis = u64::try_from(micros.div_ceil(1_000)).unwrap_or(u64::MAX);
    Duration::from_millis(millis)
}

/// Where a plan keeps a range.
type RangeSlot = fn(&mut Plan) -> &mut (Duration, Duration);

/// Ranges that are one duration, so that nothing is left to draw.
fn ranges(plan: &Plan) -> Vec<Change> {
    let slots: [(&str, RangeSlot, Duration); 4] = [
        (
            "latency",
            |plan| &mut plan.network.client_latency,
            Duration::from_millis(1),
        ),
        (
            "server-latency",
            |plan| &mut plan.network.server_latency,
            Duration::from_micros(500),
        ),
        ("think", |plan| &mut plan.workload.think, Duration::ZERO),
        (
            "processing",
            |plan| &mut plan.workload.processing,
            Duration::ZERO,
        ),
    ];
    let mut changes = Vec::new();
    for (name, slot, round) in slots {
        let mut with = plan.clone();
        let range = slot(&mut with);
        let (from, to) = *range;
        let simpler: Vec<Duration> = if from == to {
            Vec::new()
        } else {
            vec![round, from, to]
        };
        let nothing = (round.is_zero() && from == to && !from.is_zero()).then_some(round);
        for only in simpler.into_iter().chain(nothing) {
            *slot(&mut with) = (only, only);
            changes.push(Change {
                what: format!(
                    "{name} {} to {}",
                    write_range((from, to)),
                    write_duration(only)
                ),
                plan: with.clone(),
            });
        }
    }
    changes
}

/// No regions, or one latency in the place of a range between two.
fn regions(plan: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    if !plan.network.regions.is_empty() {
        let mut near = plan.clone();
        near.network.regions = Regions::default();
        changes.push(Change {
            what: "no regions".to_owned(),
            plan: near,
        });
    }
    for (pair, range) in &plan.network.regions.between {
        let (from, to) = *range;
        for only in [from, to].into_iter().filter(|_| from != to) {
            let mut with = plan.clone();
            with.network
                .regions
                .between
                .insert(pair.clone(), (only, only));
            let (one, other) = pair;
            let what = format!(
                "{one} to {other} {} to {}",
                write_range(*range),
                write_duration(only)
            );
            changes.push(Change { what, plan: with });
        }
    }
    changes
}

/// A duration of a plan.
#[derive(Clone, Copy)]
enum Slot {
    Hold,
    /// The hold of a contender that differs.
    OwnHold(ContenderName),
    /// How long a contender that differs waits for the lock.
    OwnAcquireTimeout(ContenderName),
    Within,
    BystanderEvery,
    /// When a fault strikes that waits for a time.
    At(usize),
    After(usize),
    /// From one strike of a fault to the next.
    Every(usize),
    /// A duration of a fault itself.
    Of(usize, usize),
}

fn slots(plan: &Plan) -> Vec<Slot> {
    let mut slots = Vec::new();
    for (index, fault) in plan.faults.iter().enumerate() {
        let times = Parts::of(&mut fault.inject.clone()).times.len();
        slots.extend((0..times).map(|time| Slot::Of(index, time)));
        slots.extend([Slot::At(index), Slot::After(index), Slot::Every(index)]);
    }
    let own = plan.workload.contender_settings.keys();
    slots.extend(own.flat_map(|name| [Slot::OwnHold(*name), Slot::OwnAcquireTimeout(*name)]));
    slots.extend([Slot::Hold, Slot::Within, Slot::BystanderEvery]);
    slots
}

/// The duration in a slot, if there is one.
fn duration(plan: &mut Plan, slot: Slot) -> Option<&mut Duration> {
    match slot {
        Slot::Hold => match &mut plan.workload.hold {
            Hold::For(length) => Some(length),
            Hold::Settled => None,
        },
        Slot::OwnHold(name) => match &mut plan.workload.contender_settings.get_mut(&name)?.hold {
            Some(Hold::For(length)) => Some(length),
            Some(Hold::Settled) | None => None,
        },
        Slot::OwnAcquireTimeout(name) => {
            let own = plan.workload.contender_settings.get_mut(&name)?;
            own.acquire_timeout.as_mut()
        }
        Slot::Within => match &mut plan.workload.arrive {
            Arrival::Within(within) => Some(within),
            Arrival::Together
            | Arrival::InOrder
            | Arrival::BehindHolder
            | Arrival::InOrderBehindHolder => None,
        },
        // Without bystanders no time passes between two reads.
        Slot::BystanderEvery => {
            (plan.workload.bystanders > 0).then_some(&mut plan.workload.bystander_every)
        }
        Slot::At(index) => match &mut plan.faults[index].when {
            Trigger::At(at) => Some(at),
            _ => None,
        },
        Slot::After(index) => Some(&mut plan.faults[index].after),
        Slot::Every(index) => plan.faults[index].repeat.as_mut()?.every.as_mut(),
        Slot::Of(index, time) => {
            let mut times = Parts::of(&mut plan.faults[index].inject).times;
            (time < times.len()).then(|| times.swap_remove(time))
        }
    }
}

fn durations(plan: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    for slot in slots(plan) {
        let mut less = plan.clone();
        let Some(now) = duration(&mut less, slot).map(|now| *now) else {
            continue;
        };
        for simpler in rounder(now, least(slot)) {
            let mut plan = plan.clone();
            if let Some(time) = duration(&mut plan, slot) {
                *time = simpler;
            }
            let what = format!("{} to {}", named(slot, now), write_duration(simpler));
            if let Slot::Of(index, _) | Slot::Every(index) = slot {
                let fault = &mut plan.faults[index];
                if fault.overlaps_itself() {
                    continue;
                }
                describe::update_text(fault);
            }
            changes.push(Change { what, plan });
        }
    }
    changes
}

/// The shortest that still says something.
fn least(slot: Slot) -> Duration {
    match slot {
        Slot::After(_) | Slot::At(_) => Duration::ZERO,
        Slot::Hold | Slot::OwnHold(_) | Slot::OwnAcquireTimeout(_) | Slot::BystanderEvery => {
            Duration::from_millis(10)
        }
        Slot::Within | Slot::Of(..) | Slot::Every(_) => Duration::from_millis(1),
    }
}

fn named(slot: Slot, duration: Duration) -> String {
    let duration = write_duration(duration);
    match slot {
        Slot::Hold => format!("hold {duration}"),
        Slot::OwnHold(name) => format!("hold {duration} of {}", describe::contender(name)),
        Slot::OwnAcquireTimeout(name) => {
            format!(
                "acquire-timeout {duration} of {}",
                describe::contender(name)
            )
        }
        Slot::Within => format!("arrivals within {duration}"),
        Slot::BystanderEvery => format!("bystander-every {duration}"),
        Slot::At(index) => format!("time of fault {} from {duration}", index + 1),
        Slot::After(index) => format!("fault {} after {duration}", index + 1),
        Slot::Every(index) => format!("fault {} every {duration}", index + 1),
        Slot::Of(index, _) => format!("fault {} of {duration}", index + 1),
    }
}

/// Round durations that are shorter, the shortest first; for one that is not round, also the next that is.
fn rounder(duration: Duration, least: Duration) -> Vec<Duration> {
    let round = round_durations();
    let mut simpler: Vec<Duration> = round
        .iter()
        .copied()
        .filter(|round| (least..duration).contains(round))
        .collect();
    if !round.contains(&duration) {
        simpler.extend(round.into_iter().find(|round| *round > duration));
    }
    simpler
}

/// Nothing, and 1, 2, and 5 of each power of ten from a millisecond on.
fn round_durations() -> Vec<Duration> {
    const LEADING: [u64; 3] = [1, 2, 5];
    let powers = (0..8).map(|power| 10_u64.pow(power));
    let all = powers.flat_map(|power| LEADING.map(|leading| leading * power));
    let all = all.map(Duration::from_millis);
    std::iter::once(Duration::ZERO).chain(all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_takes_time_is_tried_without_it() {
        let text = "workload.processing = \"1ms..5ms\"\n[[case]]\nalgorithm = \"zk-hardened\"\n";
        let catalogue = crate::Catalogue::EVERYTHING;
        let read = crate::parse("slow", text, &catalogue).expect("it can be read");
        let mut plan = read.cases[0].plan.clone();
        let without = |plan: &Plan| {
            let mut less = ranges(plan).into_iter().map(|change| change.plan);
            less.any(|plan| plan.processing_at_most().is_zero())
        };
        assert!(without(&plan));
        plan.workload.processing.1 = plan.workload.processing.0;
        assert!(without(&plan), "also where it is one time");
        plan.workload.processing = (Duration::ZERO, Duration::ZERO);
        assert!(
            !ranges(&plan)
                .iter()
                .any(|change| change.what.starts_with("processing"))
        );
    }

    #[test]
    fn what_is_round_only_becomes_shorter() {
        let ms = Duration::from_millis;
        assert_eq!(rounder(ms(10), ms(1)), [ms(1), ms(2), ms(5)]);
        assert_eq!(rounder(ms(3), ms(2)), [ms(2), ms(5)]);
        assert_eq!(rounder(ms(1), ms(0)), [ms(0)]);
        assert_eq!(rounder(ms(0), ms(0)), []);
    }
}
