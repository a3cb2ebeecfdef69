//! memcached or Tair, and how it is set.

use std::time::Duration;

use picklock_clients::ServiceKind;
use picklock_clients::memcached::Product;
use picklock_memcached::client::ClientSettings;
use picklock_memcached::{Distribution, Settings as ServerSettings};

use super::fault::FaultKind;
use super::key::Holds;
use super::names::ServerName;
use super::service_row::ServiceRow;
use super::service_settings::ServiceSettings;
use super::setting_type::words;
use super::settings::settings;

const ROW: ServiceRow = ServiceRow {
    shares: &[FaultKind::EvictKey],
    never_through: &[("fenced-out", "no lock of it has a token")],
    ..ServiceRow::plain(ServiceKind::Memcached)
};

settings! {
    /// Servers of memcached or Tair that know nothing of each other, and how their clients are set.
    #[derive(Clone, Debug, PartialEq, Eq)]
    Memcached {
        product: Product = "product" {
            default: Product::Memcached,
            of: Topology,
            written: Always,
            means: "Which one: `\"memcached\"` (1.6), `\"tair-mdb\"` (Tair's cache engine, as its client \
                    documents it), or `\"tair-string\"` (the module TairString).",
        }

        servers: u8 = "servers" {
            holds: Holds::OneOrList(&Holds::Whole(1, 9)),
            default: 1,
            of: Topology,
            written: Always,
            means: "Servers; a client finds that of a key by a hash.",
        }

        lease: Duration = "lease" {
            default: Duration::from_secs(10),
            of: Servers,
            written: Always,
            means: "The time to live of the lock's key, in whole seconds of memcached (exptime).",
        }

        items_per_class: Option<u32> = "items-per-slab-class" {
            holds: Holds::Whole(1, 100_000),
            default: None,
            without: "there is room for all",
            of: Servers,
            written: Always,
            means: "How many items of a size there is room for (`-m`): one more evicts the one that is unread for \
                    longest, whatever its exptime.",
        }

        distribution: Distribution = "distribution" {
            default: Distribution::Modula,
            of: Clients,
            written: IfAnother,
            means: "How a client distributes keys: `\"modula\"`, or `\"consistent\"` (ketama).",
        }

        timeout: Duration = "timeout" {
            default: Duration::from_secs(1),
            of: Clients,
            written: Always,
            means: "How long a client waits for an answer before it closes the connection (`timeout` of pymemcache).",
        }

        failure_limit: Option<u32> = "server-failure-limit" {
            holds: Holds::Whole(1, 100),
            default: None,
            without: "a server is never left out",
            of: Clients,
            written: Always,
            means: "After so many failures in a row a client leaves a server out, and its keys belong to others \
                    (`AUTO_EJECT_HOSTS` and `SERVER_FAILURE_LIMIT` of libmemcached).",
        }

        dead_timeout: Duration = "dead-timeout" {
            default: Duration::from_secs(60),
            of: Clients,
            written: IfAnother,
            means: "For how long a server is left out (`dead_timeout` of pymemcache).",
        }
    }
}

words! {
    Product: "product",
    Distribution: "distribution",
}

impl Memcached {
    /// The settings of a server whose clock ticked so many microseconds before the beginning.
    pub(crate) fn of_servers(&self, since_tick: u64) -> ServerSettings {
        ServerSettings {
            product: self.product,
            items_per_class: self.items_per_class.map(|items| items as usize),
            since_tick,
        }
    }

    /// The settings of its clients.
    pub(crate) fn of_clients(&self) -> ClientSettings {
        ClientSettings {
            servers: self.servers,
            distribution: self.distribution,
            timeout: self.timeout,
            failure_limit: self.failure_limit,
            dead_timeout: self.dead_timeout,
        }
    }
}

impl ServiceSettings for Memcached {
    fn row(&self) -> &'static ServiceRow {
        &ROW
    }

    fn servers(&self) -> u8 {
        self.servers
    }

    fn set_servers(&mut self, voters: u8) {
        self.servers = voters;
    }

    fn variant(&self) -> Option<(&'static str, &'static str)> {
        let of = |(name, product)| (product == self.product).then_some(("product", name));
        Product::ALL.into_iter().find_map(of)
    }

    fn lease(&self) -> Duration {
        self.lease
    }

    fn decides_alone(&self) -> bool {
        self.servers > 1
    }

    /// The lock may be on any of them.
    fn can_serve_without(&self, dead: &[ServerName], _waits: bool, _is_promoted: bool) -> bool {
        dead.is_empty()
    }

    fn tolerated_delay(&self) -> Duration {
        self.timeout / 2
    }

    fn answer_timeouts(&self) -> Vec<(&'static str, Duration)> {
        vec![("timeout", self.timeout)]
    }
}
