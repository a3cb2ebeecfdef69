//! Settings that are no mistake, and with which a lock is of little use.

use picklock_algorithms::redis::leased::drift;
use picklock_sim::plan::Deployment;

use crate::units::write_duration;
use crate::{Case, Scenario};

/// The reasons for a warning: each answers why, if it applies.
const REASONS: [fn(&Deployment) -> Option<String>; 2] = [short_lease, even_servers];

/// Why the locks of a scenario are of little use, as sentences, each once: recipes do with such settings what the
/// original does.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for warning in scenario.cases.iter().flat_map(of_case) {
        if !all.contains(&warning) {
            all.push(warning);
        }
    }
    all
}

fn of_case(case: &Case) -> impl Iterator<Item = String> {
    let deployment = case.plan.service.redis().into_iter();
    deployment.flat_map(|deployment| REASONS.iter().filter_map(|reason| reason(deployment)))
}

/// A lease that is over before it has begun, for a client that takes the drift of clocks off it.
fn short_lease(deployment: &Deployment) -> Option<String> {
    let (lease, drift) = (deployment.lease, drift(deployment.lease));
    (lease <= drift).then(|| {
        format!(
            "a lease of {} is no longer than the {} by which clocks may drift apart meanwhile: a client that takes \
             them off, as Redlock does, never holds the lock",
            write_duration(lease),
            write_duration(drift)
        )
    })
}

/// An even number of servers: its majority can do without as many of them as with one server less.
fn even_servers(deployment: &Deployment) -> Option<String> {
    let servers = deployment.servers;
    (servers > 0 && servers.is_multiple_of(2)).then(|| {
        format!(
            "a majority of {servers} servers can do without {}, as a majority of {} can: one server more can fail, and \
             nothing is gained",
            (servers - 1) / 2,
            servers - 1
        )
    })
}
