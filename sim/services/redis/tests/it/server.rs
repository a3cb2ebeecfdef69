//! A server, as clients and other servers see it.

mod bench;
mod blocking;
mod busy;
mod cluster;
mod cluster_slots;
mod cluster_votes;
mod commands;
mod databases;
mod disk;
mod fates;
mod field_expiry;
mod functions;
mod group;
mod models;
mod points;
mod random_key;
mod replication;
mod scripts;
mod trouble;
mod versions;
