//! What scenarios know of ZooKeeper.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{Ensemble, Library, Service};

use super::{ServiceExample, SupportedService};
use crate::format::service::{FileClients, zookeeper};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    read: Some(|_usual, fields, open, mistakes| {
        let (ensemble, servers) = zookeeper::read(fields, open, mistakes);
        (
            Service::ZooKeeper(ensemble),
            FileClients::default(),
            servers,
        )
    }),
    measured: |recipe, session_timeout| {
        Service::ZooKeeper(Ensemble {
            servers: 1,
            session_timeout,
            fsync: Duration::ZERO,
            read_time: Duration::ZERO,
            write_time: Duration::ZERO,
            notification_time: Duration::ZERO,
            library: match recipe.name.starts_with("go-") {
                true => Library::Go,
                false => Library::Java,
            },
            ..Ensemble::default()
        })
    },
    herd: Some(|servers, jute_max_buffer| {
        Service::ZooKeeper(Ensemble {
            servers,
            // Pings would only be in the way.
            session_timeout: Duration::from_secs(40),
            jute_max_buffer,
            ..Ensemble::default()
        })
    }),
    ranked_as: Some("ZooKeeper"),
    ..SupportedService::plain(
        ServiceKind::ZooKeeper,
        "An ensemble of ZooKeeper.",
        &ZOOKEEPER,
        ServiceExample {
            algorithm: "zk-hardened",
            world: include_str!("zookeeper.toml"),
        },
    )
};

/// [service.zookeeper].
const ZOOKEEPER: KeyTable = KeyTable {
    title: "[service.zookeeper]",
    about: "The ensemble, and how its clients are set.",
    keys: &[Ensemble::KEYS],
};
