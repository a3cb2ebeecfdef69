//! SQL servers as lock services, as state machines: PostgreSQL 15, and MariaDB 10.11 with InnoDB.
//!
//! A server has sessions, transactions, rows in versions, one table of locks, and a log that standbys repeat. Not
//! modelled: SQL as text, plans of queries beyond the order in which rows are looked at, indexes other than primary
//! keys, data types, DDL.

mod backend;
pub mod client;
mod deadlock;
mod executor;
mod expression;
mod functions;
mod heap;
mod ids;
mod innodb;
mod io;
mod lock_manager;
mod locking;
mod log;
mod predicate;
mod prepared;
mod profile;
mod replication;
mod row;
mod server;
mod session;
mod settings;
mod state;
mod timeout;
mod transaction;
mod utility;
mod wal;

pub use ids::Advisory;
pub use io::{Change, Input, Locked, Output};
pub use log::PeerMessage;
pub use picklock_clients::sql;
pub use server::{LockCounts, Server};
pub use settings::{SessionSettings, Settings, Table};
