//! No time to wait for the lock: `tryLock()`, which not every recipe has.

use std::time::Duration;

use picklock_algorithms::{Recipe, RecipeInput};
use picklock_sim::plan::Plan;

use super::reader::{Item, Mistake, Mistakes, expected};
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;

/// Refuses contenders that do not wait to a recipe without a call for that: dropped at once, it would never have the
/// lock.
pub(super) fn refuse_try_acquire(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let tries_once = |recipe: &Recipe| recipe.inputs.contains(&RecipeInput::TryAcquire);
    let is_none = |time: Option<Duration>| time == Some(Duration::ZERO);
    let any = open.contender.as_ref().and_then(|any| any.acquire_timeout);
    let any_has_none = is_none(any.map(|(least, _)| least));
    let mut named = plan.workload.contender_settings.values();
    let has_none =
        is_none(plan.workload.acquire_timeout) || named.any(|own| is_none(own.acquire_timeout));
    if !(has_none || any_has_none) || tries_once(&plan.recipe) {
        return;
    }
    let service = plan.service.kind();
    let fit = catalogue.on_service(service, tries_once);
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!("`{name}` has no call that does not wait"))
        .label("but `acquire-timeout` says \"0s\": one attempt, and its answer");
    let mistake = match fit.is_empty() {
        true => mistake,
        false => mistake.help(format!("{}, which have one", expected(&fit))),
    };
    mistakes.add(
        item.span.clone(),
        mistake.help("or give `acquire-timeout` some time, or leave it out"),
    );
}
