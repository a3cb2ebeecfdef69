//! What a lock recipe may touch: the client handles, one per service, and the environment of its process.
//!
//! The requests and answers behind a handle are here, too: a service that answers them needs this crate, and no recipe.

pub mod chubby;
pub mod completion;
mod concurrent;
pub mod consul;
pub mod curator;
pub mod env;
pub mod etcd;
pub mod go_zookeeper;
pub mod kazoo;
pub mod lease_server;
pub mod memcached;
pub mod redis;
mod request_kind;
pub mod sql;
mod stop_channel;
pub mod zookeeper;

pub use concurrent::{join, select, select_any, timeout};
pub use env::{Env, Environment};
pub use request_kind::{RequestKind, ServiceKind, StateKind};
pub use stop_channel::StopChannel;
