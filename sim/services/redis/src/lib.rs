//! A Redis server as a state machine: it is told what arrives and what its clocks show, and says what is to be sent.
//! The [`client`] of a process is another.
//!
//! No clock, no chance, and no input or output of its own: the same machine is driven by the simulator, and compared
//! with a real server. The real one that it follows is 7.0.15, unless [`ServerConfig`] say otherwise.

mod blocked_clients;
mod blocking_keys;
mod busy_script;
pub mod client;
mod clients;
mod cluster;
mod command_keys;
mod command_rejection;
mod command_table;
mod commands;
mod databases;
mod db;
mod degraded;
mod disk;
mod errors;
mod field_expiry;
mod field_times;
mod functions;
mod glob;
mod inspection;
mod io;
mod key_observer;
mod keyspace;
mod keyspace_events;
mod numbers;
mod peer_text;
mod persistence;
mod process_command;
mod propagation;
mod pubsub;
mod random_numbers;
mod replication;
mod replication_protocol;
mod resp;
mod script_call;
mod script_flags;
mod scripts;
pub mod sentinel;
mod server;
mod settings;
#[cfg(feature = "testkit")]
pub mod test_cluster;
mod value;
mod version;
mod watches;

pub use cluster::{BusMessage, ClusterConfig, NodeId, SlotSet, first_owner, slot_of};
pub use command_keys::{only_reads, slot_of_command};
pub use inspection::{DiskImage, OnDisk};
pub use io::{Input, Output};
pub use key_observer::{Caller, KeyChanges, KeyRemoval, KeyStep, KeyWriter, KeysAt, RemovalReason};
pub use keyspace_events::KeyspaceEvents;
pub use persistence::ProcessEnd;
pub use picklock_machines::{ConnectionId, Now};
pub use pubsub::Publication;
pub use replication_protocol::{Address, LinkId, PeerMessage, ReplicationId, Snapshot, StreamPart};
pub use sentinel::Sentinel;
pub use server::Server;
pub use settings::{Fsync, Persistence, SavePoint, ServerConfig};
pub use version::{Release, ServerVersion};

/// The version of Redis that the server says it is.
pub const VERSION: &str = "7.0.15";
