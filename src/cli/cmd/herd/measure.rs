//! The measurements of `picklock herd`, of one algorithm with so many contenders each.

use crate::algorithms::Recipe;
use crate::checker::ListTooLong;
use crate::reports::herd::{HerdRow, Undrained};
use crate::reports::words::thousands;
use crate::scenarios::clock::Stopwatch;
use crate::scenarios::herd::{Experiment, is_counted};
use crate::scenarios::units::write_duration;
use crate::sim::plan::Hold;

/// Whether a herd of it can be measured: ZooKeeper's notifications and requests are counted, while a queue drains.
pub(in crate::cli::cmd) fn is_measured(recipe: &Recipe) -> bool {
    is_counted(recipe) && recipe.ownership.kind.never_handed_over().is_none()
}

/// Why the queue of an experiment never drained.
fn undrained(experiment: &Experiment, list: ListTooLong) -> Undrained {
    let ListTooLong { children, most } = list;
    let because = format!(
        "{} with {}: progress violated: the list of {} children does not fit into jute.maxbuffer ({} bytes): no \
         contender can list the queue. --jute-max-buffer raises it.",
        experiment.recipe.name,
        thousands(experiment.contenders.into()),
        thousands(children),
        thousands(most),
    );
    Undrained {
        algorithm: experiment.recipe.name.to_owned(),
        contenders: experiment.contenders.into(),
        violated: "progress".to_owned(),
        children,
        jute_max_buffer: most,
        because,
    }
}

/// The figures; or why there are none, if the queue never drained.
pub(in crate::cli::cmd) fn measure(experiment: &Experiment) -> Result<HerdRow, Undrained> {
    let watch = Stopwatch::start();
    let measured = experiment.run();
    let counts = measured.counts;
    let handovers = counts.departures.max(1) as f64;
    if let Some(list) = measured.too_long {
        return Err(undrained(experiment, list));
    }
    Ok(HerdRow {
        algorithm: experiment.recipe.name.to_owned(),
        mode: experiment.mode.describe(),
        contenders: experiment.contenders.into(),
        hold: match experiment.hold {
            Hold::For(hold) => write_duration(hold),
            Hold::Settled => "settled".to_owned(),
        },
        servers: experiment.servers.into(),
        notifications: counts.notifications_to_waiters + counts.notifications_to_releaser,
        to_waiters: counts.notifications_to_waiters,
        to_releaser: counts.notifications_to_releaser,
        arriving: counts.notifications_arriving,
        wasted_wakeups: counts.wasted_wakeups,
        wakeups: counts.wakeups,
        requests_per_handover: counts.requests as f64 / handovers,
        bytes_per_handover: counts.bytes as f64 / handovers,
        handover_p50: measured.handover.p50,
        handover_p99: measured.handover.p99,
        handover_max: measured.handover.max,
        bystander_p50: measured.bystander.p50,
        bystander_p99: measured.bystander.p99,
        bystander_max: measured.bystander.max,
        bystander_idle_p50: measured.bystander_idle.p50,
        bystander_idle_p99: measured.bystander_idle.p99,
        bystander_idle_max: measured.bystander_idle.max,
        formula: experiment.formula(),
        took_seconds: Some(watch.elapsed().as_secs_f64()),
    })
}
