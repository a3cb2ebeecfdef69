//! BROKEN ON PURPOSE. The lock of a file without a lock-delay, and without a sequencer.
//!
//! # Source
//!
//! Burrows, "The Chubby lock service for loosely-coupled distributed systems", OSDI 2006, section 2.4: why there are
//! sequencers and a lock-delay.
//!
//! # Steps
//!
//! Those of [`lock`], with a lock-delay of zero.
//!
//! # Guarantees
//!
//! - Those of [`lock`], but for what is under way when a holder fails.
//!
//! # Hazards
//!
//! - A holder sends a request, and fails. The next one takes the lock when the session is over, and the request arrives
//!   under its lock (scenario `chubby/delayed-request`).

use std::time::Duration;

use super::lock::{self, Behavior, FileLock};
use super::{ChubbyLock, OverChubby};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "chubby-lock-no-delay",
    summary: "BROKEN: the lock of a file without a lock-delay, and without a sequencer.",
    flaw: Some("a request of a failed holder arrives under the lock of the next one"),
    build: Build::Other(&OverChubby(&|client, env, lock| {
        let lock_delay = Duration::ZERO;
        let lock = ChubbyLock { lock_delay, ..lock };
        Box::new(FileLock::new(client, env, lock, Behavior::default()))
    })),
    ..lock::RECIPE
};
