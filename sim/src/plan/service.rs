//! The services that a plan can name.

use std::any::Any;
use std::ops::{Deref, DerefMut};

use picklock_algorithms::Build;
use picklock_clients::ServiceKind;

use super::service_settings::ServiceSettings;
use super::value::Value;

/// The services, each with its settings: a line a service.
macro_rules! services {
    ($($service:ident($settings:ty),)+) => {
        /// The service that the algorithm stands on. It answers the questions of [`ServiceSettings`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum Service {
            $(#[doc = concat!("[`", stringify!($settings), "`]")] $service($settings),)+
        }

        impl From<ServiceKind> for Service {
            /// The service with its usual settings.
            fn from(kind: ServiceKind) -> Self {
                match kind {
                    $(ServiceKind::$service => Self::$service(<$settings>::default()),)+
                }
            }
        }

        impl Deref for Service {
            type Target = dyn ServiceSettings;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$service(settings) => settings,)+
                }
            }
        }

        impl DerefMut for Service {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$service(settings) => settings,)+
                }
            }
        }
    };
}

services! {
    ZooKeeper(super::Ensemble),
    Redis(super::Deployment),
    LeaseServer(super::lease_server::LeaseServer),
    Etcd(super::etcd::Etcd),
    Sql(super::sql::Sql),
    Memcached(super::memcached::Memcached),
    Consul(super::consul::Consul),
    Chubby(super::chubby::Chubby),
}

impl Service {
    /// The service that a lock is built over, with its usual settings: that variant of it which the lock asks for.
    pub fn for_build(build: Build) -> Self {
        let mut service = Self::from(build.service());
        if let (Some(words), Some((key, word))) = (build.variants(), service.variant())
            && let Some(first) = words.first()
            && !words.contains(&word)
        {
            service.set_value(key, Some(Value::Named(first, None)));
        }
        service
    }

    /// Its settings, if they are those of this service.
    pub fn get<S: ServiceSettings>(&self) -> Option<&S> {
        let settings: &dyn Any = &**self;
        settings.downcast_ref()
    }

    /// The same, to be changed.
    pub fn get_mut<S: ServiceSettings>(&mut self) -> Option<&mut S> {
        let settings: &mut dyn Any = &mut **self;
        settings.downcast_mut()
    }

    /// The name of a machine, by its index: servers come first, and then Sentinels.
    pub fn machine_name(&self, index: u8) -> String {
        let servers = self.servers() + self.observers();
        match index.checked_sub(servers) {
            Some(index) if self.sentinels() > 0 => format!("sentinel-{}", index + 1),
            Some(_) | None => format!("server-{}", index + 1),
        }
    }
}
