//! SQL servers as lock services, as state machines: PostgreSQL 15, and MariaDB 10.11 with InnoDB.
//!
//! A server has sessions, transactions, rows in versions, one table of locks, and a log that standbys repeat. Not modelled:
//! SQL as text, plans of queries beyond the order in which rows are looked at, indexes other than primary keys, data types, DDL.

pub mod client;
mod io;
mod replication;
mod server;
mod settings;

pub use io::{Advisory, Change, Input, Locked, Output};
pub use picklock_clients::sql;
pub use replication::PeerMessage;
pub use server::Server;
pub use settings::{SessionSettings, Settings, Table};
