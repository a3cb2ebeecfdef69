//! Smaller plans: first with fewer parts, then with simpler ones.

use picklock_sim::plan::{
    Arrival, Fault, Hold, Plan, PlannedFault, Reads, Repeat, Section, SettingsGroup, Stock, Trigger,
};

use super::changed::with;
use super::contender_settings::fewer_differences;
use super::locks::{fewer_locks, simpler_lock_order};
use super::lower::lower;
use super::processes::leaves_whole_processes;
use super::search::{Change, Effort, Search};
use crate::describe;
use crate::fault_fields::{Parts, moment};
use crate::reduced_plan::{with_contenders, without_faults};

/// Takes faults away: all, halves, then each.
pub(super) fn faults(search: &mut Search) {
    search.try_plans(Effort::Fresh, |plan| {
        let all = plan.faults.len();
        let mut changes = Vec::new();
        for size in sizes(all) {
            for start in (0..all).step_by(size).rev() {
                let gone = start..(start + size).min(all);
                let what = match size {
                    1 => format!("without fault {}: {}", start + 1, plan.faults[start].text),
                    _ => format!("without faults {} to {}", gone.start + 1, gone.end),
                };
                let plan = without_faults(plan, |index, _| gone.contains(&index));
                changes.push(Change { what, plan });
            }
        }
        changes
    });
}

/// Takes contenders away, with the faults that name them: down to very few at once, then halves, then each.
pub(super) fn contenders(search: &mut Search) {
    search.try_plans(Effort::Fresh, |plan| {
        let all = plan.workload.contenders;
        let few = (1..all.min(4)).filter(|few| leaves_whole_processes(plan, |index| index < *few));
        let few = few.map(|few| Change {
            what: format!("{few} of {all} contenders"),
            plan: with_contenders(plan, |index| index < few),
        });
        let mut changes: Vec<Change> = few.collect();
        for size in sizes(all as usize) {
            for start in (0..all as usize).step_by(size).rev() {
                let gone = start..start + size;
                let stays = |index: u32| !gone.contains(&(index as usize));
                if gone.end - gone.start >= all as usize || !leaves_whole_processes(plan, stays) {
                    continue;
                }
                let what = match size {
                    1 => format!("without contender-{}", start + 1),
                    _ => format!("without contender-{} to -{}", gone.start + 1, gone.end),
                };
                let plan = with_contenders(plan, stays);
                changes.push(Change { what, plan });
            }
        }
        changes
    });
}

/// Sizes of the pieces in which to take something away: all, half, a quarter, and so on down to one.
fn sizes(all: usize) -> impl Iterator<Item = usize> {
    let next = |size: &usize| (*size > 1).then(|| size.div_ceil(2));
    std::iter::successors((all > 0).then_some(all), next)
}

/// Makes the rest of the plan simpler.
pub(super) fn rest(search: &mut Search) {
    search.try_plans(Effort::Fresh, fewer_differences);
    search.try_plans(Effort::Fresh, counts);
    search.try_plans(Effort::Fresh, sections);
    search.try_plans(Effort::Fresh, services);
    search.try_plans(Effort::Fresh, manners);
}

/// Fewer permits by one call, and fewer permits.
fn fewer_permits(plan: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    let at_once = plan.workload.permits_per_acquire;
    for fewer in lower(at_once, 1) {
        let what = format!("{fewer} of {at_once} permits by one call");
        changes.push(with(what, plan, |plan| {
            plan.workload.permits_per_acquire = fewer
        }));
    }
    // With one permit it is another kind of lock.
    let permits = plan.workload.permits();
    for fewer in lower(permits, plan.workload.most_permits_per_acquire().max(2)) {
        let what = format!("{fewer} of {permits} permits");
        changes.push(with(what, plan, |plan| plan.workload.permits = Some(fewer)));
    }
    changes
}

