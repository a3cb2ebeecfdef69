//! A client as Go's `clientv3` is: a balancer, tries that are repeated, signs of life for leases, and watches that
//! outlive their streams.

mod lease;
mod machine;
mod retry;
mod state;
mod watch;

pub use state::{CallId, Client, ClientSettings, Input, Output, WatchEnd, WatchKey};
