//! Lock recipes, and the client handles that they speak to.
//!
//! A recipe is plain `async` code over a client handle ([`clients`], a crate of its own) and the environment of its
//! process ([`Env`]). Nothing in it can tell whether it is simulated: what stands behind the handle is a transport of
//! one function, and a real server can stand there as well.

pub mod chubby;
mod claim;
pub mod consul;
mod counted_permits;
pub mod etcd;
mod family;
mod fault_class;
mod hazard;
pub mod hazards;
mod held;
mod keys;
pub mod lease_server;
pub mod library;
pub mod lock;
mod lock_error;
pub mod memcached;
pub mod ownership_rule;
mod recipe_mistakes;
pub mod redis;
pub mod registry;
mod row_hold;
mod service_errors;
pub mod sql;
#[cfg(test)]
mod stub_locks;
pub mod zookeeper;

pub use async_trait::async_trait;
pub use claim::Claim;
pub use counted_permits::CountedPermits;
pub use fault_class::FaultClass;
pub use held::Held;
pub use keys::Keys;
pub use lock::{
    Build, BuildOver, BuildOverRedis, BuildOverZooKeeper, BuildSemaphoreOverRedis,
    BuildSemaphoreOverZooKeeper, CancelCall, Lease, Lock, MultiLock, MultiLockCall, Recipe,
    RecipeInput, StopCall,
};
pub use lock_error::LockError;
pub use ownership_rule::{KeyHold, LockKind, Mode, Owners, OwnershipRule, Place, Queue};
pub use picklock_clients as clients;
pub use picklock_clients::{Env, Environment, env, join, select, select_any, timeout};
pub use recipe_mistakes::RecipeMistake;
pub use row_hold::{Columns, RowHold};
