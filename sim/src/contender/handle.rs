//! The client of a contender, and the lock that stands on it.

use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{Path, SessionState, ZooKeeper};
use picklock_algorithms::{Build, Env, Lease, Lock};

use crate::process::ProcessId;
use crate::simulated_handles::{Shared, redis, zookeeper};
use crate::world::LOCK_KEY;

/// The client that the lock was built over.
pub(super) enum Handle {
    ZooKeeper(ZooKeeper),
    /// Its connections come and go by themselves.
    Redis,
}

impl Handle {
    /// Whether nothing will ever come of it.
    pub fn is_closed(&self) -> bool {
        match self {
            Self::ZooKeeper(zk) => zk.state() == SessionState::Closed,
            Self::Redis => false,
        }
    }
}

/// A new client of a process, and its lock.
pub(super) fn connect(
    shared: &Rc<Shared>,
    process: ProcessId,
    env: &Env,
) -> (Handle, Box<dyn Lock>) {
    let build = shared.world.borrow().plan.recipe.build;
    match build {
        Build::ZooKeeper(build) => {
            let zk = zookeeper(shared, process);
            let path = Path::clone(&shared.world.borrow().lock_path);
            let lock = build(zk.clone(), env.clone(), path);
            (Handle::ZooKeeper(zk), lock)
        }
        Build::Redis(build) => {
            let redis = redis(shared, process);
            let lease = Lease {
                key: LOCK_KEY.into(),
                time: shared.world.borrow().plan.service.lease(),
            };
            (Handle::Redis, build(redis, env.clone(), lease))
        }
    }
}
