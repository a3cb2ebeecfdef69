//! `compare_and_delete`, except that the caller goes on when `acquire` has failed, as if it held the lock. Must be
//! caught by `incidents/redbeat-208`.

use async_trait::async_trait;

use super::compare_and_delete::CompareAndDelete;
use super::leased::CLAIMS;
use crate::clients::RequestKind;
use crate::{Build, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-error-is-lock",
    summary: "SET NX PX with a token and a deadline, whose caller goes on when it fails.",
    source: "redbeat #208 and #238: an error in a signal handler of Celery is logged, and beat starts",
    flaw: Some("whoever fails to ask for the lock works as if it had it"),
    claims: CLAIMS,
    ownership: OwnershipRule::Key,
    requests: &[RequestKind::Set, RequestKind::Script],
    inputs: &[],
    cancellable: true,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(ErrorIsLock(CompareAndDelete::new(redis, env, lease)))
    }),
};

struct ErrorIsLock(CompareAndDelete);

#[async_trait(?Send)]
impl Lock for ErrorIsLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.0.token = self.0.leased.env.guid();
            let asked = self.0.leased.env.monotonic();
            let deadline = self.0.leased.deadline(asked);
            let set = self.0.leased.set_if_missing(&self.0.token).await;
            if set.unwrap_or(true)
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
