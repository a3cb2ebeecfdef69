//! A cluster of Redis.

use std::time::Duration;

use crate::plan::key::{Holds, KeyTable};
use crate::plan::setting_type::tables;
use crate::plan::settings::settings;

/// The table that a cluster is.
const CLUSTER: KeyTable = KeyTable {
    title: "cluster of [service.redis]",
    about: "The primaries are the first servers, and share the slots. One replica of each comes next, and then the \
            next of each.",
    keys: &[Cluster::KEYS],
};

settings! {
    /// A cluster: its primaries share the keys, and replicas take the places of those that fail. Defaults are those of
    /// Redis 7.0.15.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Cluster {
        primaries: u8 = "primaries" needed {
            holds: Holds::Whole(3, 9),
            default: 3,
            of: Servers,
            written: Always,
            means: "Nodes that share the slots.",
        }

        replicas: u8 = "replicas-of-each" {
            holds: Holds::Whole(0, 3),
            default: 0,
            of: Servers,
            written: Always,
            means: "Replicas of each primary.",
        }

        node_timeout: Duration = "node-timeout" {
            default: Duration::from_secs(15),
            of: Servers,
            written: Always,
            means: "How long a node must not answer before it is suspected.",
        }

        validity_factor: u32 = "validity-factor" {
            holds: Holds::Whole(0, 1_000),
            default: 10,
            of: Servers,
            written: Always,
            means: "For how many of these a replica may have been without its primary to take its place; zero \
                    for ever.",
        }
    }
}

impl Cluster {
    /// So many primaries with so many replicas each.
    pub fn of(primaries: u8, replicas: u8) -> Self {
        Self {
            primaries,
            replicas,
            ..Self::default()
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u8 {
        self.primaries * (1 + self.replicas)
    }
}

tables! {
    Cluster: CLUSTER,
}
