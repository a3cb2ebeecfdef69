//! `compare_and_delete`, except that a `SET` that was not answered counts as one that was refused. Must be caught by
//! `incidents/simstudio-6864`.

use async_trait::async_trait;

use super::compare_and_delete::CompareAndDelete;
use super::leased::CLAIMS;
use crate::clients::RequestKind;
use crate::{Build, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-error-is-refusal",
    summary: "SET NX PX with a token and a deadline, but no answer counts as a refusal.",
    source: "simstudioai/sim #6864: acquireLock before it",
    flaw: Some("a SET that was not answered may have taken the lock, and nobody gives it back"),
    claims: CLAIMS,
    ownership: OwnershipRule::Key,
    requests: &[RequestKind::Set, RequestKind::Script],
    inputs: &[],
    cancellable: true,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(ErrorIsRefusal(CompareAndDelete::new(redis, env, lease)))
    }),
};

struct ErrorIsRefusal(CompareAndDelete);

#[async_trait(?Send)]
impl Lock for ErrorIsRefusal {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.0.token = self.0.leased.env.guid();
            let asked = self.0.leased.env.monotonic();
            let deadline = self.0.leased.deadline(asked);
            let set = self.0.leased.set_if_missing(&self.0.token).await;
            if set.unwrap_or(false)
                && let Some(held) = self.0.leased.in_time(deadline, None, &mut None)
            {
                return Ok(held);
            }
            self.0.leased.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.0.release(held).await
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.0.lost(held).await
    }
}
