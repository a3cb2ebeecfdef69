//! BROKEN ON PURPOSE. The lock of a file whose holder works on whatever becomes of its session.
//!
//! # Source
//!
//! Burrows, "The Chubby lock service for loosely-coupled distributed systems", OSDI 2006, section 2.8: an application
//! stops when its session is in jeopardy, until it is safe or over.
//!
//! # Steps
//!
//! Those of [`lock`] without step 3.
//!
//! # Guarantees
//!
//! - Those of [`lock`], as long as no session is in jeopardy.
//!
//! # Hazards
//!
//! - The master ends the session when it has heard nothing, and gives the lock to the next one when the lock-delay is
//!   over. The holder works on (scenario `chubby/jeopardy`).

use super::OverChubby;
use super::lock::{self, Behavior, FileLock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "chubby-lock-ignores-jeopardy",
    summary: "BROKEN: the lock of a file whose holder works on when its session may be over.",
    flaw: Some("it does not look at its session while it holds the lock"),
    build: Build::Other(&OverChubby(&|client, env, lock| {
        Box::new(FileLock::new(client, env, lock, BEHAVIOR))
    })),
    ..lock::RECIPE
};

const BEHAVIOR: Behavior = Behavior {
    ignores_jeopardy: true,
    polls: false,
    has_sequencer: false,
};
