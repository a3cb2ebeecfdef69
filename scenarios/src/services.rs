//! What scenarios know of each service: a row a service, in a file of its own. What a plan knows of it stands beside
//! its settings (`sim/src/plan`).

mod chubby;
mod consul;
mod etcd;
mod lease_server;
mod memcached;
mod redis;
mod sql;
mod zookeeper;

use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{Service, Value};

use crate::format::reader::{Fields, Mistakes};
use crate::format::service::FileClients;
use crate::keys::KeyTable;
use crate::sampled_parameters::SampledParameters;

/// Every service.
pub(crate) const ALL: [&SupportedService; 8] = [
    &zookeeper::ROW,
    &redis::ROW,
    &lease_server::ROW,
    &etcd::ROW,
    &sql::ROW,
    &memcached::ROW,
    &consul::ROW,
    &chubby::ROW,
];

/// What scenarios know of a service. What a row does not say stands in `SupportedService::plain`.
pub struct SupportedService {
    /// Which it is.
    pub(crate) kind: ServiceKind,
    /// What it is, in a sentence of the reference.
    pub(crate) means: &'static str,
    /// Its keys in scenario files.
    pub(crate) keys: &'static KeyTable,
    /// What a scenario file to begin with has of it.
    pub example: ServiceExample,
    /// Reads its table, if that has more than the settings of the plan.
    pub(crate) read: Option<ReadService>,
    /// What its table has to say that is no setting of the plan, by the key.
    pub(crate) implied: fn(&Service) -> Option<(&'static str, Value)>,
    /// The smallest that a recipe is made for, whose servers take no time, with this lease.
    pub(crate) measured: fn(&Recipe, Duration) -> Service,
    /// So many servers that read messages of so many bytes, for a herd that does nothing but queue up; `None` if
    /// nothing there is worth counting.
    pub(crate) herd: Option<fn(u8, u32) -> Service>,
    /// What articles rank its locks as: a `database`, a `cache`, or `ZooKeeper`; `None` if they do not speak of it.
    pub(crate) ranked_as: Option<&'static str>,
    /// Adds the servers that take over from others, for a lock to fear.
    pub(crate) add_replicas: fn(&mut Service),
    /// Why a lock is of little use with these settings, as sentences.
    pub(crate) warnings: fn(&Service) -> Vec<String>,
}

/// Reads a table into the usual settings of its service, and what it leaves open; also what it says of clients, and the
/// least number of servers, if that is given without a mistake.
pub(crate) type ReadService = fn(
    Service,
    Fields,
    &mut SampledParameters,
    &mut Mistakes,
) -> (Service, FileClients, Option<u8>);

/// What a scenario file to begin with has of a service.
pub struct ServiceExample {
    /// A sound lock over it.
    pub algorithm: &'static str,
    /// Its table.
    pub world: &'static str,
}

impl SupportedService {
    /// One with the settings of its plan, and nothing else to be said of it.
    const fn plain(
        kind: ServiceKind,
        means: &'static str,
        keys: &'static KeyTable,
        example: ServiceExample,
    ) -> Self {
        Self {
            kind,
            means,
            keys,
            example,
            read: None,
            implied: |_| None,
            measured: |recipe, _| Service::for_build(recipe.build),
            herd: None,
            ranked_as: None,
            add_replicas: |_| {},
            warnings: |_| Vec::new(),
        }
    }
}

/// What is known of a service.
pub fn supported(kind: ServiceKind) -> &'static SupportedService {
    let found = ALL.into_iter().find(|service| service.kind == kind);
    found.expect("every service has a row")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_has_a_row() {
        assert_eq!(ALL.map(|service| service.kind), ServiceKind::ALL);
    }
}
