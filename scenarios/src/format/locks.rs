//! `locks`, `locks-at-once`, and `lock-order` of `[workload]`: how many locks there are, how many of them a section
//! holds at once, and in which order it acquires them.

use picklock_algorithms::LockKind;
use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{Plan, Service, Workload};

use super::participants::plural;
use super::reader::{Fields, Item, Mistake, Mistakes};
use super::value::Given;
use crate::describe;
use crate::sampled_parameters::SampledParameters;

/// Refuses more locks than a service knows, more at once than there are, and an order of one at a time.
pub(super) fn refuse_mistaken_locks(
    given: &Given,
    workload: &Workload,
    (service, open): (ServiceKind, &SampledParameters),
    mistakes: &mut Mistakes,
) {
    let several = |range: Option<(u32, u32)>, only: u32| range.unwrap_or((only, only));
    let locks = several(open.locks, workload.locks);
    let at_once = several(open.locks_at_once, workload.locks_at_once);
    if let Some((item, _)) = given.get("locks")
        && most_locks(service).is_some_and(|most| locks.1 > most)
    {
        let others = ServiceKind::ALL.into_iter();
        let others = others.filter(|other| most_locks(*other).is_none());
        let others: Vec<&str> = others.map(ServiceKind::title).collect();
        let mistake = Mistake::new(format!("{} knows one lock", service.title())).help(format!(
            "leave `locks` out, or stand on {}",
            others.join(" or ")
        ));
        mistakes.add(item.span.clone(), mistake);
        return;
    }
    if let Some((item, _)) = given.get("locks-at-once") {
        refuse_more_than_there_are(item, at_once, locks, mistakes);
    }
    if let Some((item, _)) = given.get("lock-order").filter(|_| at_once.1 == 1)
        && mistakes.is_empty()
    {
        let mistake = Mistake::new("a section holds one lock at a time")
            .label("so there is no order in which it acquires several")
            .help("say how many it holds at once: locks-at-once = 2");
        mistakes.add(item.span.clone(), mistake);
    }
}

/// How many locks a service knows at most, if their number is bounded.
fn most_locks(service: ServiceKind) -> Option<u32> {
    Service::from(service).row().most_locks
}

/// No section holds more locks than there are; of a range, neither the least nor the most.
fn refuse_more_than_there_are(
    item: &Item,
    (least, most): (u32, u32),
    (fewest, all): (u32, u32),
    mistakes: &mut Mistakes,
) {
    if least <= fewest && most <= all {
        return;
    }
    let (wanted, there) = match most <= all {
        true => (least, fewest),
        false => (most, all),
    };
    let held = plural(wanted, "lock");
    let mistake = Mistake::new(format!("a section cannot hold {held} at once"))
        .label(match fewest < all {
            true => format!(
                "of some seeds there is no more than {}",
                plural(there, "lock")
            ),
            false => format!("there is no more than {}", plural(there, "lock")),
        })
        .help(format!(
            "say how many there are in [workload]: locks = {wanted}"
        ));
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses locks that no contender takes, and what does not go with several at once.
pub(super) fn refuse_locks(
    file: &Fields,
    workload: &Workload,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    refuse_idle_locks(file, workload, open, mistakes);
    refuse_of_several(file, workload, open, mistakes);
}

/// Every lock must be taken: there are no more locks than sections, which are as many as a seed may settle on.
fn refuse_idle_locks(
    file: &Fields,
    workload: &Workload,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    let busiest = open.busiest_of(workload);
    let locks = open.locks.map_or(workload.locks, |(_, most)| most);
    let sections = busiest.sections();
    if locks > busiest.locks_at_most() && mistakes.is_empty() {
        let mistake = Mistake::new(format!(
            "there are {locks} locks, and no contender takes the last"
        ))
        .label(format!(
            "the contenders come for {}",
            plural(sections, "section")
        ))
        .help("each round takes one lock: say fewer locks, or more contenders or rounds");
        let table = file.peek("workload");
        let table = table.and_then(|item| item.table("the table [workload]", mistakes));
        let locks = table.and_then(|fields| fields.peek("locks"));
        mistakes.add(locks.map_or(0..0, |item| item.span), mistake);
    }
}

/// Refuses lists of locks that are too short or name one twice, and entries one inside the other.
fn refuse_of_several(
    file: &Fields,
    workload: &Workload,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    let fixed = (0, workload.locks_at_once);
    let (_, at_once) = open.locks_at_once.unwrap_or(fixed);
    let table = file.peek("workload");
    let table = table.and_then(|item| item.table("the table [workload]", mistakes));
    let Some(item) = table.and_then(|fields| fields.peek("locks-at-once")) else {
        return;
    };
    if at_once < 2 || !mistakes.is_empty() {
        return;
    }
    for (name, own) in &workload.contender_settings {
        let mut named = own.locks.clone();
        named.sort_unstable();
        named.dedup();
        let (given, different) = (own.locks.len(), named.len());
        if given == 0 || given == different && different >= at_once as usize {
            continue;
        }
        let who = describe::contender(*name);
        let mistake = Mistake::new(format!(
            "`locks` of {who} names no {at_once} locks to hold at once"
        ));
        let mistake = match given == different {
            true => mistake.help(format!("name {at_once} locks or more in its `locks`")),
            false => mistake.help("name each lock once in its `locks`"),
        };
        mistakes.add(item.span.clone(), mistake);
    }
    if workload.reentrancy_depth > 1 {
        let mistake = Mistake::new("`locks-at-once` and `reentrancy-depth` do not go together")
            .label("a section holds several locks")
            .help("say one of them: whether a lock counts its entries, one lock shows");
        mistakes.add(item.span.clone(), mistake);
    }
}

/// Refuses several locks at once of a kind that does not nest.
pub(super) fn refuse_kind_of_several(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    let fixed = plan.workload.locks_at_once;
    let (least, most) = open.locks_at_once.unwrap_or((fixed, fixed));
    let name = plan.recipe.name;
    if plan.recipe.ownership.kind == LockKind::MultiLock && least < 2 {
        let mistake = Mistake::new(format!("`{name}` acquires several locks by one call"))
            .label("but a section of this workload holds one lock")
            .help("say in [workload] how many it holds: locks = 2, locks-at-once = 2");
        mistakes.add(item.span.clone(), mistake);
        return;
    }
    if most < 2 {
        return;
    }
    let (kind, but) = match plan.recipe.ownership.kind {
        LockKind::Mutex | LockKind::MultiLock | LockKind::ReadWrite => return,
        LockKind::Semaphore => (
            "a semaphore",
            "but a contender that waits for a permit waits for all holders, and not for one",
        ),
        LockKind::Election => (
            "an election",
            "but a leader does not stand for another term meanwhile",
        ),
        LockKind::Barrier => ("a barrier", "but a party at one does not wait at another"),
        LockKind::DoubleBarrier => (
            "a double barrier",
            "but a party inside one cannot come to another",
        ),
        LockKind::CountDownLatch => (
            "a count-down latch",
            "but a contender that waits for one does not wait for another",
        ),
    };
    let mistake = Mistake::new(format!(
        "`{name}` is {kind}, and has no use for `locks-at-once`"
    ))
    .label(but)
    .help("leave `locks-at-once` out, or take a mutex or a read-write lock");
    mistakes.add(item.span.clone(), mistake);
}
