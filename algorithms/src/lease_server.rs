//! Recipes over the lease server.

pub mod lease_lock;
pub mod lease_lock_by_pid;
pub mod lease_lock_from_answer;
pub mod lease_lock_unchecked;

use std::time::Duration;

use crate::clients::lease_server::LeaseServer;
use crate::clients::{Env, ServiceKind};
use crate::family::Family;
use crate::hazard::hazards;
use crate::{BuildOver, Lock};

/// Every algorithm over the lease server.
pub(crate) const FAMILY: Family = Family {
    recipes: &[
        lease_lock::RECIPE,
        lease_lock_from_answer::RECIPE,
        lease_lock_by_pid::RECIPE,
        lease_lock_unchecked::RECIPE,
    ],
    hazards: HAZARDS,
};

hazards! {
    "lease-server/answer-read-late": ["lease-lock-unchecked"] breaks [TimelyLoss] under [Pause];
    "lease-server/same-number": ["lease-lock-by-pid"] breaks [MutualExclusion, OwnReleaseOnly] under [Pause];
}

/// What builds a lock over a handle of the lease server; the time is how long a lease is.
pub struct OverLeaseServer(
    pub &'static (dyn Fn(LeaseServer, Env, Duration) -> Box<dyn Lock> + Sync),
);

impl BuildOver for OverLeaseServer {
    fn service(&self) -> ServiceKind {
        ServiceKind::LeaseServer
    }
}
