//! `picklock verify`: the model of a service against a real one.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::console::OutputArgs;
use crate::cli::failure::Failure;
use crate::cli::seeds;
#[cfg(feature = "verify")]
use picklock_verify::sql::Dialect;

#[cfg(feature = "verify")]
mod compared;
#[cfg(feature = "verify")]
mod etcd;
#[cfg(feature = "verify")]
mod herd;
#[cfg(feature = "verify")]
mod memcached;
#[cfg(feature = "verify")]
mod redis;
#[cfg(feature = "verify")]
mod sql;

const EXAMPLES: &str = "\
Examples:
  picklock verify zookeeper
  picklock verify zookeeper --servers 3 --operations 50000 --seed 7
  picklock verify zookeeper --herd              notifications, counted on both sides
  picklock verify redis --operations 100000
  picklock verify etcd --operations 5000
  picklock verify postgres --seed 7
  picklock verify mysql
  picklock verify memcached

The real servers are started on loopback in a temporary folder, and stopped again. They come from Debian's \
packages:
  apt-get install --no-install-recommends zookeeper default-jre-headless
  apt-get install --no-install-recommends redis-server
  apt-get install --no-install-recommends etcd-server
  apt-get install --no-install-recommends postgresql-15
  apt-get install --no-install-recommends mariadb-server
  apt-get install --no-install-recommends memcached

This command is not part of the default build:
  cargo run --release --features verify -- verify zookeeper

Exit codes: 0 every answer is the same, 1 some are not, 2 there is no server to compare with, 3 a server \
died, did not start, or answered too late.";

/// Ask a simulated service and a real one the same, and show where their answers differ.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Verify {
    /// Which service.
    #[arg(value_name = "SERVICE")]
    service: Service,
    /// How many ZooKeeper servers each side has; both 1 and 3 unless given.
    #[arg(long, value_name = "1|3", value_parser = ["1", "3"])]
    servers: Option<String>,
    /// How many operations, for each number of servers.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    operations: u64,
    /// Let queues drain on both sides instead, and count the notifications.
    #[arg(long, conflicts_with_all = ["operations", "seed"])]
    herd: bool,
    /// The seed of the random operations.
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = seeds::one, allow_hyphen_values = true)]
    seed: u64,
    /// Where zookeeper.jar and what it needs are, if not where Debian has them.
    #[arg(long, value_name = "FOLDER")]
    jars: Option<PathBuf>,
    /// Where redis-server is, if not where programs are.
    #[arg(long, value_name = "PROGRAM")]
    redis_server: Option<PathBuf>,
    /// Where etcd is, if not where programs are.
    #[arg(long, value_name = "PROGRAM")]
    etcd_server: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Service {
    Zookeeper,
    Redis,
    Etcd,
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    Mysql,
    Memcached,
}

impl Verify {
    /// Compares, and shows what differs.
    ///
    /// # Errors
    ///
    /// [`Failure`], if it could not be compared.
    #[cfg(feature = "verify")]
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        match (self.service, self.herd) {
            (Service::Zookeeper, true) => herd::zookeeper(&self),
            (Service::Zookeeper, false) => compared::compare(&self, look),
            (_, true) => Err(Failure::usage(
                "`--herd` is of ZooKeeper",
                ["ask for it: picklock verify zookeeper --herd".to_owned()],
            )),
            (Service::Redis, false) => redis::redis(&self),
            (Service::Etcd, false) => etcd::etcd(&self),
            (Service::Postgres, false) => sql::sql(&self, Dialect::Postgres),
            (Service::Mysql, false) => sql::sql(&self, Dialect::MySql),
            (Service::Memcached, false) => memcached::memcached(&self),
        }
    }

    /// Says how to build with it.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`], always.
    #[cfg(not(feature = "verify"))]
    pub fn execute(self, _look: &OutputArgs) -> Result<u8, Failure> {
        let name = self.service.to_possible_value();
        let name = name.map_or(String::new(), |value| value.get_name().to_owned());
        let remedy =
            format!("build with it: cargo run --release --features verify -- verify {name}");
        Err(Failure::usage(
            "this picklock was built without `verify`",
            [remedy],
        ))
    }
}
