//! Fewer locks, fewer of them at once, and in a simpler order.

use picklock_sim::plan::{ContenderSettings, LockOrder, Plan};

use super::changed::with;
use super::lower::lower;
use super::search::Change;

/// Fewer locks, and fewer at once.
pub(super) fn fewer_locks(plan: &Plan) -> Vec<Change> {
    let (locks, at_once) = (plan.workload.locks, plan.workload.locks_at_once);
    let fewer = lower(locks, at_once).into_iter().map(|fewer| {
        let what = format!("{fewer} of {locks} locks");
        with(what, plan, |plan| with_locks(plan, fewer))
    });
    let mut changes: Vec<Change> = fewer.collect();
    changes.extend(lower(at_once, 1).into_iter().map(|fewer| {
        let what = format!("{fewer} of {at_once} locks at once");
        with(what, plan, |plan| {
            plan.workload.locks_at_once = fewer;
            if fewer == 1 {
                plan.workload.lock_order = LockOrder::ByName;
            }
        })
    }));
    changes
}

/// Of the locks these many are left. A contender with too few of them by its own settings takes what the others do.
fn with_locks(plan: &mut Plan, locks: u32) {
    plan.workload.locks = locks;
    for own in plan.workload.contender_settings.values_mut() {
        own.locks.retain(|lock| lock.0 < locks);
        if own.locks.len() < plan.workload.locks_at_once as usize {
            own.locks.clear();
        }
    }
    let settings = &mut plan.workload.contender_settings;
    settings.retain(|_, own| *own != ContenderSettings::default());
}

/// Locks that are acquired by name, or at least not as chance has it.
pub(super) fn simpler_lock_order(plan: &Plan) -> Vec<Change> {
    let simpler: &[(&str, LockOrder)] = match plan.workload.lock_order {
        LockOrder::ByName => &[],
        LockOrder::InTurn => &[("by name", LockOrder::ByName)],
        LockOrder::Drawn => &[
            ("by name", LockOrder::ByName),
            ("in turn", LockOrder::InTurn),
        ],
    };
    let changes = simpler.iter().map(|(name, order)| {
        with(format!("locks {name}"), plan, |plan| {
            plan.workload.lock_order = *order
        })
    });
    changes.collect()
}
