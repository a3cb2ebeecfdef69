//! Sentinels, as servers, clients, and each other see them.

mod deposed;
mod elections;
mod failover;
mod finding;
mod test_cluster;
