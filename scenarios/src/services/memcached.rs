//! What scenarios know of memcached and Tair.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::Service;
use picklock_sim::plan::memcached::Memcached;

use super::{ServiceExample, SupportedService};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    measured: |recipe, lease| {
        let mut service = Service::for_build(recipe.build);
        if let Some(servers) = service.get_mut::<Memcached>() {
            servers.lease = lease;
        }
        service
    },
    ranked_as: Some("cache"),
    ..SupportedService::plain(
        ServiceKind::Memcached,
        "memcached or Tair.",
        &MEMCACHED,
        ServiceExample {
            algorithm: "memcached-token-lock",
            world: include_str!("memcached.toml"),
        },
    )
};

/// [service.memcached].
const MEMCACHED: KeyTable = KeyTable {
    title: "[service.memcached]",
    about: "Servers that know nothing of each other, and how clients find that of a key.",
    keys: &[Memcached::KEYS],
};
