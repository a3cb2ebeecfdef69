//! A Redis server as a state machine: it is told what arrives and what its clocks show, and says what is to be sent.
//!
//! No clock, no chance, and no input or output of its own: the same machine is driven by the simulator, and compared
//! with a real server. The real one that it follows is 7.0.15, unless [`Settings`] say otherwise.

mod clients;
mod cluster;
mod commands;
mod core;
mod data;
mod disk;
mod effects;
mod errors;
mod followed;
mod glob;
mod io;
mod keyspace;
mod peer;
mod pubsub;
mod replication;
mod replies;
mod scripts;
pub mod sentinel;
mod server;
mod settings;
pub mod town;
mod trouble;
mod waiting;
mod watches;
mod words;

pub use cluster::{
    BusMessage, ClusterSettings, NodeId, SlotSet, first_owner, only_reads, slot_of, slot_of_command,
};
pub use disk::End;
pub use followed::{Fate, Gone, Why, Writer};
pub use io::{ConnectionId, Input, Now, Output};
pub use peer::{Address, LinkId, Part, PeerMessage, ReplicationId, Snapshot};
pub use sentinel::Sentinel;
pub use server::Server;
pub use settings::{Fsync, Persistence, SavePoint, Settings};

/// The version of Redis that the server says it is.
pub const VERSION: &str = "7.0.15";
