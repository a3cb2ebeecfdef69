//! `permits` of `[workload]`: how many may hold a semaphore at once; and how many permits one call takes.

use picklock_algorithms::{LockKind, Recipe, RecipeInput};
use picklock_sim::plan::Plan;

use super::reader::{Item, Mistake, Mistakes, expected};
use crate::scenario::Catalogue;

/// Refuses several permits by one call to a recipe without such a call, and more of them than there are.
pub(super) fn refuse_several_permits(
    item: &Item,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let by_one_call = plan.workload.most_permits_per_acquire();
    let takes_several = |recipe: &Recipe| recipe.inputs.contains(&RecipeInput::SeveralPermits);
    let name = plan.recipe.name;
    let permits = plan.workload.permits();
    let mistake = if by_one_call == 1 {
        return;
    } else if !takes_several(&plan.recipe) {
        let fit = catalogue.on_service(plan.service.kind(), takes_several);
        let mistake = Mistake::new(format!("`{name}` takes no several permits by one call"))
            .label(format!("but `permits-per-acquire` says {by_one_call}"));
        let mistake = match fit.is_empty() {
            true => mistake,
            false => mistake.help(format!("{}, which have such a call", expected(&fit))),
        };
        mistake.help("or leave `permits-per-acquire` out")
    } else if by_one_call > permits {
        Mistake::new(format!("no call can ever have {by_one_call} permits"))
            .label(format!("there are {permits} of this semaphore"))
            .help("write `permits-per-acquire` that is no more than the least of `permits`")
    } else {
        return;
    };
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses permits of what is no semaphore, and a semaphore without a number of permits.
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