/// Fewer rounds and bystanders, and earlier moments.
pub(super) fn counts(plan: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    let (rounds, bystanders) = (plan.workload.rounds, plan.workload.bystanders);
    for fewer in lower(rounds, 1) {
        let what = format!("{fewer} of {rounds} rounds");
        changes.push(with(what, plan, |plan| plan.workload.rounds = fewer));
    }
    changes.extend(fewer_locks(plan));
    if plan.workload.reads != Reads::Never {
        let what = "no contender reads".to_owned();
        changes.push(with(what, plan, |plan| plan.workload.reads = Reads::Never));
    }
    changes.extend(fewer_permits(plan));
    let depth = plan.workload.reentrancy_depth;
    for less in lower(depth, 1) {
        let what = format!("reentrancy {less} deep instead of {depth}");
        changes.push(with(what, plan, |plan| {
            plan.workload.reentrancy_depth = less
        }));
    }
    for fewer in lower(bystanders, 0) {
        let what = format!("{fewer} of {bystanders} bystanders");
        changes.push(with(what, plan, |plan| plan.workload.bystanders = fewer));
    }
    for (index, fault) in plan.faults.iter().enumerate() {
        let Some(repeat) = fault.repeat else {
            continue;
        };
        for fewer in lower(repeat.times, 1) {
            let what = format!(
                "fault {} strikes {fewer} of {} times",
                index + 1,
                repeat.times
            );
            let less = (fewer > 1).then_some(Repeat {
                times: fewer,
                ..repeat
            });
            changes.push(with(what, plan, |plan| {
                plan.faults[index].repeat = less;
                describe::update_text(&mut plan.faults[index]);
            }));
        }
    }
    for (index, fault) in plan.faults.iter().enumerate() {
        let mut when = fault.when.clone();
        let Some(nth) = moment(&mut when).1.map(|nth| *nth) else {
            continue;
        };
        for earlier in lower(nth, 1) {
            let mut when = fault.when.clone();
            if let Some(nth) = moment(&mut when).1 {
                *nth = earlier;
            }
            let moment = describe::trigger(&when);
            let what = format!("fault {} when {moment}", index + 1);
            changes.push(with(what, plan, |plan| plan.faults[index].when = when));
        }
    }
    changes
}

/// Simpler things to do with the lock.
pub(super) fn sections(plan: &Plan) -> Vec<Change> {
    let nothing = ("nothing", Section::Nothing);
    let write = ("one write", Section::Write);
    let count = ("a counter", Section::Count);
    let simpler: &[(&str, Section)] = match plan.workload.section {
        Section::Nothing => &[],
        Section::Write => &[nothing],
        Section::Count | Section::DelayedWrite(_) => &[nothing, write],
        Section::Sell(_) => &[nothing, write, count],
    };
    let named = simpler.iter().map(|(name, section)| {
        with(format!("sections of {name}"), plan, |plan| {
            plan.workload.section = *section;
        })
    });
    let mut changes: Vec<Change> = named.collect();
    if let Section::Sell(Stock { stock }) = plan.workload.section {
        for stock in lower(stock, 1) {
            changes.push(with(format!("a stock of {stock}"), plan, |plan| {
                plan.workload.section = Section::Sell(Stock { stock });
            }));
        }
    }
    changes
}

/// Fewer servers, and settings that need no mention.
pub(super) fn services(plan: &Plan) -> Vec<Change> {
    let servers = plan.service.voters();
    // One of several servers that know nothing of each other is no majority of any, and one of an ensemble neither
    // leads nor follows: of a fault that strikes a server something else would be left.
    let few_decide = plan.service.row().has_quorum && plan.faults.iter().any(strikes_server);
    let least = match plan.service.asks_majority() || few_decide {
        true => 3,
        false => 1,
    };
    let fewer = [1, 3].into_iter();
    let fewer = fewer.filter(|fewer| (least..servers).contains(fewer));
    let fewer = fewer.map(|fewer| {
        let what = format!("{fewer} of {servers} servers");
        with(what, plan, |plan| plan.service.set_servers(fewer))
    });
    let mut changes: Vec<Change> = fewer.collect();
    for (name, what) in [
        ("observers", "no observers"),
        ("client", "the usual client library"),
    ] {
        let mut keys = plan.service.keys().iter();
        if let Some(key) = keys.find(|key| key.name == name)
            && plan.service.value(name) != (key.default)()
        {
            changes.push(with(what.to_owned(), plan, |plan| {
                plan.service.set_value(name, (key.default)())
            }));
        }
    }
    let usual = |but| {
        let mut usual = plan.service.clone();
        usual.reset(but);
        usual
    };
    // What a failure rests on may be among them, so that all of them at once are too many.
    let (all, but_for_nodes) = (usual(None), usual(Some(SettingsGroup::Nodes)));
    let has_nodes = but_for_nodes != all;
    for (what, simpler, is_another) in [
        ("the usual settings", all, true),
        (
            "the usual settings of servers",
            usual(Some(SettingsGroup::Clients)),
            true,
        ),
        (
            "the usual settings but for nodes that go",
            but_for_nodes,
            has_nodes,
        ),
    ] {
        if is_another && simpler != plan.service {
            changes.push(with(what.to_owned(), plan, |plan| plan.service = simpler));
        }
    }
    changes
}

