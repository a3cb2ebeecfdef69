//! `count` of `[workload]`: how many count down before a latch opens.

use picklock_algorithms::LockKind;
use picklock_sim::plan::{Plan, Value};

use super::reader::{Item, Mistake, Mistakes};
use super::value::Given;
use crate::sampled_parameters::SampledParameters;

/// Refuses a count of as many as there are contenders.
pub(super) fn refuse_all_count(given: &Given, contenders: Option<u32>, mistakes: &mut Mistakes) {
    let (Some((item, Value::Whole(count))), Some(contenders)) = (given.get("count"), contenders)
    else {
        return;
    };
    if *count >= i64::from(contenders) {
        let mistake = Mistake::new(format!("{count} of {contenders} contenders count down"))
            .label("no contender is left to wait for zero")
            .help("write a smaller `count`, or more `contenders`");
        mistakes.add(item.span.clone(), mistake);
    }
}

/// Refuses a count of what is no latch, and a latch of which nothing says what its count is, or that is to open again.
pub(super) fn refuse_count(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    let (name, kind) = (plan.recipe.name, plan.recipe.ownership.kind);
    let is_latch = kind == LockKind::CountDownLatch;
    let mistake = match (is_latch, plan.workload.count) {
        (false, None) => return,
        (true, Some(_)) => return refuse_second_use(item, plan, open, mistakes),
        (true, None) => Mistake::new(format!("nothing says what the count of `{name}` is"))
            .label("it is a count-down latch")
            .help("say in [workload] how many of the contenders count down: count = 2"),
        (false, Some(_)) => Mistake::new(format!("`{name}` has no count"))
            .label(format!(
                "its kind is {}, and `count` says how many count down",
                kind.name()
            ))
            .help("leave `count` out"),
    };
    mistakes.add(item.span.clone(), mistake);
}

/// A participant that comes again before the others have counted down would count in their place.
fn refuse_second_use(item: &Item, plan: &Plan, open: &SampledParameters, mistakes: &mut Mistakes) {
    let rounds = open.rounds.map_or(plan.workload.rounds, |(_, most)| most);
    if rounds <= plan.workload.locks {
        return;
    }
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!("`{name}` opens once, and is to be used again"))
        .label(format!(
            "but there are {rounds} rounds, and {} to open",
            plan.workload.locks
        ))
        .help(format!(
            "write `locks = {rounds}` in [workload]: in each round all come to the next"
        ));
    mistakes.add(item.span.clone(), mistake);
}
