//! What cannot be asked of a barrier: all come to it, in the same rounds; and at a double barrier no party gives up.

use picklock_checker::Rendezvous;
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
    let Some(rendezvous) = plan.rendezvous() else {
        return;
    };
    let of_kind = match rendezvous {
        Rendezvous::Barrier | Rendezvous::CountDownLatch { .. } => Vec::new(),
        Rendezvous::DoubleBarrier { .. } => of_parties(plan, open),
    };
    for (key, says, help) in of_kind.into_iter().chain(of_any(plan, open)) {
        let (name, kind) = (plan.recipe.name, plan.recipe.ownership.kind.name());
        let mistake = Mistake::new(format!("`{name}` is a {kind}, and has no use for {key}"))
            .label(format!("but {says}"))
            .help(help);
        mistakes.add(item.span.clone(), mistake);
    }
}

/// A key that makes no sense, what it says, and what to do.
type Senseless = (&'static str, String, &'static str);

/// Of parties that wait for each other.
fn of_parties(plan: &Plan, open: &SampledParameters) -> Vec<Senseless> {
    let workload = &plan.workload;
    let mut found = Vec::new();
    let arrivals = open.arrive.iter().chain([&workload.arrive]);
    if { arrivals }.any(|arrive| arrive.is_behind_holder()) {
        found.push((
            "a holder to wait behind",
            "no contender is inside until all have come".to_owned(),
            "write arrive = \"together\", \"in-order\", or { within = \"5s\" }",
        ));
    }
    let any = open.contender.as_ref();
    let any_gives_up = any.is_some_and(|any| any.acquire_timeout.is_some());
    if workload.has_acquire_timeout() || any_gives_up {
        found.push((
            "`acquire-timeout`",
            "a party that gives up leaves all others waiting".to_owned(),
            "leave `acquire-timeout` out",
        ));
    }
    found
}

/// Of all who come to a barrier of whatever kind.
fn of_any(plan: &Plan, open: &SampledParameters) -> Vec<Senseless> {
    let workload = &plan.workload;
    let mut found = Vec::new();
    let (is_double, is_latch) = (plan.parties().is_some(), plan.count().is_some());
    if workload.reentrancy_depth > 1 {
        let says = match is_double {
            true => "a party inside would wait there for all others to come again",
            false if is_latch => "a participant counts down once",
            false => "the setter has nothing to set again, and would wait for itself to pass",
        };
        found.push((
            "`reentrancy-depth`",
            says.to_owned(),
            "leave `reentrancy-depth` out",
        ));
    }
    if workload.bypass_bound.is_some() {
        let says = match is_double {
            true => "the last contender overtakes no other: all enter together",
            false => "the last contender overtakes no other: all pass together",
        };
        found.push((
            "`bypass-bound`",
            says.to_owned(),
            "leave `bypass-bound` out",
        ));
    }
    if workload.starvation_bound.is_some() {
        found.push((
            "`starvation-bound`",
            "all are let in together".to_owned(),
            "leave `starvation-bound` out",
        ));
    }
    let own = workload.contender_settings.iter();
    let own = own.map(|(name, own)| (contender(*name), own.rounds.is_some(), own.locks.len()));
    let any = open.contender.as_ref();
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
