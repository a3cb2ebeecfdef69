//! A lock of a file whose holder sends a sequencer along with what it does.
//!
//! # Source
//!
//! Burrows, "The Chubby lock service for loosely-coupled distributed systems", OSDI 2006, section 2.4 (sequencers).
//!
//! # Steps
//!
//! 1. Steps 1 and 2 of [`lock`].
//! 2. `GetSequencer`: the file, the mode, and the lock generation, which grows when the lock goes from free to held.
//! 3. Every request to the resource brings the sequencer along. A resource without a session of its own refuses one
//!    that is older than the newest that it has seen.
//! 4. Steps 3 and 4 of [`lock`].
//!
//! # Guarantees
//!
//! - Those of [`lock`].
//! - The generation is a token: it rises with each holder. So a request of a former holder has no effect after one of a
//!   later holder, whatever has held it up.
//!
//! # Hazards
//!
//! - The answers of steps 1 and 2 may be old when they are read (scenario `chubby/holder-pause`): only the resource can
//!   tell.

use super::lock::{self, Behavior, FileLock};
use super::{OverChubby, REQUESTS_WITH_SEQUENCER};
use crate::{Build, Claim, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "chubby-sequencer-lock",
    summary: "A lock of a file whose sequencer the resource checks.",
    source: "Burrows, The Chubby lock service, OSDI 2006, section 2.4",
    claims: CLAIMS,
    requests: REQUESTS_WITH_SEQUENCER,
    build: Build::Other(&OverChubby(&|client, env, lock| {
        Box::new(FileLock::new(client, env, lock, BEHAVIOR))
    })),
    ..lock::RECIPE
};

const BEHAVIOR: Behavior = Behavior {
    has_sequencer: true,
    polls: false,
    ignores_jeopardy: false,
};

/// What every lock promises, and a token.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];
