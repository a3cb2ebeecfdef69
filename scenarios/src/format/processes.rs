//! `tasks-per-process` and `share` of `[workload]`: which contenders are tasks of one process, and what they share.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{ContenderName, Plan, Regions, Service, Share, Workload};

use super::participants::plural;
use super::reader::{Fields, Item, Mistake, Mistakes};
use super::value::Given;
use crate::describe::contender;
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;

/// Refuses processes of which one would not be whole, tasks without others that share something, and what clients of a
/// service do not share.
pub(super) fn refuse_mistaken_processes(
    given: &Given,
    workload: &mut Workload,
    contenders: Option<u32>,
    (service, open): (ServiceKind, &SampledParameters),
    mistakes: &mut Mistakes,
) {
    let tasks = workload.tasks_per_process;
    if let (Some((item, _)), Some(contenders)) = (given.get("tasks-per-process"), contenders)
        && open.tasks_per_process.is_none()
        && open.contenders.is_none()
        && !contenders.is_multiple_of(tasks)
    {
        let mistake = Mistake::new(format!(
            "{} are no whole number of processes of {tasks}",
            plural(contenders, "contender")
        ))
        .help(format!(
            "say a multiple of {tasks} contenders, or other `tasks-per-process`"
        ));
        mistakes.add(item.span.clone(), mistake);
    }
    let Some((item, _)) = given.get("share") else {
        return;
    };
    if tasks == 1 && open.tasks_per_process.is_none() && mistakes.is_empty() {
        let mistake = Mistake::new("each contender is a process of its own")
            .label("so there are no tasks to share with")
            .help("say how many tasks a process has: tasks-per-process = 2");
        mistakes.add(item.span.clone(), mistake);
    }
    let unshared = Service::from(service).row().unshared;
    let shared = match &open.share[..] {
        [] => std::slice::from_ref(&workload.share),
        choices => choices,
    };
    if let Some([message, help]) = shared.iter().find_map(|share| unshared(*share)) {
        mistakes.add(item.span.clone(), Mistake::new(message).help(help));
        workload.share = Share::Nothing;
    }
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
        let apart = { others }
            .find(|other| region(other).is_some_and(|theirs| region(name) != Some(theirs)));
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
