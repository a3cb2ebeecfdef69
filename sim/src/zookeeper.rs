//! Simulated ZooKeeper: an ensemble of servers, and the client handle.
//!
//! Both are sans-IO state machines: they are told what arrived and what time it is, and answer with what is to be
//! sent. The world (`server` and `client` life in it) moves their messages, and breaks them.

mod access;
pub mod client;
mod clients;
mod commit;
mod election;
mod fast_map;
mod few;
mod follower;
mod io;
mod lasting;
mod leader;
pub mod library;
mod log;
pub mod messages;
pub mod node;
mod path_map;
mod paths;
pub mod peer;
mod prep;
mod proposals;
mod quota;
mod read_only;
mod reads;
mod serve;
mod session_map;
mod sessions;
pub(crate) mod settings;
mod short;
pub mod state;
mod sync;
mod throttle;
pub mod tree;
pub mod txn;
pub mod version;
mod watches;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
