//! A lock of a file that is asked for again and again.
//!
//! # Source
//!
//! Burrows, "The Chubby lock service for loosely-coupled distributed systems", OSDI 2006, section 2.6 (`TryAcquire`).
//!
//! # Steps
//!
//! 1. Open the file, with the lock-delay.
//! 2. `TryAcquire`: answered at once. If the lock is held, or its lock-delay is not over, wait half a second, and ask
//!    again.
//! 3. Steps 3 and 4 of [`lock`], and a sequencer.
//!
//! # Guarantees
//!
//! - Those of [`super::sequencer_lock`].
//!
//! # Hazards
//!
//! - The client that asks first when the lock is free gets it: there is no order.

use super::lock::{self, Behavior, FileLock};
use super::{OverChubby, sequencer_lock};
use crate::clients::RequestKind;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "chubby-try-acquire",
    summary: "A lock of a file that is asked for each half second.",
    source: "Burrows, The Chubby lock service, OSDI 2006, section 2.6",
    claims: sequencer_lock::CLAIMS,
    requests: &[
        RequestKind::NewSession,
        RequestKind::KeepAlive,
        RequestKind::OpenFile,
        RequestKind::CloseFile,
        RequestKind::TryAcquireFileLock,
        RequestKind::ReleaseFileLock,
        RequestKind::GetSequencer,
    ],
    build: Build::Other(&OverChubby(&|client, env, lock| {
        Box::new(FileLock::new(client, env, lock, BEHAVIOR))
    })),
    ..lock::RECIPE
};

const BEHAVIOR: Behavior = Behavior {
    polls: true,
    has_sequencer: true,
    ignores_jeopardy: false,
};
