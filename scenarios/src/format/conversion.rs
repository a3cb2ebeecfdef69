//! `conversion`: which locks can be held in another mode, and which contenders have something to convert.

use picklock_algorithms::LockKind;
use picklock_sim::plan::{Conversion, Plan, Reads};

use super::reader::{Item, Mistake, Mistakes};
use crate::describe::contender;

/// Refuses contenders that convert to a recipe that has one mode, and those that would do nothing of the kind, or wait
/// for themselves.
pub(super) fn refuse_conversion(
    item: &Item,
    plan: &Plan,
    allows_self_deadlock: bool,
    mistakes: &mut Mistakes,
) {
    let workload = &plan.workload;
    for (name, own) in &workload.contender_settings {
        let Some(conversion) = own.conversion else {
            continue;
        };
        let (who, reads) = (contender(*name), workload.reads_of(*name));
        let waits = workload.acquire_timeout_of(*name).is_none() && !allows_self_deadlock;
        let (label, help) = match (conversion, reads) {
            _ if plan.recipe.ownership.kind != LockKind::ReadWrite => (
                format!("but {who} has a `conversion`, and it is no read-write lock"),
                "leave `conversion` out",
            ),
            _ if workload.locks_at_once > 1 => (
                format!("but {who} has a `conversion`, and holds several locks at once"),
                "leave `conversion` or `locks-at-once` out",
            ),
            (Conversion::Downgrade, Reads::Always) => (
                format!("but {who} never writes, and has nothing to downgrade"),
                "leave `reads` out",
            ),
            (Conversion::Upgrade, Reads::Never) => (
                format!("but {who} never reads, and has nothing to upgrade"),
                "write `reads = \"always\"` there",
            ),
            (Conversion::Upgrade, _) if waits => (
                format!("but {who} waits for its own read to end, for ever"),
                "give it an `acquire-timeout`; to show what comes of it, write \
                 `allow-self-deadlock = true` in [workload]",
            ),
            (Conversion::Downgrade | Conversion::Upgrade, _) => continue,
        };
        let name = plan.recipe.name;
        let mistake = Mistake::new(format!("no hold of `{name}` can be converted here"));
        mistakes.add(item.span.clone(), mistake.label(label).help(help));
    }
}
