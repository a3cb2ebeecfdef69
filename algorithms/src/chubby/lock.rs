//! A lock of a file: the master keeps the queue, and a lock-delay keeps the lock of a failed holder from others.
//!
//! # Source
//!
//! Burrows, "The Chubby lock service for loosely-coupled distributed systems", OSDI 2006, sections 2.4, 2.6, and 2.8.
//!
//! # Steps
//!
//! 1. Open the file, with the lock-delay.
//! 2. Acquire: answered when we hold the lock.
//! 3. Jeopardy, or the end of the session: stop, for the lock may be lost.
//! 4. Release, and keep the file open for the next time. On doubt close it: a closed handle holds no lock.
//!
//! # Guarantees
//!
//! - While the session is safe no other handle holds the lock.
//! - When a holder fails, no other client holds the lock before the lock-delay is over: what the holder has sent until
//!   then arrives under its lock.
//!
//! # Hazards
//!
//! - A process that stands still hears nothing of its session: it believes on, and what it sends arrives when the
//!   lock-delay is over (scenario `chubby/holder-pause`). A write has to bring a sequencer along (`sequencer_lock`).
//! - A lock-delay also keeps the lock from others when its holder has only died (scenario `chubby/holder-crash`).
//! - A holder that ignores jeopardy works on without the lock (`lock_ignores_jeopardy`, scenario `chubby/jeopardy`).

use std::time::Duration;

use async_trait::async_trait;

use super::{ChubbyLock, OverChubby, REQUESTS, seen};
use crate::clients::Env;
use crate::clients::chubby::{Chubby, Handle, LockMode, OpenOptions, SessionState};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "chubby-lock",
    summary: "A lock of a file with a lock-delay, given up as soon as the session is in jeopardy.",
    source: "Burrows, The Chubby lock service, OSDI 2006, sections 2.4 and 2.8",
    flaw: None,
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::SESSION,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverChubby(&|client, env, lock| {
        Box::new(FileLock::new(client, env, lock, Behavior::default()))
    })),
};

/// How long a contender waits that asks again and again.
const POLL: Duration = Duration::from_millis(500);

/// How siblings differ.
#[derive(Clone, Copy, Default)]
pub(super) struct Behavior {
    /// It asks again and again, and does not wait at the master.
    pub polls: bool,
    /// It works on whatever becomes of the session.
    pub ignores_jeopardy: bool,
    /// A hold has a sequencer.
    pub has_sequencer: bool,
}

/// The lock of a file.
pub(super) struct FileLock {
    client: Chubby,
    env: Env,
    lock: ChubbyLock,
    behavior: Behavior,
    handle: Option<Handle>,
}

impl FileLock {
    pub(super) fn new(client: Chubby, env: Env, lock: ChubbyLock, behavior: Behavior) -> Self {
        Self {
            client,
            env,
            lock,
            behavior,
            handle: None,
        }
    }

    /// Steps 1 and 2. The handle is dropped with the call, or if it fails, and so closed.
    pub(super) async fn open_and_acquire(&mut self) -> Result<Handle, LockError> {
        let options = OpenOptions {
            create: true,
            ephemeral: false,
            lock_delay: self.lock.lock_delay,
        };
        let kept = self.handle.take();
        let handle = match kept.filter(|handle| handle.session() == SessionState::Safe) {
            Some(handle) => handle,
            None => (self.client.open(&self.lock.name, options).await).map_err(seen)?, // Step 1.
        };
        if self.behavior.polls {
            while !handle
                .try_acquire(LockMode::Exclusive)
                .await
                .map_err(seen)?
            {
                self.env.sleep(POLL).await;
            }
        } else {
            handle.acquire(LockMode::Exclusive).await.map_err(seen)?; // Step 2.
        }
        Ok(handle)
    }

    /// What the handle holds now.
    pub(super) async fn held_by(&mut self, handle: Handle) -> Result<Held, LockError> {
        let held = Held::at(self.lock.name.clone());
        let held = match self.behavior.has_sequencer {
            true => held.with_token(handle.get_sequencer().await.map_err(seen)?.generation),
            false => held,
        };
        self.handle = Some(handle);
        Ok(held)
    }

    pub(super) fn name(&self) -> String {
        self.env.host()
    }
}

#[async_trait(?Send)]
impl Lock for FileLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let handle = self.open_and_acquire().await?;
        self.held_by(handle).await
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let Some(handle) = self.handle.take() else {
            return Err(LockError::NotHeld);
        };
        handle.release().await.map_err(seen)?; // Step 4.
        self.handle = Some(handle);
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.handle {
            Some(handle) if !self.behavior.ignores_jeopardy => handle.jeopardy().await, // Step 3.
            Some(_) | None => std::future::pending().await,
        }
        LockError::Disconnected
    }
}
