//! What cannot be asked of a barrier: all parties come to it, in the same rounds, and nobody gives up.

use picklock_sim::plan::Plan;

use super::reader::{Item, Mistake, Mistakes};
use crate::describe::contender;
use crate::sampled_parameters::SampledParameters;

/// Refuses a workload that no barrier can serve.
pub(super) fn refuse_of_barrier(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    if plan.parties().is_none() {
        return;
    }
    for (key, says, help) in senseless(plan, open) {
        let name = plan.recipe.name;
        let mistake = Mistake::new(format!("`{name}` is a barrier, and has no use for {key}"))
            .label(format!("but {says}"))
            .help(help);
        mistakes.add(item.span.clone(), mistake);
    }
}

/// The keys that make no sense, what they say, and what to do.
fn senseless(plan: &Plan, open: &SampledParameters) -> Vec<(&'static str, String, &'static str)> {
    let workload = &plan.workload;
    let mut found = Vec::new();
    let arrivals = open.arrive.iter().chain([&workload.arrive]);
    if { arrivals }.any(|arrive| arrive.is_behind_holder()) {
        found.push((
            "a holder to wait behind",
            "nobody is inside until all have come".to_owned(),
            "write arrive = \"together\", \"in-order\", or { within = \"5s\" }",
        ));
    }
    let any = open.contender.as_ref();
    let any_gives_up = any.is_some_and(|any| any.acquire_timeout.is_some());
    if workload.has_acquire_timeout() || any_gives_up {
        found.push((
            "`acquire-timeout`",
            "who gives up leaves all others waiting".to_owned(),
            "leave `acquire-timeout` out",
        ));
    }
    if workload.reentrancy_depth > 1 {
        found.push((
            "`reentrancy-depth`",
            "who is inside would wait there for all others to come again".to_owned(),
            "leave `reentrancy-depth` out",
        ));
    }
    if workload.bypass_bound.is_some() {
        found.push((
            "`bypass-bound`",
            "who comes last overtakes nobody: all enter together".to_owned(),
            "leave `bypass-bound` out",
        ));
    }
    let own = workload.contender_settings.iter();
    let own = own.map(|(name, own)| (contender(*name), own.rounds.is_some(), own.locks.len()));
    let any = any.map(|any| ("one".to_owned(), any.rounds.is_some(), 0));
    for (who, has_rounds, locks) in own.chain(any) {
        if has_rounds {
            found.push((
                "`rounds` of one contender",
                format!("{who} comes in other rounds than the others"),
                "write `rounds` in [workload], for all",
            ));
        }
        if locks > 0 {
            found.push((
                "`locks` of one contender",
                format!("{who} comes to other barriers than the others"),
                "write `locks` in [workload]: in each round all come to the next",
            ));
        }
    }
    found
}
