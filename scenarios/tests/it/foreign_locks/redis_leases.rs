//! Keys with a lease, and what is got wrong in its time and in whose it is.

use std::cell::Cell;
use std::future::pending;
use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::clients::redis::{Command, Redis, RedisError, RedisResult, Script, Value};
use picklock_algorithms::redis::compare_and_delete::DELETE_IF_OURS;
use picklock_algorithms::redis::leased::drift;
use picklock_algorithms::{Env, Held, Lease, Lock, LockError, Recipe, RecipeInput, timeout};

use crate::foreign_locks::common::{ForeignLock, Version};

/// What is wrong with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A second way to set the key has no time to live.
    NoTimeOnRetry,
    /// The value is when the lease ends, by the wall clock of the client that set it.
    WallClockValue,
    /// The key is set again to keep it.
    KeepsBySet,
    /// Release leaves the key for the rest of a least time.
    AtLeast,
    /// Each extension adds a lease to the deadline.
    AddsUp,
}

pub const LOCKS: [ForeignLock; 5] = [
    ForeignLock {
        name: "no-time-on-retry",
        source: "blog posts on SETNX and EXPIRE; celery-serverless #65",
        flaw: "The retry after an answer that did not come sets the key without a time to live.",
        breaks: "progress",
        takes: "a lost request at the first set, and the death of the next holder",
        held_out: false,
        world: WORLD,
        recipe: |version| recipe("no-time-on-retry", Kind::NoTimeOnRetry, version),
    },
    ForeignLock {
        name: "wall-clock-value",
        source: "the SETNX page of old Redis documentation, GETSET with a time stamp",
        flaw: "The end of the lease is a time of the holder's wall clock, which others compare with theirs.",
        breaks: "mutual-exclusion",
        takes: "a wall clock that jumps",
        held_out: true,
        world: WORLD,
        recipe: |version| Recipe {
            inputs: &[RecipeInput::WallClock],
            ..recipe("wall-clock-value", Kind::WallClockValue, version)
        },
    },
    ForeignLock {
        name: "keeps-by-set",
        source: "CERT-Polska/Artemis, ResourceLock, #2670",
        flaw: "The heartbeat sets the key, even if another contender has it by then.",
        breaks: "own-release-only",
        takes: "a pause that outlasts the lease",
        held_out: false,
        world: LONG,
        recipe: |version| recipe("keeps-by-set", Kind::KeepsBySet, version),
    },
    ForeignLock {
        name: "at-least",
        source: "ShedLock, lockAtLeastFor over Redis",
        flaw: "Release sets the key for the rest of the least time, even if another contender has it by then.",
        breaks: "own-release-only",
        takes: "a request that is late by what is left of the lease",
        held_out: true,
        world: WORLD,
        recipe: |version| recipe("at-least", Kind::AtLeast, version),
    },
    ForeignLock {
        name: "adds-up",
        source: "redis-py, Lock.extend(additional_time)",
        flaw: "Each extension adds a whole lease to the holder's deadline, and the server counts from now.",
        breaks: "mutual-exclusion",
        takes: "a silence, after some extensions",
        held_out: true,
        world: LONG,
        recipe: |version| recipe("adds-up", Kind::AddsUp, version),
    },
];

const WORLD: &str = r#"
[service.redis]
lease = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "2s"
"#;

const LONG: &str = r#"
[service.redis]
lease = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "20s"
"#;

fn recipe(name: &'static str, kind: Kind, version: Version) -> Recipe {
    Recipe::over_redis(name, move |redis, env, lease| {
        Box::new(Leased {
            redis,
            env,
            lease,
            kind,
            version,
            token: String::new(),
            deadline: Cell::default(),
            since: Duration::ZERO,
        })
    })
}

struct Leased {
    redis: Redis,
    env: Env,
    lease: Lease,
    kind: Kind,
    version: Version,
    token: String,
    /// By the monotonic clock.
    deadline: Cell<Duration>,
    since: Duration,
}

pub const EXTEND_IF_OURS: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0";

/// For so long the key is kept at the least.
const LEAST: Duration = Duration::from_secs(4);

impl Leased {
    fn has(&self, kind: Kind) -> bool {
        self.kind == kind && self.version == Version::AsWritten
    }

    fn set(&self) -> Command {
        Command::new("SET").arg(&*self.lease.key).arg(&self.token)
    }

    async fn pause(&self) {
        let more = Duration::from_micros(self.env.random() % 20_000);
        self.env.sleep(Duration::from_millis(20) + more).await;
    }

    /// Whether the key is ours now.
    async fn try_once(&self) -> Result<bool, RedisError> {
        let Lease { key, time } = &self.lease;
        if self.has(Kind::WallClockValue) {
            return self.try_by_clock().await;
        }
        let unanswered = match self.redis.set_if_missing(key, &self.token, *time).await {
            Err(error) if !error.definite() => error,
            answer => return answer,
        };
        let there = loop {
            match self.redis.get(key).await {
                Ok(there) => break there,
                Err(RedisError::Refused(_)) => return Err(unanswered),
                Err(_) => self.pause().await,
            }
        };
        match there {
            Some(value) => Ok(*value == *self.token.as_bytes()),
            None if self.has(Kind::NoTimeOnRetry) => self.redis.setnx(key, &self.token).await,
            None => Ok(false),
        }
    }

