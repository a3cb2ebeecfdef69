//! Lock recipes, and the client handles that they speak to.
//!
//! A recipe is plain `async` code over a client handle ([`clients`]) and the environment of its process
//! ([`Env`]). Nothing in it can tell whether it is simulated: what stands behind the handle is a transport of one
//! function, and a real server can stand there as well.

pub mod clients;
pub mod env;
pub mod lock;
pub mod redis;
pub mod registry;
pub mod zookeeper;

pub use env::{Env, Environment};
pub use lock::{Build, Claim, Held, Lease, Lock, LockError, OwnershipRule, Recipe, Sense};
