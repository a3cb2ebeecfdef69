//! Fewer tasks of each process, and nothing that they share.

use picklock_sim::plan::{Plan, Service, Share};

use super::search::{Change, Effort, Search};
use crate::reduced_plan::with_contenders;

/// Makes processes simpler: each contender is one, or each has fewer tasks, or its tasks share less.
pub(super) fn processes(search: &mut Search) {
    search.try_plans(Effort::Fresh, simpler_processes);
}

fn simpler_processes(plan: &Plan) -> Vec<Change> {
    let each = plan.workload.tasks_per_process;
    if each == 1 {
        return Vec::new();
    }
    let mut alone = plan.clone();
    alone.workload.tasks_per_process = 1;
    alone.workload.share = Share::Nothing;
    let what = "each contender is a process".to_owned();
    let mut changes = vec![Change { what, plan: alone }];
    for fewer in 2..each {
        let mut less = with_contenders(plan, |index| index % each < fewer);
        less.workload.tasks_per_process = fewer;
        let what = format!("{fewer} of {each} tasks of each process");
        changes.push(Change { what, plan: less });
    }
    for (what, share) in less_shared(&plan.workload.share, &plan.service) {
        let mut less = plan.clone();
        less.workload.share = share;
        let what = what.to_owned();
        changes.push(Change { what, plan: less });
    }
    changes
}

/// What tasks share less.
fn less_shared(share: &Share, service: &Service) -> Vec<(&'static str, Share)> {
    let client = match service.session_tick() {
        Some(_) => Share::Session,
        None => Share::Connection,
    };
    let nothing = ("tasks share nothing", Share::Nothing);
    match share {
        Share::Nothing => Vec::new(),
        Share::Session | Share::Connection => vec![nothing],
        Share::Lock => vec![
            nothing,
            ("tasks share a client, and no lock object", client),
        ],
    }
}

/// Whether contenders can be taken away so: whole processes are left.
pub(super) fn leaves_whole_processes(plan: &Plan, stays: impl Fn(u32) -> bool) -> bool {
    let each = plan.workload.tasks_per_process;
    let mut contenders = 0..plan.workload.contenders;
    contenders.all(|index| stays(index) == stays(index / each * each))
}
