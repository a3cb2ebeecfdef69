//! A key that its holder renews, and what is got wrong in the answers: of a renewal, of a set, of a release.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::clients::redis::{Redis, RedisResult, Script, Value};
use picklock_algorithms::redis::compare_and_delete::DELETE_IF_OURS;
use picklock_algorithms::redis::leased::drift;
use picklock_algorithms::{Env, Held, Lease, Lock, LockError, Recipe};

use crate::foreign_locks::common::{ForeignLock, Version};
use crate::foreign_locks::redis_leases::EXTEND_IF_OURS;

/// What is wrong with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A set without an answer is cleaned up by another connection, and the call fails for certain.
    LateSet,
    /// A set without an answer is left to itself, and the call fails for certain.
    LeavesKey,
    /// A release that finds another's key, or none, says that it is done.
    ReleaseSaysDone,
    /// The key is renewed when its lease is over.
    RenewsTooLate,
}

pub const LOCKS: [ForeignLock; 4] = [
    ForeignLock {
        name: "late-set",
        source: "clean-ups after a time-out by a second connection of a pool",
        flaw: "The delete overtakes the set, and the call says that nothing is left.",
        breaks: "no-orphan",
        takes: "a set that is late by more than the time-out of a command",
        held_out: true,
        world: WORLD,
        recipe: |version| recipe("late-set", Kind::LateSet, version),
    },
    ForeignLock {
        name: "leaves-key",
        source: "locks that raise LockTimeout for any error of the set",
        flaw: "The set may have been executed, and the call says that nothing is left.",
        breaks: "no-orphan",
        takes: "an answer to a set that comes too late",
        held_out: false,
        world: WORLD,
        recipe: |version| recipe("leaves-key", Kind::LeavesKey, version),
    },
    ForeignLock {
        name: "release-says-done",
        source: "releases that do not look at what the script answers",
        flaw: "The lease was over, and the caller learns from the release that all went well.",
        breaks: "honest-answer",
        takes: "a pause that outlasts the lease",
        held_out: false,
        world: WORLD,
        recipe: |version| recipe("release-says-done", Kind::ReleaseSaysDone, version),
    },
    ForeignLock {
        name: "renews-too-late",
        source: "renewals by a timer that is set apart from the lease",
        flaw: "The key has expired when it is renewed, so that no long section comes to its end.",
        breaks: "progress",
        takes: "nothing but a section that is longer than the lease",
        held_out: true,
        world: LONG,
        recipe: |version| recipe("renews-too-late", Kind::RenewsTooLate, version),
    },
];

const WORLD: &str = r#"
[service.redis]
lease = "3s"
timeout = "500ms"
[workload]
contenders = 3
rounds = 3
hold = "2s"
think = "0s..1s"
"#;

const LONG: &str = r#"
[service.redis]
lease = "3s"
[workload]
contenders = 2
hold = "10s"
think = "0s..1s"
"#;

fn recipe(name: &'static str, kind: Kind, version: Version) -> Recipe {
    Recipe::over_redis(name, move |redis, env, lease| {
        let flaw = (version == Version::AsWritten).then_some(kind);
        Box::new(Renewed {
            redis,
            env,
            lease,
            flaw,
            token: String::new(),
            hold: Rc::default(),
        })
    })
}

struct Renewed {
    redis: Redis,
    env: Env,
    lease: Lease,
    flaw: Option<Kind>,
    token: String,
    hold: Rc<Hold>,
}

/// What the renewal and the caller know of one hold.
#[derive(Default)]
struct Hold {
    /// Until when it is valid, by the monotonic clock.
    deadline: Cell<Duration>,
    /// A renewal was refused.
    refused: Cell<bool>,
    /// It was given back.
    over: Cell<bool>,
}

impl Renewed {
    fn deadline(&self, asked: Duration) -> Duration {
        asked + self.lease.time - drift(self.lease.time)
    }

    /// Renews the key until the hold is given back or a renewal is refused.
    fn keep_renewing(&self) {
        let time = self.lease.time;
        let every = match self.flaw {
            Some(Kind::RenewsTooLate) => time * 11 / 10,
            _ => time / 3,
        };
        let (redis, env, hold) = (self.redis.clone(), self.env.clone(), Rc::clone(&self.hold));
        let (key, token) = (Rc::clone(&self.lease.key), self.token.clone());
        let valid_for = self.deadline(Duration::ZERO);
        self.env.spawn(async move {
            let millis = time.as_millis().to_string();
            loop {
                env.sleep(every).await;
                if hold.over.get() {
                    return;
                }
                let asked = env.monotonic();
                let extend = Script::new(EXTEND_IF_OURS);
                match redis.script(&extend, &[&key], &[&token, &millis]).await {
                    Ok(Value::Integer(1)) => hold.deadline.set(asked + valid_for),
                    Ok(_) => return hold.refused.set(true),
                    Err(_) => {}
                }
            }
        });
    }

    async fn delete(&self, redis: &Redis) -> RedisResult<Value> {
        let delete = Script::new(DELETE_IF_OURS);
        let (keys, args) = ([&*self.lease.key], [&*self.token]);
        redis.script(&delete, &keys, &args).await
    }

    async fn pause(&self) {
        let more = Duration::from_micros(self.env.random() % 20_000);
        self.env.sleep(Duration::from_millis(20) + more).await;
    }
}

#[async_trait(?Send)]
impl Lock for Renewed {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.token = self.env.guid();
        let Lease { key, time } = self.lease.clone();
        loop {
            let asked = self.env.monotonic();
            let deadline = self.deadline(asked);
            match self.redis.set_if_missing(&key, &self.token, time).await {
                Ok(true) if self.env.monotonic() < deadline => {
                    self.hold = Rc::default();
                    self.hold.deadline.set(deadline);
                    self.keep_renewing();
                    return Ok(Held::at(key));
                }
                Ok(true) => return Err(LockError::TimedOut),
                Ok(false) => {}
                Err(error) if error.definite() => {}
                Err(error) => match self.flaw {
                    Some(Kind::LateSet) => {
                        let other = self.redis.dedicated();
                        while self.delete(&other).await.is_err() {
                            self.pause().await;
                        }
                        return Err(LockError::AcquireTimeout);
                    }
                    Some(Kind::LeavesKey) => return Err(LockError::AcquireTimeout),
                    Some(_) | None => return Err(error.into()),
                },
            }
            self.pause().await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.hold.over.set(true);
        loop {
            match self.delete(&self.redis).await {
                Ok(Value::Integer(1)) => return Ok(()),
                Ok(_) if self.flaw == Some(Kind::ReleaseSaysDone) => return Ok(()),
                Ok(_) => return Err(LockError::PlaceLost),
                Err(_) if self.env.monotonic() >= self.hold.deadline.get() => {
                    return Err(LockError::TimedOut);
                }
                Err(_) => self.pause().await,
            }
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        while !self.hold.refused.get() {
            if self.env.monotonic() >= self.hold.deadline.get()
                && self.flaw != Some(Kind::RenewsTooLate)
            {
                return LockError::LeaseLapsed;
            }
            self.env.sleep(Duration::from_millis(50)).await;
        }
        LockError::PlaceLost
    }
}
