//! The services that a plan can name.

use std::ops::{Deref, DerefMut};

use picklock_clients::ServiceKind;

use super::lease_server::LeaseServer;
use super::redis::{Cluster, Deployment};
use super::service_settings::ServiceSettings;
use super::zookeeper::Ensemble;

/// The service that the algorithm stands on. What is asked of every service it answers as [`ServiceSettings`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// A ZooKeeper ensemble.
    ZooKeeper(Ensemble),
    /// Redis.
    Redis(Deployment),
    /// A lock server with leases of its own.
    LeaseServer(LeaseServer),
}

impl From<ServiceKind> for Service {
    /// The service with its usual settings.
    fn from(kind: ServiceKind) -> Self {
        match kind {
            ServiceKind::Redis => Self::Redis(Deployment::default()),
            ServiceKind::LeaseServer => Self::LeaseServer(LeaseServer::default()),
            _ => Self::ZooKeeper(Ensemble::default()),
        }
    }
}

impl Deref for Service {
    type Target = dyn ServiceSettings;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::ZooKeeper(ensemble) => ensemble,
            Self::Redis(deployment) => deployment,
            Self::LeaseServer(server) => server,
        }
    }
}

impl DerefMut for Service {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::ZooKeeper(ensemble) => ensemble,
            Self::Redis(deployment) => deployment,
            Self::LeaseServer(server) => server,
        }
    }
}

impl Service {
    /// The ensemble, if it is one.
    pub fn zookeeper(&self) -> Option<&Ensemble> {
        match self {
            Self::ZooKeeper(ensemble) => Some(ensemble),
            _ => None,
        }
    }

    /// The deployment, if it is Redis.
    pub fn redis(&self) -> Option<&Deployment> {
        match self {
            Self::Redis(deployment) => Some(deployment),
            _ => None,
        }
    }

    /// The cluster, if there is one.
    pub fn cluster(&self) -> Option<&Cluster> {
        self.redis()?.cluster.as_ref()
    }

    /// How many machines there are: servers and Sentinels.
    pub fn machines(&self) -> u8 {
        self.servers() + self.observers() + self.sentinels()
    }

    /// The name of a machine, by its index: servers come first, and then Sentinels.
    pub fn machine_name(&self, index: u8) -> String {
        let servers = self.servers() + self.observers();
        match index.checked_sub(servers) {
            Some(index) if self.sentinels() > 0 => format!("sentinel-{}", index + 1),
            Some(_) | None => format!("server-{}", index + 1),
        }
    }

    /// The place of the server that has the lock's key at first, if it is not on several.
    pub fn first_primary(&self) -> u8 {
        self.redis().map_or(0, Deployment::first_primary)
    }

    /// The places of that server's replicas.
    pub fn first_replicas(&self) -> Vec<u8> {
        self.redis()
            .map_or_else(Vec::new, Deployment::first_replicas)
    }
}
