//! What scenarios know of Consul.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::Service;
use picklock_sim::plan::consul::Consul;

use super::{ServiceExample, SupportedService};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    measured: |_, session_ttl| {
        Service::Consul(Consul {
            servers: 1,
            session_ttl: session_ttl.max(LEAST_TTL),
            ..Consul::default()
        })
    },
    warnings: |service| {
        let settings = service.get::<Consul>();
        let is_refused = settings.is_some_and(|settings| settings.session_ttl < LEAST_TTL);
        let warning = "servers refuse every session: `session-ttl` is shorter than 10 s";
        is_refused.then(|| warning.to_owned()).into_iter().collect()
    },
    ..SupportedService::plain(
        ServiceKind::Consul,
        "Consul: servers with a KV store and sessions.",
        &CONSUL,
        ServiceExample {
            algorithm: "consul-lock-hardened",
            world: include_str!("consul.toml"),
        },
    )
};

/// The shortest time to live that servers allow.
const LEAST_TTL: Duration = Duration::from_secs(10);

/// [service.consul].
const CONSUL: KeyTable = KeyTable {
    title: "[service.consul]",
    about: "The servers, and how sessions are created.",
    keys: &[Consul::KEYS],
};
