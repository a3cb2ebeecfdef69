//! Recipes over Chubby.

pub mod lock;
pub mod lock_ignores_jeopardy;
pub mod lock_no_delay;
pub mod primary_election;
pub mod sequencer_lock;
pub mod try_acquire;

use std::rc::Rc;
use std::time::Duration;

use crate::clients::chubby::{Chubby, ChubbyError};
use crate::clients::{Env, RequestKind, ServiceKind};
use crate::family::Family;
use crate::hazard::hazards;
use crate::{BuildOver, Lock, LockError};

/// Every algorithm over Chubby.
pub(crate) const FAMILY: Family = Family {
    recipes: &[
        lock::RECIPE,
        sequencer_lock::RECIPE,
        try_acquire::RECIPE,
        primary_election::RECIPE,
        lock_no_delay::RECIPE,
        lock_ignores_jeopardy::RECIPE,
    ],
    hazards: HAZARDS,
};

hazards! {
    "chubby/jeopardy": ["chubby-lock-ignores-jeopardy"] breaks [MutualExclusion, TimelyLoss] under [Partition];
}

/// A lock's file, and for how long it is kept from others when its holder fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChubbyLock {
    /// The file.
    pub name: Rc<str>,
    /// The lock-delay.
    pub lock_delay: Duration,
}

/// What builds a lock over a client of a cell.
pub struct OverChubby(pub &'static (dyn Fn(Chubby, Env, ChubbyLock) -> Box<dyn Lock> + Sync));

impl BuildOver for OverChubby {
    fn service(&self) -> ServiceKind {
        ServiceKind::Chubby
    }
}

/// The requests of a lock.
const REQUESTS: &[RequestKind] = &[
    RequestKind::NewSession,
    RequestKind::KeepAlive,
    RequestKind::OpenFile,
    RequestKind::CloseFile,
    RequestKind::AcquireFileLock,
    RequestKind::ReleaseFileLock,
];

/// The same, and a sequencer.
const REQUESTS_WITH_SEQUENCER: &[RequestKind] = &[
    RequestKind::NewSession,
    RequestKind::KeepAlive,
    RequestKind::OpenFile,
    RequestKind::CloseFile,
    RequestKind::AcquireFileLock,
    RequestKind::ReleaseFileLock,
    RequestKind::GetSequencer,
];

/// The error that a caller of a lock sees.
fn seen(error: ChubbyError) -> LockError {
    match error {
        ChubbyError::SessionExpired => LockError::SessionExpired,
        ChubbyError::InvalidHandle | ChubbyError::NotHeld | ChubbyError::StaleSequencer => {
            LockError::PlaceLost
        }
        ChubbyError::NoSuchFile | ChubbyError::WrongGeneration | ChubbyError::Unexpected => {
            LockError::Refused
        }
    }
}
