//! A lock over a key with a lease, as other people would write it, and what is easily got wrong in it.

use std::future::pending;
use std::time::Duration;

use async_trait::async_trait;
use futures_lite::future;
use picklock_algorithms::clients::RequestKind;
use picklock_algorithms::clients::redis::{Redis, Script, Value};
use picklock_algorithms::{
    Build, BuildOverRedis, Claim, Env, Held, Lease, Lock, LockError, OwnershipRule, Recipe,
};

/// What is wrong with a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// Nothing.
    None,
    /// The clocks of servers and clients are taken to keep the same pace.
    NoDrift,
    /// The lease is counted from the answer.
    CountsFromAnswer,
    /// The clock is not looked at before the lock is handed out.
    HandedOutLate,
    /// The lease is extended in the background, and what is answered to that is not looked at.
    DeafWatchdog,
}

const DELETE_IF_OURS: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

const EXTEND_IF_OURS: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0";

/// Without a flaw.
pub const IN_TIME: Recipe = recipe("in-time", &|redis, env, lease| {
    leased(redis, env, lease, Flaw::None)
});
/// See [`Flaw::NoDrift`].
pub const NO_DRIFT: Recipe = recipe("no-drift", &|redis, env, lease| {
    leased(redis, env, lease, Flaw::NoDrift)
});
/// See [`Flaw::CountsFromAnswer`].
pub const COUNTS_FROM_ANSWER: Recipe = recipe("counts-from-answer", &|redis, env, lease| {
    leased(redis, env, lease, Flaw::CountsFromAnswer)
});
/// See [`Flaw::HandedOutLate`].
pub const HANDED_OUT_LATE: Recipe = recipe("handed-out-late", &|redis, env, lease| {
    leased(redis, env, lease, Flaw::HandedOutLate)
});
/// See [`Flaw::DeafWatchdog`].
pub const DEAF_WATCHDOG: Recipe = recipe("deaf-watchdog", &|redis, env, lease| {
    leased(redis, env, lease, Flaw::DeafWatchdog)
});

const fn recipe(name: &'static str, build: &'static BuildOverRedis) -> Recipe {
    Recipe {
        name,
        summary: "SET NX PX with a deadline.",
        source: "a test",
        flaw: None,
        claims: &[Claim::MutualExclusion],
        ownership: OwnershipRule::KEY,
        requests: &[RequestKind::Set, RequestKind::Script],
        inputs: &[],
        cancellable: true,
        shareable: false,
        build: Build::Redis(build),
    }
}

struct Leased {
    redis: Redis,
    env: Env,
    lease: Lease,
    token: String,
    flaw: Flaw,
}

fn leased(redis: Redis, env: Env, lease: Lease, flaw: Flaw) -> Box<dyn Lock> {
    Box::new(Leased {
        redis,
        env,
        lease,
        token: String::new(),
        flaw,
    })
}

impl Leased {
    async fn pause(&self) {
        let more = Duration::from_micros(self.env.random() % 20_000);
        self.env.sleep(Duration::from_millis(20) + more).await;
    }

    /// Extends the lease three times in its length, for ever.
    async fn extend(&self) -> LockError {
        let extend = Script::new(EXTEND_IF_OURS);
        let millis = self.lease.time.as_millis().to_string();
        loop {
            self.env.sleep(self.lease.time / 3).await;
            let (keys, args) = ([&*self.lease.key], [&*self.token, &*millis]);
            let _answer = self.redis.script(&extend, &keys, &args).await;
        }
    }
}

#[async_trait(?Send)]
impl Lock for Leased {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.token = self.env.guid();
            let asked = self.env.monotonic();
            let Lease { key, time } = &self.lease;
            let set = self.redis.set_if_missing(key, &self.token, *time).await;
            let answered = self.env.monotonic();
            let from = match self.flaw {
                Flaw::CountsFromAnswer => answered,
                _ => asked,
            };
            let drift = match self.flaw {
                Flaw::NoDrift => Duration::ZERO,
                _ => *time / 100 + Duration::from_millis(2),
            };
            let deadline = (from + *time).saturating_sub(drift);
            let in_time = answered < deadline || self.flaw == Flaw::HandedOutLate;
            if set == Ok(true) && in_time {
                let held = Held::at(key.clone());
                return Ok(match self.flaw {
                    Flaw::DeafWatchdog => held,
                    _ => held.until(deadline),
                });
            }
            self.pause().await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let delete = Script::new(DELETE_IF_OURS);
        let (keys, args) = ([&*held.path_or_key], [&*self.token]);
        match self.redis.script(&delete, &keys, &args).await? {
            Value::Integer(1) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        if self.flaw == Flaw::DeafWatchdog {
            return future::or(self.extend(), pending()).await;
        }
        match held.valid_until {
            Some(deadline) => {
                let left = deadline.saturating_sub(self.env.monotonic());
                self.env.sleep(left).await;
                LockError::LeaseLapsed
            }
            None => pending().await,
        }
    }
}
