//! `permits` of `[workload]`: how many may hold a semaphore at once.

use picklock_algorithms::{LockKind, Recipe};
use picklock_sim::plan::Plan;

use super::reader::{Fields, Item, Mistake, Mistakes, expected};
use super::sampled_parameters::{whole, wide};
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;

/// Reads how many permits a semaphore has, and may have at most: the least, if each seed draws it.
pub(super) fn permits(
    fields: &mut Fields,
    most: u32,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> Option<u32> {
    let item = fields.get("permits")?;
    // What is wrong with it has been said; that it is there has not to be said again.
    let Some(range) = whole(&item, 1..=i64::from(most), mistakes) else {
        return Some(1);
    };
    open.permits = wide(range);
    Some(range.0)
}

/// Refuses permits of what is no semaphore, and a semaphore of which nobody says how many it has.
pub(super) fn refuse_permits(
    item: &Item,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let is_semaphore = |recipe: &Recipe| recipe.ownership.kind == LockKind::Semaphore;
    let name = plan.recipe.name;
    let mistake = match (is_semaphore(&plan.recipe), plan.workload.permits) {
        (true, Some(_)) | (false, None) => return,
        (true, None) => Mistake::new(format!("nothing says how many permits `{name}` has"))
            .label("it is a semaphore")
            .help("say in [workload] how many may hold it at once: permits = 2"),
        (false, Some(_)) => {
            let kind = plan.recipe.ownership.kind.name();
            let service = plan.service.kind();
            let fit = catalogue.on_service(service, is_semaphore);
            let mistake = Mistake::new(format!("`{name}` has no permits")).label(format!(
                "its kind is {kind}, and `permits` says how many hold it at once"
            ));
            let mistake = match fit.is_empty() {
                true => mistake,
                false => mistake.help(format!("{}, which are semaphores", expected(&fit))),
            };
            mistake.help("or leave `permits` out")
        }
    };
    mistakes.add(item.span.clone(), mistake);
}
