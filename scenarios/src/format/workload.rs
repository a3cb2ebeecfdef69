//! `[workload]`: who wants the lock, and what for.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{Hold, Workload};

use super::latch_count::refuse_all_count;
use super::locks::refuse_mistaken_locks;
use super::processes::refuse_mistaken_processes;
use super::reader::{Fields, Item, Mistake, Mistakes};
use super::value::Given;
use crate::sampled_parameters::SampledParameters;
use crate::units;

/// Reads `[workload]` of a file on this service, and what it leaves open; also the least number of contenders, if the
/// file gives it without a mistake.
pub(super) fn workload(
    file: &mut Fields,
    service: ServiceKind,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Workload, Option<u32>) {
    let mut workload = Workload::default();
    let Some(item) = file.get("workload") else {
        let contenders = workload.contenders;
        return (workload, Some(contenders));
    };
    let Some(mut fields) = item.table("the table [workload]", mistakes) else {
        return (workload, None);
    };
    let given = Given::read(&mut fields, Workload::KEYS, &[], mistakes);
    given.settle(&mut workload, open);
    // It is no matter of a workload, but of what goes with it: see `allows_self_deadlock`.
    let _ = fields.get(ALLOW_SELF_DEADLOCK);
    // What is wrong with these has been said; that they are there has not to be said again.
    for (key, number) in [
        ("permits", &mut workload.permits),
        ("count", &mut workload.count),
    ] {
        if given.is_mistaken(&fields, key) {
            *number = Some(1);
        }
    }
    let is_mistaken = |key| given.is_mistaken(&fields, key);
    let contenders = (!is_mistaken("contenders")).then_some(workload.contenders);
    refuse_mistaken_processes(&given, &mut workload, contenders, (service, open), mistakes);
    refuse_mistaken_locks(&given, &workload, (service, open), mistakes);
    refuse_all_count(&given, contenders, mistakes);
    fields.finish(mistakes);
    (workload, contenders)
}

/// The key that says so.
const ALLOW_SELF_DEADLOCK: &str = "allow-self-deadlock";

/// Whether sections may enter again what cannot be entered again.
pub(super) fn allows_self_deadlock(file: &Fields, mistakes: &mut Mistakes) -> bool {
    let item = of_workload(file, ALLOW_SELF_DEADLOCK, mistakes);
    item.is_some_and(|item| item.boolean(mistakes).unwrap_or_default())
}

/// What a file says behind a key of its workload, which has been read.
fn of_workload<'a>(file: &Fields<'a>, key: &str, mistakes: &mut Mistakes) -> Option<Item<'a>> {
    let table = file.peek("workload")?;
    table.table("the table [workload]", mistakes)?.peek(key)
}

/// Refuses sections of which none can end within the bound on progress: the first may be over by then, no other.
pub(super) fn refuse_endless_sections(
    file: &Fields,
    workload: &Workload,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    let mut busiest = open.busiest_of(workload);
    if let Some((_, most)) = open.hold {
        busiest.hold = Hold::For(most);
    }
    let hold = |name| match busiest.hold_of(name) {
        Hold::For(hold) => hold,
        Hold::Settled => Duration::ZERO,
    };
    let shortest = busiest.each(hold).map(|(hold, _)| hold).min();
    let (Some(bound), Some(hold)) = (workload.progress_bound, shortest) else {
        return;
    };
    if hold <= bound || busiest.sections() <= busiest.permits() || !mistakes.is_empty() {
        return;
    }
    let (hold, bound) = (units::write_duration(hold), units::write_duration(bound));
    let mistake = Mistake::new("no section can end within the bound on progress")
        .label(format!("but a section lasts {hold}"))
        .help(format!(
            "in the calm each contender has {bound} to get the lock and do its section: write a longer \
             `progress-bound`, or leave it out, or write a shorter `hold`"
        ));
    let item = of_workload(file, "progress-bound", mistakes);
    mistakes.add(item.map_or(0..0, |item| item.span), mistake);
}
