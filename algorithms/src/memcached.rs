//! Recipes over memcached and Tair.

pub mod add_lock;
pub mod celery_cache_lock;
pub mod get_then_delete;
pub mod incr;
mod item;
pub mod tair_cad;
pub mod tair_excad;
pub mod tair_put_version;
pub mod token_lock;
pub mod token_lock_full_second;
pub mod token_lock_read;

use crate::clients::memcached::{Memcached, MemcachedError};
use crate::clients::{Env, ServiceKind};
use crate::family::Family;
use crate::hazard::hazards;
use crate::{BuildOver, Lease, Lock, LockError};

/// Every algorithm over memcached or Tair.
pub(crate) const FAMILY: Family = Family {
    recipes: &[
        token_lock::RECIPE,
        token_lock_read::RECIPE,
        tair_cad::RECIPE,
        token_lock_full_second::RECIPE,
        add_lock::RECIPE,
        celery_cache_lock::RECIPE,
        get_then_delete::RECIPE,
        incr::RECIPE,
        tair_put_version::RECIPE,
        tair_excad::RECIPE,
    ],
    hazards: HAZARDS,
};

hazards! {
    "memcached/late-delete": ["memcached-add-lock", "celery-cache-lock"] breaks [MutualExclusion, OwnReleaseOnly]
        under [Pause];
}

/// What builds a lock over a client of memcached or Tair.
pub struct OverMemcached {
    /// The products that have what the lock asks for, as scenario files name them.
    pub products: &'static [&'static str],
    /// Builds it.
    pub build: &'static (dyn Fn(Memcached, Env, Lease) -> Box<dyn Lock> + Sync),
}

impl BuildOver for OverMemcached {
    fn service(&self) -> ServiceKind {
        ServiceKind::Memcached
    }

    fn variants(&self) -> Option<&'static [&'static str]> {
        Some(self.products)
    }
}

/// memcached alone.
const MEMCACHED: &[&str] = &["memcached"];
/// Tair's cache engine.
const TAIR_MDB: &[&str] = &["tair-mdb"];
/// The module TairString.
const TAIR_STRING: &[&str] = &["tair-string"];

/// The error that a caller of a lock sees.
fn seen(error: MemcachedError) -> LockError {
    match error {
        MemcachedError::NotConnected | MemcachedError::Refused => LockError::Refused,
        MemcachedError::ConnectionLoss => LockError::ConnectionLoss,
        MemcachedError::TimedOut => LockError::TimedOut,
    }
}

/// Whether a command that has failed so cannot have been done.
fn is_definite(error: MemcachedError) -> bool {
    matches!(
        error,
        MemcachedError::NotConnected | MemcachedError::Refused
    )
}
