//! Re-entry of what can be entered once: a leader leads already, and a permit is another one each time.

use picklock_algorithms::{Claim, LockKind, Recipe};
use picklock_sim::plan::Plan;

use super::reader::{Item, Mistake, Mistakes, expected};
use crate::scenario::Catalogue;

/// Refuses re-entry of a mutex that does not promise it: its second call waits for the first, for ever.
pub(super) fn refuse_self_deadlock(
    item: &Item,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let counts = |recipe: &Recipe| recipe.claims.contains(&Claim::Reentrancy);
    let can_be_entered_again = match plan.recipe.ownership.kind {
        LockKind::Mutex | LockKind::ReadWrite => counts(&plan.recipe),
        // Of these it is refused whatever they promise.
        LockKind::Election
        | LockKind::Semaphore
        | LockKind::MultiLock
        | LockKind::Barrier
        | LockKind::DoubleBarrier
        | LockKind::CountDownLatch => true,
    };
    let is_one = plan.workload.locks_at_once < 2;
    if plan.workload.reentrancy_depth < 2 || can_be_entered_again || !is_one {
        return;
    }
    let service = plan.service.kind();
    let fit = catalogue.on_service(service, counts);
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!("`{name}` does not promise `reentrancy`"))
        .label("but `reentrancy-depth` says that a section enters it again");
    let mistake = match fit.is_empty() {
        true => mistake,
        false => mistake.help(format!("{}, which promise it", expected(&fit))),
    };
    let mistake = mistake.help(
        "or leave `reentrancy-depth` out; to show what comes of it, write \
         `allow-self-deadlock = true` in [workload]",
    );
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses re-entry of an election, of a semaphore, and of several locks.
pub(super) fn refuse_reentry(item: &Item, plan: &Plan, mistakes: &mut Mistakes) {
    if plan.workload.reentrancy_depth < 2 {
        return;
    }
    let (kind, but) = match plan.recipe.ownership.kind {
        LockKind::Election => ("an election", "but a leader has nothing to enter again"),
        LockKind::Semaphore => (
            "a semaphore",
            "but a holder that acquires again takes another permit, and may wait for its own",
        ),
        LockKind::MultiLock => (
            "a multi-lock",
            "but whether a lock counts its entries, each of its locks shows",
        ),
        LockKind::Mutex
        | LockKind::ReadWrite
        | LockKind::Barrier
        | LockKind::DoubleBarrier
        | LockKind::CountDownLatch => return,
    };
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!(
        "`{name}` is {kind}, and has no use for `reentrancy-depth`"
    ))
    .label(but)
    .help("leave `reentrancy-depth` out");
    mistakes.add(item.span.clone(), mistake);
}
