//! Members of an etcd cluster, and clients of it, as state machines.
//!
//! A member has raft, the store with its history, leases, watches, and the services `v3lock` and `v3election`. Not
//! modelled: snapshots (the log is kept), changes of members, authentication, quotas and alarms, slow receivers of
//! watches, fragments of answers, checkpoints of leases, and more than a thousand leases that end together.

mod apply;
pub mod client;
mod concurrency;
mod extract;
mod ids;
mod io;
mod lease_http;
mod lessor;
mod lookup;
mod member;
mod mvcc;
mod raft;
mod reads;
mod settings;
mod state;
#[cfg(feature = "testkit")]
pub mod testkit;
mod txn;
mod v3_server;
mod v3lock;
mod watch_server;
mod watchable_store;

pub use io::{Commit, Input, Output, PeerMessage};
pub use lessor::min_ttl;
pub use mvcc::Store;
pub use picklock_clients::etcd as rpc;
pub use picklock_clients::etcd::rpctypes;
pub use raft::Proposal;
pub use settings::{EnsuresLeadership, Settings, Version};
pub use state::Member;
