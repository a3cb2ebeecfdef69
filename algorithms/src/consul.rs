//! Recipes over Consul.

pub mod hardened;
pub mod kv_lock;
pub mod lock;
pub mod lock_monitor_retries;
pub mod lock_no_delay;
pub mod patroni_leader;
pub mod semaphore;
pub mod semaphore_no_prune;
mod session;

use std::rc::Rc;
use std::time::Duration;

use crate::clients::consul::{Consul, ConsulError};
use crate::clients::{Env, RequestKind, ServiceKind};
use crate::family::Family;
use crate::hazard::hazards;
use crate::ownership_rule::ReadPair;
use crate::{BuildOver, Lock, LockError, LockKind, OwnershipRule};

/// Every algorithm over Consul.
pub(crate) const FAMILY: Family = Family {
    recipes: &[
        lock::RECIPE,
        lock_monitor_retries::RECIPE,
        hardened::RECIPE,
        semaphore::RECIPE,
        lock_no_delay::RECIPE,
        semaphore_no_prune::RECIPE,
        patroni_leader::RECIPE,
        kv_lock::RECIPE,
    ],
    hazards: HAZARDS,
};

hazards! {
    "consul/partition": ["consul-lock", "consul-lock-monitor-retries"]
        breaks [MutualExclusion, TimelyLoss] under [Partition];
    "consul/semaphore-partition": ["consul-semaphore"]
        breaks [MutualExclusion, TimelyLoss] under [Partition];
    "consul/semaphore-dead-contender": ["consul-semaphore", "consul-semaphore-no-prune"]
        breaks [HonestAnswer] under [Pause];
    "consul/semaphore-late-put": ["consul-semaphore", "consul-semaphore-no-prune"]
        breaks [HonestAnswer] under [Partition];
    "consul/semaphore-hung-server": ["consul-semaphore", "consul-semaphore-no-prune"]
        breaks [HonestAnswer] under [ServerStall];
}

/// A lock: its key, and how its sessions are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsulLock {
    /// Its key; of a semaphore, what its keys begin with, without a slash at the end.
    pub key: Rc<str>,
    /// The time to live of sessions.
    pub ttl: Duration,
    /// The lock-delay of sessions.
    pub lock_delay: Duration,
    /// How many permits it has, if it is a semaphore.
    pub permits: u32,
}

/// What builds a lock over a client of Consul.
pub struct OverConsul(pub &'static (dyn Fn(Consul, Env, ConsulLock) -> Box<dyn Lock> + Sync));

impl BuildOver for OverConsul {
    fn service(&self) -> ServiceKind {
        ServiceKind::Consul
    }
}

/// The session that holds the key owns the lock.
const SESSION_OF_KEY: OwnershipRule = OwnershipRule::of_held_keys(LockKind::Mutex, session_of_key);

/// The same, of an election.
const SESSION_OF_KEY_LEADS: OwnershipRule =
    OwnershipRule::of_held_keys(LockKind::Election, session_of_key);

fn session_of_key(key: ReadPair<'_>, lock: &str) -> Vec<Rc<str>> {
    let session = key(lock).and_then(|pair| pair.session);
    session
        .iter()
        .map(|session| session.to_string().into())
        .collect()
}

/// The requests of a lock on a key in a session.
const REQUESTS: &[RequestKind] = &[
    RequestKind::KvGet,
    RequestKind::KvAcquire,
    RequestKind::KvRelease,
    RequestKind::SessionCreate,
    RequestKind::SessionRenew,
    RequestKind::SessionDestroy,
];

/// How long a call of a contender waits for the lock to be free until it looks again (`DefaultLockWaitTime`).
const WAIT_TIME: Duration = Duration::from_secs(15);
/// How long it waits if it could not acquire a free lock (`DefaultLockRetryTime`).
const RETRY_TIME: Duration = Duration::from_secs(5);

/// The error that a caller of a lock sees.
fn seen(error: ConsulError) -> LockError {
    match error {
        ConsulError::InvalidSession => LockError::SessionExpired,
        ConsulError::NoServers => LockError::Refused,
        error if error.is_definite() => LockError::Refused,
        ConsulError::Eof => LockError::ConnectionLoss,
        _ => LockError::TimedOut,
    }
}
