//! A claim with a deadline: the lock of a server that knows leases itself.
//!
//! # Source
//!
//! Gray, Cheriton, "Leases: an efficient fault-tolerant mechanism for distributed file cache consistency", SOSP 1989.
//!
//! # Steps
//!
//! 1. Look at the clock, and claim the lock. A lease is counted from then on, so that it is over for us before it is
//!    for the server.
//! 2. Granted, and not over yet: we hold the lock, with a token that rises with each owner.
//! 3. Otherwise pause, and go to 1 with another number: a claim that was granted without our knowledge goes by itself.
//! 4. Release: claim it for no time at all.
//!
//! A call that was given up may have been granted the lock in the same moment: the next one begins with step 4.
//!
//! # Guarantees
//!
//! - `mutual-exclusion`, as long as clocks keep their pace to one in a hundred, and no process stands still between
//!   looking at the clock and acting on it.
//! - `fencing-monotonic`: the server counts owners.
//!
//! # Hazards
//!
//! - A client that counts the lease from the answer believes in it for longer than the server does
//!   (`lease_lock_from_answer`, scenario `lease-server/slow-answer`).
//! - A client that does not look at the clock before it enters can enter on an answer that is older than the lease
//!   (`lease_lock_unchecked`, scenario `lease-server/answer-read-late`).
//! - A claimant whose number another has, too, is that other to the server (`lease_lock_by_pid`, scenario
//!   `lease-server/same-number`).
//! - The client that asks first after a release gets the lock, however long others have waited: not `fifo`.

use std::time::Duration;

use async_trait::async_trait;

use super::OverLeaseServer;
use crate::clients::RequestKind;
use crate::clients::lease_server::{LeaseServer, Reply, Unanswered};
use crate::{Build, Claim, Env, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "lease-lock",
    summary: "A claim that is never renewed, with a deadline counted from the question, and a token.",
    source: "Gray and Cheriton, Leases, SOSP 1989",
    flaw: None,
    claims: CLAIMS,
    ownership: OwnershipRule::KEY,
    requests: &[RequestKind::Claim],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverLeaseServer(&|server, env, lease| {
        Box::new(LeaseLock::new(server, env, lease))
    })),
};

/// What it promises: no order.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

/// The lock, and how its siblings differ.
pub(super) struct LeaseLock {
    server: LeaseServer,
    env: Env,
    lease: Duration,
    by: u64,
    /// Whether the last claim of this number has no answer.
    unanswered: bool,
    deviation: Option<Deviation>,
}

/// What a sibling does otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Deviation {
    /// It counts the lease from the answer.
    CountsFromAnswer,
    /// It does not look at the clock when it is answered.
    TrustsAnswer,
    /// It claims by the number of its process.
    ClaimsByProcess,
}

impl LeaseLock {
    pub(super) fn new(server: LeaseServer, env: Env, lease: Duration) -> Self {
        Self {
            server,
            env,
            lease,
            by: 0,
            unanswered: false,
            deviation: None,
        }
    }

    pub(super) fn deviating(self, deviation: Deviation) -> Self {
        Self {
            deviation: Some(deviation),
            ..self
        }
    }

    /// Between two attempts pass 20 ms, and a random part of as much again, so that claimants do not keep step.
    async fn pause(&self) {
        let more = Duration::from_micros(self.env.random() % 20_000);
        self.env.sleep(Duration::from_millis(20) + more).await;
    }

    /// Clocks may differ in their pace by one in a hundred.
    fn deadline(&self, since: Duration) -> Duration {
        since + self.lease - self.lease / 100
    }
}

#[async_trait(?Send)]
impl Lock for LeaseLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if std::mem::take(&mut self.unanswered) {
            // Without an answer it goes by itself.
            let _ = self.server.claim(self.by, Duration::ZERO).await;
        }
        loop {
            self.by = match self.deviation {
                Some(Deviation::ClaimsByProcess) => 1,
                _ => self.env.random(),
            };
            self.unanswered = true;
            let asked = self.env.monotonic(); // Step 1.
            let answer = self.server.claim(self.by, self.lease).await;
            self.unanswered = answer.is_err();
            let answered = self.env.monotonic();
            let since = match self.deviation {
                Some(Deviation::CountsFromAnswer) => answered,
                _ => asked,
            };
            let deadline = self.deadline(since);
            if let Ok(Reply::Granted { token }) = answer
                && (answered < deadline || self.deviation == Some(Deviation::TrustsAnswer))
            {
                return Ok(Held::at("lock".into()).with_token(token).until(deadline)); // Step 2.
            }
            self.pause().await; // Step 3.
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let mut unanswered = false;
        // Step 4. When the lease is over, there is nothing to be given back.
        while held
            .valid_until
            .is_some_and(|end| self.env.monotonic() < end)
        {
            match self.server.claim(self.by, Duration::ZERO).await {
                Ok(Reply::Granted { .. }) => return Ok(()),
                Ok(Reply::Refused) if unanswered => return Ok(()),
                Ok(Reply::Refused) => return Err(LockError::PlaceLost),
                Err(Unanswered) => unanswered = true,
            }
            self.pause().await;
        }
        Err(LockError::TimedOut)
    }

    async fn lost(&self, held: &Held) -> LockError {
        let deadline = held.valid_until.unwrap_or_default();
        let left = deadline.saturating_sub(self.env.monotonic());
        self.env.sleep(left).await;
        LockError::LeaseLapsed
    }
}
