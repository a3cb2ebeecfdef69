//! Which locks a contender can be asked for: those of recipes that are revocable.

use picklock_algorithms::Recipe;
use picklock_sim::plan::{Fault, FaultKind, Plan, PlannedFault};

use super::reader::{Item, Mistake, Mistakes};
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;

/// Refuses a fault that asks for the lock of a recipe that is not revocable.
pub(super) fn refuse_revoke(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let is_revocable = |recipe: &Recipe| recipe.revoke_message().is_some();
    if is_revocable(&plan.recipe) {
        return;
    }
    let revokes = |fault: &PlannedFault| matches!(fault.inject, Fault::Revoke { .. });
    let label = match plan.faults.iter().position(revokes) {
        Some(index) => format!("but fault {} asks for it", index + 1),
        None => match &open.faults {
            Some(any) if any.kinds == [FaultKind::Revoke] => {
                "but the faults of this file ask for it".to_owned()
            }
            Some(_) | None => return,
        },
    };
    let all = catalogue.algorithms.iter();
    let names: Vec<&str> = { all }
        .filter(|recipe| is_revocable(recipe))
        .map(|recipe| recipe.name)
        .collect();
    let name = plan.recipe.name;
    let help = format!(
        "put this case into a file without that fault, or name one that is revocable: {}",
        names.join(", ")
    );
    let mistake = Mistake::new(format!(
        "`{name}` is not revocable: no holder heeds a request for it"
    ))
    .label(label)
    .help(help);
    mistakes.add(item.span.clone(), mistake);
}
