//! What scenarios know of the lease server.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::Service;
use picklock_sim::plan::lease_server::LeaseServer;

use super::{ServiceExample, SupportedService};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    measured: |_, lease| {
        Service::LeaseServer(LeaseServer {
            lease,
            ..LeaseServer::default()
        })
    },
    ..SupportedService::plain(
        ServiceKind::LeaseServer,
        "One server that grants the lock for a while.",
        &LEASE_SERVER,
        ServiceExample {
            algorithm: "lease-lock",
            world: include_str!("lease_server.toml"),
        },
    )
};

/// [service.lease-server].
const LEASE_SERVER: KeyTable = KeyTable {
    title: "[service.lease-server]",
    about: "One server that grants the lock for a while, and knows nothing else.",
    keys: &[LeaseServer::KEYS],
};
