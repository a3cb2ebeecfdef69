//! Drawn crashes of servers that never heal.
//!
//! They are drawn where what is left can serve, and now and then where it cannot: such a run cannot tell whether the
//! lock makes progress, and all else it shows as well with a server that comes back late.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{Fault, PlannedFault, ServerName, Service};

use super::draw::Draw;
use super::faults::Storm;

/// Once in so many times, too many servers stay away.
const TOO_MANY: u32 = 8;

impl Storm<'_> {
    /// Lets servers come back that were drawn from this place on, mostly, until enough are left.
    pub(super) fn leave_enough(&self, faults: &mut [PlannedFault], from: usize, draw: &mut Draw) {
        for index in from..faults.len() {
            let stays_away = dies(&faults[index]).is_some();
            if stays_away && !can_serve(&self.plan.service, self.waits(), faults) {
                if draw.once_in(TOO_MANY) {
                    return;
                }
                let back = self.length(draw);
                if let Fault::CrashServer { restart_after, .. }
                | Fault::PowerLoss { restart_after, .. } = &mut faults[index].inject
                {
                    *restart_after = Some(back);
                }
            }
        }
    }

    /// Whether the recipe waits until a replica has heard of a write.
    fn waits(&self) -> bool {
        self.plan.recipe.requests.contains(&RequestKind::Wait)
    }
}

/// The server that a fault kills for good.
fn dies(fault: &PlannedFault) -> Option<ServerName> {
    match fault.inject {
        Fault::CrashServer { target, .. } | Fault::PowerLoss { target, .. } => {
            fault.inject.is_for_good().then_some(target)
        }
        _ => None,
    }
}

/// Whether enough servers are left, whichever the faults name.
fn can_serve(service: &Service, waits: bool, faults: &[PlannedFault]) -> bool {
    let mut dead: Vec<ServerName> = faults.iter().filter_map(dies).collect();
    dead.sort();
    dead.dedup();
    let by_hand = |fault: &PlannedFault| matches!(fault.inject, Fault::Promote { .. });
    let is_promoted = faults.iter().any(by_hand);
    service.can_serve_without(&dead, waits, is_promoted)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_sim::plan::{Cluster, Deployment, Ensemble, Sentinels, Trigger};

    use super::*;

    fn dead(names: &[ServerName]) -> Vec<PlannedFault> {
        let planned = |target: &ServerName| PlannedFault {
            when: Trigger::At(Duration::ZERO),
            after: Duration::ZERO,
            repeat: None,
            inject: Fault::CrashServer {
                target: *target,
                restart_after: None,
            },
            text: String::new(),
        };
        names.iter().map(planned).collect()
    }

    fn redis(deployment: Deployment) -> Service {
        Service::Redis(deployment)
    }

    #[test]
    fn enough_are_left_where_what_is_left_can_serve() {
        let [first, second] = [0, 1].map(ServerName::Number);
        let ensemble = Service::ZooKeeper(Ensemble::default());
        let replicated = Deployment {
            replicas: 1,
            ..Deployment::default()
        };
        let watched = Deployment {
            sentinels: Some(Sentinels::of(3)),
            ..replicated.clone()
        };
        let cluster = Deployment {
            cluster: Some(Cluster::of(3, 1)),
            ..Deployment::default()
        };
        let five = Deployment {
            servers: 5,
            ..Deployment::default()
        };
        for (service, dies, enough) in [
            (ensemble.clone(), vec![ServerName::Leader], true),
            (ensemble, vec![ServerName::Leader, first], false),
            (redis(Deployment::default()), vec![first], false),
            (redis(five), vec![first, second], true),
            (redis(replicated.clone()), vec![second], true),
            (redis(replicated), vec![first], false),
            (redis(watched.clone()), vec![first], true),
            (redis(watched), vec![first, second], false),
            (redis(cluster.clone()), vec![first], true),
            (redis(cluster), vec![first, second], false),
        ] {
            let found = can_serve(&service, false, &dead(&dies));
            assert_eq!(found, enough, "{service:?} without {dies:?}");
        }
    }
}
