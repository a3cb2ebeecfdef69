//! `tasks-per-process` and `share` of `[workload]`: which contenders are tasks of one process, and what they share.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{ContenderName, Plan, Regions, Service, Share, Workload};

use super::participants::plural;
use super::reader::{Fields, Item, Mistake, Mistakes};
use super::sampled_parameters::{several, whole, wide};
use crate::describe::contender;
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;

/// So many tasks a process has at most.
const MOST_TASKS: i64 = 64;

/// What tasks may share; in a list, nothing is one of the choices.
const NOTHING: &str = "nothing";

/// Reads how many tasks a process has, and what they share.
pub(super) fn processes(
    fields: &mut Fields,
    contenders: Option<u32>,
    service: ServiceKind,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (u32, Share) {
    let tasks = fields.get("tasks-per-process");
    let range = tasks
        .as_ref()
        .and_then(|item| whole(item, 1..=MOST_TASKS, mistakes));
    let (least, most) = range.unwrap_or((1, 1));
    open.tasks_per_process = range.and_then(wide);
    if let (Some(item), Some(contenders)) = (&tasks, contenders)
        && open.tasks_per_process.is_none()
        && open.contenders.is_none()
        && !contenders.is_multiple_of(least)
    {
        let mistake = Mistake::new(format!(
            "{} are no whole number of processes of {least}",
            plural(contenders, "contender")
        ))
        .help(format!(
            "say a multiple of {least} contenders, or other `tasks-per-process`"
        ));
        mistakes.add(item.span.clone(), mistake);
    }
    let share = fields.get("share");
    let Some(item) = share else {
        return (least, Share::Nothing);
    };
    if most == 1 && mistakes.is_empty() {
        let mistake = Mistake::new("each contender is a process of its own")
            .label("so there is nobody to share with")
            .help("say how many tasks a process has: tasks-per-process = 2");
        mistakes.add(item.span.clone(), mistake);
    }
    let read = several(&item, mistakes, |item, mistakes| {
        share_on(item, service, mistakes)
    });
    let Some(read) = read else {
        return (least, Share::Nothing);
    };
    open.share = read.choices;
    (least, read.first)
}

fn share_on(item: &Item, service: ServiceKind, mistakes: &mut Mistakes) -> Option<Share> {
    let name = item.text("what tasks share, such as \"lock\"", mistakes)?;
    let mut names: Vec<&str> = Share::NAMED.iter().map(|(name, _)| *name).collect();
    names.push(NOTHING);
    if name == NOTHING {
        return Some(Share::Nothing);
    }
    let found = Share::NAMED.iter().find(|(known, _)| *known == name);
    let Some((_, share)) = found else {
        mistakes.add(item.span.clone(), Mistake::unknown("share", name, &names));
        return None;
    };
    let unshared = Service::from(service).row().unshared;
    let Some([message, help]) = unshared(*share) else {
        return Some(*share);
    };
    let mistake = Mistake::new(message).help(help);
    mistakes.add(item.span.clone(), mistake);
    None
}

/// Refuses a recipe whose lock object cannot be shared, where tasks share one.
pub(super) fn refuse_unshareable(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let recipe = &plan.recipe;
    let shares = plan.workload.share == Share::Lock || open.share.contains(&Share::Lock);
    if !shares || recipe.shareable {
        return;
    }
    let service = recipe.build.service();
    let fit = catalogue.on_service(service, |other| other.shareable);
    let mistake = Mistake::new(format!(
        "`{}` does not say how its lock object is shared",
        recipe.name
    ))
    .label("but the tasks of a process share one here")
    .help(super::reader::expected(&fit))
    .help("a recipe says so by `Lock::for_task`, and `Recipe::shareable` that it does; docs/your-lock.md shows how");
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses settings of tasks of one process that differ in what is the process's, and regions that part them.
pub(super) fn refuse_two_machines(
    file: &Fields,
    workload: &Workload,
    regions: &Regions,
    mistakes: &mut Mistakes,
) {
    if !mistakes.is_empty() {
        return;
    }
    for (name, own) in &workload.contender_settings {
        for (other, theirs) in workload.contender_settings.range(..*name) {
            if !workload.is_one_process(*name, *other) {
                continue;
            }
            let both = (own.latency.zip(theirs.latency)).is_some_and(|(one, two)| one != two);
            let offsets = (own.clock_offset_millis, theirs.clock_offset_millis);
            let clocks = offsets.0 != offsets.1 && offsets.0 != 0 && offsets.1 != 0;
            for (differs, key) in [(both, "latency"), (clocks, "clock-offset")] {
                if differs {
                    let what = format!("the `{key}` of {} differs", contender(*name));
                    refuse(file, "contender", what, *other, mistakes);
                }
            }
        }
    }
    let region = |name: &ContenderName| {
        let mut all = regions.all.iter();
        all.position(|region| region.contenders.contains(name))
    };
    let named = regions.all.iter().flat_map(|region| &region.contenders);
    for name in named {
        let others = workload.tasks_with(*name).filter(|other| other < name);
        let apart =
            { others }.find(|other| region(other).is_some_and(|it| region(name) != Some(it)));
        if let Some(other) = apart {
            let what = format!("{} lies in another region", contender(*name));
            refuse(file, "region", what, other, mistakes);
            return;
        }
    }
}

fn refuse(
    file: &Fields,
    key: &'static str,
    what: String,
    other: ContenderName,
    mistakes: &mut Mistakes,
) {
    let mistake = Mistake::new(format!("{what} from that of {}", contender(other)))
        .label("they are tasks of one process, on one machine")
        .help("say it of one of them, or the same of both");
    let span = file.peek(key).map_or(0..0, |item| item.span);
    mistakes.add(span, mistake);
}
