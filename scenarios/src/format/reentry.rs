//! Re-entry of what can be entered once: a leader leads already, and a permit is another one each time.

use picklock_algorithms::LockKind;
use picklock_sim::plan::Plan;

use super::reader::{Item, Mistake, Mistakes};

/// Refuses re-entry of an election and of a semaphore. A mutex that does not count is judged by what comes of it.
pub(super) fn refuse_reentry(item: &Item, plan: &Plan, mistakes: &mut Mistakes) {
    if plan.workload.reentrancy_depth < 2 {
        return;
    }
    let (kind, but) = match plan.recipe.ownership.kind() {
        LockKind::Election => ("an election", "but who leads has nothing to enter again"),
        LockKind::Semaphore => (
            "a semaphore",
            "but who acquires again takes another permit, and may wait for its own",
        ),
        LockKind::MultiLock => (
            "a multi-lock",
            "but whether a lock counts its entries, each of its locks shows",
        ),
        LockKind::Mutex | LockKind::ReadWrite | LockKind::Barrier | LockKind::DoubleBarrier => {
            return;
        }
    };
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!(
        "`{name}` is {kind}, and has no use for `reentrancy-depth`"
    ))
    .label(but)
    .help("leave `reentrancy-depth` out");
    mistakes.add(item.span.clone(), mistake);
}
