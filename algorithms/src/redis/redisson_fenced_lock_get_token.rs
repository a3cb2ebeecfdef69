//! `redisson_fenced_lock`, except that the number is asked for when the lock is held. Must be caught by
//! `redis/fenced-lock-get-token`.

use std::time::Duration;

use async_trait::async_trait;

use super::leased::never;
use super::redisson::RedissonLock;
use crate::clients::RequestKind;
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-fenced-lock-get-token",
    summary: "Redisson's RFencedLock whose holder asks for the number by getToken, and not by lockAndGetToken.",
    source: "Redisson 4.x, RedissonFencedLock.getToken",
    flaw: Some("the number is that of the holder at the time of the answer"),
    requests: &[
        RequestKind::Script,
        RequestKind::Del,
        RequestKind::Subscribe,
        RequestKind::Get,
    ],
    build: Build::Redis(&|redis, env, lease| {
        let lock = RedissonLock::new(redis, env.clone(), lease).fenced();
        Box::new(GetToken { lock, env })
    }),
    ..super::redisson_fenced_lock::RECIPE
};

/// How long it waits before it asks again, if the question has failed.
const RETRY_DELAY: Duration = Duration::from_millis(100);

struct GetToken {
    lock: RedissonLock,
    env: Env,
}

impl GetToken {
    async fn with_number(&self, held: Held) -> Held {
        loop {
            match self.lock.get_token().await {
                Ok(token) => return Held { token, ..held },
                Err(_) => self.env.sleep(RETRY_DELAY).await,
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for GetToken {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let held = self.lock.acquire().await?;
        Ok(self.with_number(held).await)
    }

    fn has_timed_acquire(&self) -> bool {
        true
    }

    async fn acquire_within(&mut self, time: Duration) -> Result<Held, LockError> {
        let held = self.lock.acquire_within(time).await?;
        Ok(self.with_number(held).await)
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    fn for_task(&self, env: &Env) -> Option<Box<dyn Lock>> {
        let (lock, env) = (self.lock.of_thread(env), env.clone());
        Some(Box::new(Self { lock, env }))
    }
}
