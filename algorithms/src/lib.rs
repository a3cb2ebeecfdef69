//! Lock recipes, and the client handles that they speak to.
//!
//! A recipe is plain `async` code over a client handle ([`clients`]) and the environment of its process
//! ([`Env`]). Nothing in it can tell whether it is simulated: what stands behind the handle is a transport of one
//! function, and a real server can stand there as well.

pub mod clients;
mod concurrent;
pub mod env;
pub mod lock;
pub mod redis;
pub mod registry;
pub mod zookeeper;

pub use async_trait::async_trait;
pub use concurrent::{join, select, timeout};
pub use env::{Env, Environment};
pub use lock::{
    Build, BuildOverRedis, BuildOverZooKeeper, Claim, Held, Lease, Lock, LockError, OwnershipRule,
    Recipe, RecipeInput,
};
