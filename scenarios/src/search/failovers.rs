//! Whether a failover follows when a leader is away, and how soon.

use std::time::Duration;

use picklock_sim::plan::{Plan, Service};

/// Whether another comes to lead where a leader or a primary is away.
pub(super) fn fails_over(plan: &Plan) -> bool {
    failover(plan).is_some()
}

/// How long it takes at most until another leads, if nothing else breaks; `None` if nobody else does.
pub(super) fn failover(plan: &Plan) -> Option<Duration> {
    match &plan.service {
        // Until the followers miss it, and have voted.
        Service::ZooKeeper(ensemble) => {
            let missed = ensemble.tick * ensemble.sync_limit;
            (ensemble.servers > 1).then(|| missed + Duration::from_secs(2))
        }
        Service::Redis(deployment) => match (&deployment.sentinels, &deployment.cluster) {
            (Some(sentinels), _) => Some(sentinels.down_after + Duration::from_millis(2_400)),
            (None, Some(cluster)) => Some(cluster.node_timeout * 2 + Duration::from_secs(1)),
            (None, None) => None,
        },
        _ => None,
    }
}
