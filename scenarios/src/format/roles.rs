//! `reaper-interval` and `releases-for-others` of `[[contender]]`: contenders that want no lock, and what their recipe
//! must have for that.

use picklock_algorithms::{Recipe, RecipeInput};
use picklock_sim::plan::{ContenderSettings, Plan};

use super::reader::{Item, Mistake, Mistakes, expected};
use crate::describe::contender;
use crate::scenario::Catalogue;

/// What a contender does that wants no lock.
struct Role {
    key: &'static str,
    has: fn(&ContenderSettings) -> bool,
    input: RecipeInput,
    /// What a recipe lacks that has no such input.
    lacks: &'static str,
}

const ROLES: [Role; 2] = [
    Role {
        key: "reaper-interval",
        has: |own| own.reaper_interval.is_some(),
        input: RecipeInput::Reaper,
        lacks: "has no reaper",
    },
    Role {
        key: "releases-for-others",
        has: |own| own.releases_for_others,
        input: RecipeInput::RestoredLock,
        lacks: "is given back by the process that has taken it",
    },
];

/// Refuses a contender that wants no lock to a recipe that has nothing for it to do, and one that wants a lock besides.
pub(super) fn refuse_roles(
    item: &Item,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let found = ROLES.iter().find_map(|role| lacking(role, plan, catalogue));
    if let Some(mistake) = found.or_else(|| at_odds(plan)) {
        mistakes.add(item.span.clone(), mistake);
    }
}

/// A contender has a role that the recipe knows nothing of.
fn lacking(role: &Role, plan: &Plan, catalogue: &Catalogue) -> Option<Mistake> {
    let has = |recipe: &Recipe| recipe.inputs.contains(&role.input);
    let mut own = plan.workload.contender_settings.iter();
    let (name, _) = own.find(|(_, own)| (role.has)(own) && !has(&plan.recipe))?;
    let fit = catalogue.on_service(plan.service.kind(), has);
    let mistake = Mistake::new(format!("`{}` {}", plan.recipe.name, role.lacks)).label(format!(
        "but {} has `{}`",
        contender(*name),
        role.key
    ));
    let mistake = match fit.is_empty() {
        true => mistake,
        false => mistake.help(format!("{}, which fit", expected(&fit))),
    };
    Some(mistake.help(format!("or leave `{}` out", role.key)))
}

/// Settings of contenders that want no lock contradict each other, or those of the workload.
fn at_odds(plan: &Plan) -> Option<Mistake> {
    let own = plan.workload.contender_settings.iter();
    let idle: Vec<_> = own.filter(|(_, own)| own.wants_no_lock()).collect();
    if idle.is_empty() {
        return None;
    }
    if idle.len() as u32 == plan.workload.contenders {
        let mistake = Mistake::new("no contender wants the lock");
        return Some(mistake.help("give `contenders` of [workload] one more"));
    }
    if plan.workload.releaser().is_some() && plan.workload.locks_at_once > 1 {
        let mistake = Mistake::new("several locks at once are not restored");
        return Some(mistake.help("leave `locks-at-once` or `releases-for-others` out"));
    }
    let (name, _) = idle.iter().find(|(_, own)| wants_the_lock(own))?;
    let mistake = Mistake::new(format!("{} wants no lock", contender(**name)))
        .label("but its settings say how it takes the lock, or give it two roles")
        .help("keep `reaper-interval` or `releases-for-others`, and leave the other keys out");
    Some(mistake)
}

/// Whether the settings of a contender say how it takes the lock, or give it two roles.
fn wants_the_lock(own: &ContenderSettings) -> bool {
    let machine = ContenderSettings {
        arrive_after: own.arrive_after,
        reaper_interval: own.reaper_interval,
        releases_for_others: own.releases_for_others,
        processing: own.processing,
        latency: own.latency,
        clock_offset_millis: own.clock_offset_millis,
        ..ContenderSettings::default()
    };
    machine != *own || ROLES.iter().filter(|role| (role.has)(own)).count() > 1
}
