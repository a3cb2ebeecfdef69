//! `lock-node = "missing"` of `[service.zookeeper]`: which algorithms make the lock's own node.

use picklock_algorithms::{Recipe, RecipeInput};
use picklock_sim::plan::Plan;

use super::reader::{Item, Mistake, Mistakes, expected};
use crate::scenario::Catalogue;

/// Refuses an algorithm that waits for ever where the lock's own node is missing: each of its requests is answered with
/// `NoNode`.
pub(super) fn refuse_missing_lock_node(
    item: &Item,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let makes_it = |recipe: &Recipe| recipe.inputs.contains(&RecipeInput::LockNode);
    if !plan.service.lacks_lock_node() || makes_it(&plan.recipe) {
        return;
    }
    let kind = plan.recipe.ownership.kind;
    let fit = catalogue.on_service(plan.service.kind(), |recipe| {
        makes_it(recipe) && recipe.ownership.kind == kind
    });
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!("`{name}` does not make the lock's own node"))
        .label("but `lock-node` says that it is missing")
        .help(expected(&fit))
        .help(
            "or leave `lock-node` out; a lock of your own that makes the node says so by \
             `RecipeInput::LockNode` among the `inputs` of its `Recipe`",
        );
    mistakes.add(item.span.clone(), mistake);
}