/// Whether a fault names a server.
fn strikes_server(fault: &PlannedFault) -> bool {
    !Parts::of(&mut fault.inject.clone()).servers.is_empty()
}

/// Simpler ways to come, to hold, and to break.
fn manners(plan: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    let arrivals = match plan.workload.arrive {
        Arrival::Together | Arrival::InOrder => &[][..],
        Arrival::BehindHolder | Arrival::InOrderBehindHolder | Arrival::Within(_) => &[
            ("in order", Arrival::InOrder),
            ("together", Arrival::Together),
        ],
    };
    for (name, arrive) in arrivals {
        let what = format!("arrivals {name}");
        changes.push(with(what, plan, |plan| plan.workload.arrive = *arrive));
    }
    changes.extend(simpler_lock_order(plan));
    if plan.workload.hold == Hold::Settled {
        let hold = Hold::For(std::time::Duration::from_secs(1));
        let what = "holds of 1s".to_owned();
        changes.push(with(what, plan, |plan| plan.workload.hold = hold));
    }
    if plan.workload.storm.is_some() {
        let what = "a storm that ends by itself".to_owned();
        changes.push(with(what, plan, |plan| plan.workload.storm = None));
    }
    if plan.workload.acquire_timeout.is_some() {
        let what = "no acquire timeout".to_owned();
        changes.push(with(what, plan, |plan| {
            plan.workload.acquire_timeout = None
        }));
    }
    if plan.workload.progress_bound.is_some() {
        let what = "the usual bound on progress".to_owned();
        changes.push(with(what, plan, |plan| plan.workload.progress_bound = None));
    }
    for (index, fault) in plan.faults.iter().enumerate() {
        changes.extend(simpler_fault(&fault.inject).map(|inject| {
            let text = describe::repeated(&inject, fault.repeat);
            let what = format!("fault {}: {text}", index + 1);
            with(what, plan, |plan| {
                plan.faults[index].inject = inject;
                plan.faults[index].text = text;
            })
        }));
        if let Trigger::Fired { fault: first } = fault.when
            && let Some(first) = plan.faults.get(first)
        {
            let what = format!("fault {} waits for no other", index + 1);
            let (when, after) = (first.when.clone(), first.after + fault.after);
            changes.push(with(what, plan, |plan| {
                plan.faults[index].when = when;
                plan.faults[index].after = after;
            }));
        }
    }
    changes
}

/// The same fault with less to it: fewer servers and links are struck. What comes back comes back, and what is for good
/// stays so.
fn simpler_fault(fault: &Fault) -> Option<Fault> {
    match fault {
        Fault::HoldLink { from, to, length } if from.len() > 1 => Some(Fault::HoldLink {
            from: from[1..].to_vec(),
            to: *to,
            length: *length,
        }),
        Fault::Partition {
            servers,
            contenders,
            length,
        } if servers.len() > 1 => Some(Fault::Partition {
            servers: servers[..servers.len() - 1].to_vec(),
            contenders: contenders.clone(),
            length: *length,
        }),
        _ => None,
    }
}
