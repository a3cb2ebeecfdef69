//! An election of a primary: the one that holds the lock of a file writes its name into it.
//!
//! # Source
//!
//! Burrows, "The Chubby lock service for loosely-coupled distributed systems", OSDI 2006, sections 2.4 and 2.6 (its
//! example of an election).
//!
//! # Steps
//!
//! 1. All that could be the primary open the file, with the lock-delay, and acquire its lock.
//! 2. The one that has it writes its name into the file, for clients and replicas to read.
//! 3. It gets a sequencer, which it sends along with what it asks of others.
//! 4. Jeopardy, or the end of the session: it is the primary no longer.
//! 5. It steps down by a release.
//!
//! # Guarantees
//!
//! - Those of [`super::sequencer_lock`]: one primary at a time while sessions are safe, with a token that rises.
//!
//! # Hazards
//!
//! - As of [`lock`]: a primary that stands still is one on (scenario `chubby/holder-pause`).
//! - The file has the name of the last primary for as long as there is no other.

use async_trait::async_trait;

use super::lock::{self, Behavior, FileLock};
use super::{OverChubby, seen, sequencer_lock};
use crate::clients::RequestKind;
use crate::{Build, Held, Lock, LockError, LockKind, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "chubby-primary-election",
    summary: "An election whose primary holds the lock of a file, and writes its name into it.",
    source: "Burrows, The Chubby lock service, OSDI 2006, sections 2.4 and 2.6",
    claims: sequencer_lock::CLAIMS,
    ownership: OwnershipRule {
        kind: LockKind::Election,
        ..OwnershipRule::SESSION
    },
    requests: &[
        RequestKind::NewSession,
        RequestKind::KeepAlive,
        RequestKind::OpenFile,
        RequestKind::CloseFile,
        RequestKind::AcquireFileLock,
        RequestKind::ReleaseFileLock,
        RequestKind::SetContents,
        RequestKind::GetSequencer,
    ],
    build: Build::Other(&OverChubby(&|client, env, lock| {
        Box::new(PrimaryElection(FileLock::new(client, env, lock, BEHAVIOR)))
    })),
    ..lock::RECIPE
};

const BEHAVIOR: Behavior = Behavior {
    has_sequencer: true,
    polls: false,
    ignores_jeopardy: false,
};

struct PrimaryElection(FileLock);

#[async_trait(?Send)]
impl Lock for PrimaryElection {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let handle = self.0.open_and_acquire().await?; // Step 1.
        let name = self.0.name();
        handle.set_contents(&name, None).await.map_err(seen)?; // Step 2.
        self.0.held_by(handle).await // Step 3.
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held).await // Step 5.
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.0.lost(held).await // Step 4.
    }
}
