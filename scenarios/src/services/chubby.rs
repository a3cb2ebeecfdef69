//! What scenarios know of Chubby.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::Service;
use picklock_sim::plan::chubby::Chubby;

use super::{ServiceExample, SupportedService};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    measured: |_, session_lease| {
        Service::Chubby(Chubby {
            replicas: 1,
            session_lease,
            lock_delay: Duration::ZERO,
            ..Chubby::default()
        })
    },
    ..SupportedService::plain(
        ServiceKind::Chubby,
        "A Chubby cell.",
        &CHUBBY,
        ServiceExample {
            algorithm: "chubby-sequencer-lock",
            world: include_str!("chubby.toml"),
        },
    )
};

/// [service.chubby].
const CHUBBY: KeyTable = KeyTable {
    title: "[service.chubby]",
    about: "The cell, its leases, and the lock-delay.",
    keys: &[Chubby::KEYS],
};
