//! Simpler settings of single contenders: fewer differences from the workload, or none.

use picklock_sim::plan::{ContenderSettings, Plan};

use super::lower::lower;
use super::search::Change;
use crate::describe::contender;

/// What a contender's settings are without one of them.
type Without = fn(&mut ContenderSettings);

/// Every setting of a contender, by its key.
const SETTINGS: [(&str, Without); 14] = [
    ("hold", |own| own.hold = None),
    ("rounds", |own| own.rounds = None),
    ("arrive-after", |own| own.arrive_after = None),
    ("reaper-interval", |own| own.reaper_interval = None),
    ("releases-for-others", |own| own.releases_for_others = false),
    ("reads", |own| own.reads = None),
    ("conversion", |own| own.conversion = None),
    ("permits-per-acquire", |own| own.permits_per_acquire = None),
    ("locks", |own| own.locks.clear()),
    ("think", |own| own.think = None),
    ("processing", |own| own.processing = None),
    ("acquire-timeout", |own| own.acquire_timeout = None),
    ("latency", |own| own.latency = None),
    ("clock-offset", |own| own.clock_offset_millis = 0),
];

/// Plans in which a contender is like the others, or like them in one thing more.
pub(super) fn fewer_differences(plan: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, settings) in &plan.workload.contender_settings {
        let mut less = plan.clone();
        less.workload.contender_settings.remove(name);
        let what = format!("{} is like the others", contender(*name));
        changes.push(Change { what, plan: less });
        for (key, without) in SETTINGS {
            let mut fewer = settings.clone();
            without(&mut fewer);
            if fewer == *settings || fewer == ContenderSettings::default() {
                continue;
            }
            let mut less = plan.clone();
            less.workload.contender_settings.insert(*name, fewer);
            let what = format!("no {key} of {}'s own", contender(*name));
            changes.push(Change { what, plan: less });
        }
        let rounds = settings.rounds.unwrap_or(1);
        for fewer in lower(rounds, 1) {
            let mut less = plan.clone();
            if let Some(own) = less.workload.contender_settings.get_mut(name) {
                own.rounds = Some(fewer);
            }
            let what = format!("{fewer} of {rounds} rounds of {}", contender(*name));
            changes.push(Change { what, plan: less });
        }
    }
    changes
}
