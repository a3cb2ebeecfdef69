//! Recipes over etcd.

pub mod election;
pub mod election_3_6;
pub mod etcd3_python_lock;
pub mod etcdctl_lock;
pub mod mutex;
pub mod mutex_3_4;
pub mod mutex_any_event;
pub mod mutex_hardened;
pub mod mutex_prefix_watch;
pub mod v3election;
pub mod v3lock;
pub mod v3lock_unrenewed;

use std::rc::Rc;

use crate::clients::etcd::concurrency::Session;
use crate::clients::etcd::{Client, EtcdError, rpctypes};
use crate::clients::{Env, RequestKind, ServiceKind};
use crate::family::Family;
use crate::hazard::hazards;
use crate::ownership_rule::first;
use crate::{BuildOver, Lock, LockError, LockKind, Mode, OwnershipRule, Place};

/// Every algorithm over etcd.
pub(crate) const FAMILY: Family = Family {
    recipes: &[
        mutex::RECIPE,
        mutex_hardened::RECIPE,
        mutex_3_4::RECIPE,
        mutex_any_event::RECIPE,
        mutex_prefix_watch::RECIPE,
        v3lock::RECIPE,
        v3lock_unrenewed::RECIPE,
        etcd3_python_lock::RECIPE,
        etcdctl_lock::RECIPE,
        election::RECIPE,
        election_3_6::RECIPE,
        v3election::RECIPE,
    ],
    hazards: HAZARDS,
};

hazards! {
    "etcd/cancelled-release": ["etcd-mutex", "etcd-mutex-prefix-watch"] breaks [MutualExclusion] under [Cancel];
    "etcd/cancelled-resignation": ["etcd-election"] breaks [MutualExclusion] under [Cancel];
    "etcd/cut-off-command": ["etcdctl-lock"] breaks [TimelyLoss] under [Delay, Partition];
    "etcd/paused-command": ["etcdctl-lock"] breaks [TimelyLoss] under [Pause];
    "etcd/hung-member-command": ["etcdctl-lock"] breaks [TimelyLoss] under [ServerStall];
    "etcd/late-lock-answer": ["etcd-v3lock"] breaks [MutualExclusion] under [Partition];
}

/// A lock's name, and the lease of its sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdLock {
    /// The name: what its keys begin with, without a slash at the end.
    pub name: Rc<str>,
    /// How many seconds a session lives without a sign of life.
    pub ttl: i64,
}

impl EtcdLock {
    /// What the keys of its queue begin with.
    fn prefix(&self) -> Vec<u8> {
        [self.name.as_bytes(), b"/"].concat()
    }
}

/// The session of a lock object. One that is done is replaced.
async fn session_of(
    client: &Client,
    ttl: i64,
    session: &mut Option<Session>,
) -> Result<Session, LockError> {
    if let Some(session) = session.as_ref().filter(|session| !session.is_done()) {
        return Ok(session.clone());
    }
    let new = Session::new(client, ttl).await.map_err(seen)?;
    Ok(session.insert(new).clone())
}

/// What builds a lock over a client of etcd.
pub struct OverEtcd(pub &'static (dyn Fn(Client, Env, EtcdLock) -> Box<dyn Lock> + Sync));

impl BuildOver for OverEtcd {
    fn service(&self) -> ServiceKind {
        ServiceKind::Etcd
    }
}

/// The keys below a lock queue in the order of their revisions of creation, and the first owns it.
const OLDEST_KEY: OwnershipRule = OwnershipRule::of_queue(
    LockKind::Mutex,
    |_| Some(Place::Arrived(Mode::Exclusive)),
    first,
);

/// The same, of an election: the owner of the first key leads.
const OLDEST_KEY_LEADS: OwnershipRule = OwnershipRule::of_queue(
    LockKind::Election,
    |_| Some(Place::Arrived(Mode::Exclusive)),
    first,
);

/// The requests of a mutex in a session.
const REQUESTS: &[RequestKind] = &[
    RequestKind::Range,
    RequestKind::DeleteRange,
    RequestKind::Txn,
    RequestKind::LeaseGrant,
    RequestKind::LeaseKeepAlive,
    RequestKind::WatchCreate,
];

/// The error that a caller of a lock sees.
fn seen(error: EtcdError) -> LockError {
    match error {
        error if error.is_lease_not_found() => LockError::SessionExpired,
        EtcdError::Status(rpctypes::SESSION_EXPIRED) => LockError::SessionExpired,
        EtcdError::Status(rpctypes::CONNECTION_LOST) => LockError::ConnectionLoss,
        error if error.is_definite() => LockError::Refused,
        EtcdError::Status(_) | EtcdError::Compacted(_) | EtcdError::Unexpected => {
            LockError::TimedOut
        }
    }
}