    /// The value is when the lease is over.
    async fn try_by_clock(&self) -> Result<bool, RedisError> {
        let key = &self.lease.key;
        if self.redis.setnx(key, &self.token).await? {
            return Ok(true);
        }
        let Some(old) = self.redis.get(key).await? else {
            return Ok(false);
        };
        let until = std::str::from_utf8(&old)
            .ok()
            .and_then(|text| text.parse().ok());
        if self.env.wall() < Duration::from_micros(until.unwrap_or(u64::MAX)) {
            return Ok(false);
        }
        let swap = Command::new("GETSET").arg(&**key).arg(&self.token);
        Ok(self.redis.ask(swap).await?.bytes() == Some(&*old))
    }

    /// Keeps the key for another lease.
    async fn keep(&self, millis: &str) -> RedisResult<Value> {
        if self.has(Kind::KeepsBySet) {
            return self.redis.ask(self.set().arg("PX").arg(millis)).await;
        }
        let (keys, args) = ([&*self.lease.key], [&*self.token, millis]);
        let extend = Script::new(EXTEND_IF_OURS);
        self.redis.script(&extend, &keys, &args).await
    }

    /// Extends the lease three times in its length. A holder with a deadline believes until it has passed.
    async fn extend(&self) -> LockError {
        let time = &self.lease.time;
        let millis = time.as_millis().to_string();
        loop {
            let next = self.env.monotonic() + *time / 3;
            let wake = next.min(self.deadline.get());
            self.env
                .sleep(wake.saturating_sub(self.env.monotonic()))
                .await;
            if self.env.monotonic() >= self.deadline.get() {
                return LockError::LeaseLapsed;
            }
            let asked = self.env.monotonic();
            let left = self.deadline.get().saturating_sub(asked);
            let kept = timeout(&self.env, left, self.keep(&millis)).await;
            let Some(kept) = kept else {
                return LockError::LeaseLapsed;
            };
            match kept {
                Ok(Value::Integer(0)) => return LockError::PlaceLost,
                Ok(_) if self.has(Kind::AddsUp) => self.deadline.set(self.deadline.get() + *time),
                Ok(_) => self.deadline.set(asked + *time - drift(*time)),
                Err(_) => {}
            }
        }
    }

    /// Deletes the key if it is ours.
    async fn delete(&self) -> Result<(), LockError> {
        let delete = Script::new(DELETE_IF_OURS);
        let mut asked_before = false;
        loop {
            let keys = [&*self.lease.key];
            match self.redis.script(&delete, &keys, &[&*self.token]).await {
                Ok(Value::Integer(1)) => return Ok(()),
                Ok(_) if asked_before => return Ok(()),
                Ok(_) => return Err(LockError::PlaceLost),
                Err(_) => asked_before = true,
            }
            self.pause().await;
        }
    }
}

#[async_trait(?Send)]
impl Lock for Leased {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let time = self.lease.time;
        loop {
            let asked = self.env.monotonic();
            self.since = asked;
            self.deadline.set(asked + time - drift(time));
            self.token = match self.has(Kind::WallClockValue) {
                true => (self.env.wall() + time).as_micros().to_string(),
                false => self.env.guid(),
            };
            let ours = self.try_once().await.unwrap_or(false);
            if ours && self.env.monotonic() < self.deadline.get() {
                let held = Held::at(self.lease.key.clone());
                return Ok(match self.kind {
                    Kind::KeepsBySet | Kind::AddsUp => held,
                    _ => held.until(self.deadline.get()),
                });
            }
            self.pause().await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let left = (self.since + LEAST).saturating_sub(self.env.monotonic());
        if self.kind == Kind::AtLeast && !left.is_zero() {
            let millis = left.as_millis().max(1).to_string();
            let kept = if self.version == Version::AsWritten {
                let set = self.set().args(["XX", "PX", &millis]);
                self.redis.ask(set).await
            } else {
                let keys = [&*self.lease.key];
                let args = [&*self.token, &*millis];
                self.redis
                    .script(&Script::new(EXTEND_IF_OURS), &keys, &args)
                    .await
            };
            // What is not answered goes by itself.
            return kept.map(|_| ()).map_err(LockError::from);
        }
        self.delete().await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match self.kind {
            Kind::KeepsBySet | Kind::AddsUp => self.extend().await,
            _ => {
                let left = self.deadline.get().saturating_sub(self.env.monotonic());
                self.env.sleep(left).await;
                match self.env.monotonic() >= self.deadline.get() {
                    true => LockError::LeaseLapsed,
                    false => pending().await,
                }
            }
        }
    }
}
