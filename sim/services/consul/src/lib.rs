//! Consul as a lock service, as state machines: servers, and a client with the agent of its machine.
//!
//! Servers have a log that a majority agrees on, and a store of keys and sessions that it makes. When a session ends is
//! known to the leader alone, and each server keeps the lock-delays of keys for itself.

pub mod client;
mod io;
mod log;
mod raft;
mod server;
mod settings;
mod store;
#[cfg(test)]
mod tests;

pub use io::{Commit, Input, Output, PeerMessage};
pub use log::{CallId, Command, Entry};
pub use raft::RaftMessage;
pub use server::Server;
pub use settings::{ClientSettings, Settings};
