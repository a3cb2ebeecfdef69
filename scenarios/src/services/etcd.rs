//! What scenarios know of etcd.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::Service;
use picklock_sim::plan::etcd::Etcd;

use super::{ServiceExample, SupportedService};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    measured: |_, session_ttl| {
        Service::Etcd(Etcd {
            servers: 1,
            session_ttl,
            ..Etcd::default()
        })
    },
    ..SupportedService::plain(
        ServiceKind::Etcd,
        "An etcd cluster.",
        &ETCD,
        ServiceExample {
            algorithm: "etcd-mutex-hardened",
            world: include_str!("etcd.toml"),
        },
    )
};

/// [service.etcd].
const ETCD: KeyTable = KeyTable {
    title: "[service.etcd]",
    about: "The members, and the time to live of sessions.",
    keys: &[Etcd::KEYS],
};
