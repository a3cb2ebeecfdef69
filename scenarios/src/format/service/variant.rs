//! Whether a service has what an algorithm asks for, as it is set.

use picklock_sim::plan::Plan;

use crate::format::reader::{Item, Mistake, Mistakes, expected};
use crate::scenario::Catalogue;

/// How many algorithms are named, at the most.
pub(in crate::format) const MANY: usize = 12;

/// Refuses an algorithm that asks for what this variant of its service does not have.
pub(in crate::format) fn refuse_on_other_variant(
    item: &Item,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let build = plan.recipe.build;
    let (Some(fits), Some((key, variant))) = (build.variants(), plan.service.variant()) else {
        return;
    };
    if build.service() != plan.service.kind() || fits.contains(&variant) {
        return;
    }
    let is_there = |variants: Option<&[&str]>| variants.is_none_or(|all| all.contains(&variant));
    let others = catalogue.on_service(plan.service.kind(), |recipe| {
        is_there(recipe.build.variants())
    });
    let needs = fits.join("\" or \"");
    let mut mistake = Mistake::new(format!("`{}` needs {key} = \"{needs}\"", plan.recipe.name))
        .label(format!("but this scenario stands on \"{variant}\""))
        .help(format!(
            "or write {key} = \"{needs}\" in [service.{}]",
            plan.service.kind().name()
        ));
    // A list of all is no help where there are many.
    if others.len() <= MANY {
        mistake = mistake.help(expected(&others));
    }
    mistakes.add(item.span.clone(), mistake);
}
