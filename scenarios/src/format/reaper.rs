//! `reaper-interval` of `[[contender]]`: which recipes have a reaper, and what a contender that runs one does besides.

use picklock_algorithms::{Recipe, RecipeInput};
use picklock_sim::plan::{ContenderSettings, Plan};

use super::reader::{Item, Mistake, Mistakes, expected};
use crate::describe::contender;
use crate::scenario::Catalogue;

/// Refuses a contender that runs a reaper to a recipe without one, and one that wants the lock as well.
pub(super) fn refuse_reaper(
    item: &Item,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let has_one = |recipe: &Recipe| recipe.inputs.contains(&RecipeInput::Reaper);
    let own = plan.workload.contender_settings.iter();
    let reapers = own.filter(|(_, own)| own.reaper_interval.is_some());
    let reapers: Vec<_> = reapers.collect();
    let Some(&(first, _)) = reapers.first() else {
        return;
    };
    let says = format!("but {} has a `reaper-interval`", contender(*first));
    let mistake = if !has_one(&plan.recipe) {
        let name = plan.recipe.name;
        let fit = catalogue.on_service(plan.service.kind(), has_one);
        let mistake = Mistake::new(format!("`{name}` has no reaper")).label(says);
        let mistake = match fit.is_empty() {
            true => mistake,
            false => mistake.help(format!("{}, which have one", expected(&fit))),
        };
        mistake.help("or leave `reaper-interval` out")
    } else if reapers.len() as u32 == plan.workload.contenders {
        Mistake::new("no contender wants the lock")
            .label("each has a `reaper-interval`")
            .help("give `contenders` of [workload] one more")
    } else if let Some((name, _)) = reapers.iter().find(|(_, own)| wants_the_lock(own)) {
        Mistake::new(format!(
            "{} runs a reaper, and wants no lock",
            contender(**name)
        ))
        .label("but it says how it takes the lock")
        .help("leave out what is said besides `reaper-interval`, or `reaper-interval`")
    } else {
        return;
    };
    mistakes.add(item.span.clone(), mistake);
}

/// Whether anything is said of how a contender takes the lock.
fn wants_the_lock(own: &ContenderSettings) -> bool {
    let machine = ContenderSettings {
        arrive_after: own.arrive_after,
        reaper_interval: own.reaper_interval,
        processing: own.processing,
        latency: own.latency,
        clock_offset_millis: own.clock_offset_millis,
        ..ContenderSettings::default()
    };
    machine != *own
}
