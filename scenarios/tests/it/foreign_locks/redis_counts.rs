//! Locks on Redis that count: servers, holds, or the rounds of a process.

use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::clients::redis::{Redis, Script, Value};
use picklock_algorithms::redis::compare_and_delete::DELETE_IF_OURS;
use picklock_algorithms::redis::leased::drift;
use picklock_algorithms::{Env, Held, Lease, Lock, LockError, Recipe, join};

use crate::foreign_locks::common::{ForeignLock, Version};

pub const LOCKS: [ForeignLock; 3] = [
    ForeignLock {
        name: "majority-of-answers",
        source: "node-redlock and pottery: what counts as a quorum when servers do not answer",
        flaw: "More than half of the servers that have answered are enough.",
        breaks: "mutual-exclusion",
        takes: "three of five servers that stand still at the same time",
        held_out: false,
        world: r#"
[service.redis]
servers = 5
lease = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "4s"
"#,
        recipe: |version| {
            Recipe::over_redis("majority-of-answers", move |redis, env, lease| {
                Box::new(Majority {
                    redis,
                    env,
                    lease,
                    version,
                    token: String::new(),
                })
            })
        },
    },
    ForeignLock {
        name: "one-token",
        source: "Spring Integration, RedisLockRegistry: one client id for all holds of a process",
        flaw: "The token is that of the process, so that a release that comes late takes a later hold of its own.",
        breaks: "mutual-exclusion",
        takes: "a release that is late, with a second round behind it",
        held_out: true,
        world: r#"
[service.redis]
lease = "6s"
[workload]
contenders = 2
rounds = 3
hold = "2s"
"#,
        recipe: |version| {
            Recipe::over_redis("one-token", move |redis, env, lease| {
                let token = env.guid();
                Box::new(OneToken {
                    redis,
                    env,
                    lease,
                    version,
                    token,
                })
            })
        },
    },
    ForeignLock {
        name: "counts-down-twice",
        source: "Redisson, RLock.unlock, #4871",
        flaw: "An inner release whose answer is lost is sent again, and counts down a second time.",
        breaks: "mutual-exclusion",
        takes: "a lost answer to the inner release",
        held_out: false,
        world: r#"
[service.redis]
lease = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "3s"
"#,
        recipe: |version| {
            Recipe::over_redis("counts-down-twice", move |redis, env, lease| {
                Box::new(Reentrant {
                    redis,
                    env,
                    lease,
                    version,
                    owner: String::new(),
                })
            })
        },
    },
];

async fn pause(env: &Env) {
    let more = Duration::from_micros(env.random() % 20_000);
    env.sleep(Duration::from_millis(20) + more).await;
}

async fn lapses(env: &Env, held: &Held) -> LockError {
    let until = held.valid_until.unwrap_or_default();
    env.sleep(until.saturating_sub(env.monotonic())).await;
    LockError::LeaseLapsed
}

/// Redlock.
struct Majority {
    redis: Redis,
    env: Env,
    lease: Lease,
    version: Version,
    token: String,
}

impl Majority {
    async fn delete_everywhere(&self) -> Vec<bool> {
        let delete = Script::new(DELETE_IF_OURS);
        let asked = (0..self.redis.nodes()).map(|node| {
            let (server, delete) = (self.redis.at(node), &delete);
            async move {
                let keys = [&*self.lease.key];
                let answer = server.script(delete, &keys, &[&*self.token]).await;
                answer.is_ok()
            }
        });
        join(asked).await
    }
}

#[async_trait(?Send)]
impl Lock for Majority {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let time = self.lease.time;
        loop {
            self.token = self.env.guid();
            let deadline = self.env.monotonic() + time - drift(time);
            let asked = (0..self.redis.nodes()).map(|node| {
                let server = self.redis.at(node);
                let (key, token) = (&self.lease.key, &self.token);
                async move { server.set_if_missing(key, token, time).await }
            });
            let answers = join(asked).await;
            let granted = answers.iter().filter(|answer| **answer == Ok(true)).count();
            let of = match self.version {
                Version::AsWritten => answers.iter().filter(|answer| answer.is_ok()).count(),
                Version::Mended => answers.len(),
            };
            if granted * 2 > of && self.env.monotonic() < deadline {
                return Ok(Held::at(self.lease.key.clone()).until(deadline));
            }
            self.delete_everywhere().await;
            pause(&self.env).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let answered = self.delete_everywhere().await;
        let heard = answered.iter().filter(|answer| **answer).count();
        match heard * 2 > answered.len() {
            true => Ok(()),
            false => Err(LockError::TimedOut),
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        lapses(&self.env, held).await
    }
}

/// A key whose value is the same for all holds of a process.
struct OneToken {
    redis: Redis,
    env: Env,
    lease: Lease,
    version: Version,
    token: String,
}

#[async_trait(?Send)]
impl Lock for OneToken {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Lease { key, time } = &self.lease;
        loop {
            if self.version == Version::Mended {
                self.token = self.env.guid();
            }
            let deadline = self.env.monotonic() + *time - drift(*time);
            let set = self.redis.set_if_missing(key, &self.token, *time).await;
            if set == Ok(true) && self.env.monotonic() < deadline {
                return Ok(Held::at(key.clone()).until(deadline));
            }
            pause(&self.env).await;
        }
    }

    /// Each try has a connection of its own from a pool.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let delete = Script::new(DELETE_IF_OURS);
        let mut tries = 0;
        loop {
            let connection = self.redis.dedicated();
            let keys = [&*held.path_or_key];
            match connection.script(&delete, &keys, &[&*self.token]).await {
                Ok(Value::Integer(1)) => return Ok(()),
                Ok(_) if tries > 0 => return Ok(()),
                Ok(_) => return Err(LockError::PlaceLost),
                Err(_) => tries += 1,
            }
            pause(&self.env).await;
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        lapses(&self.env, held).await
    }
}

/// A hash that counts how often its owner has entered.
struct Reentrant {
    redis: Redis,
    env: Env,
    lease: Lease,
    version: Version,
    owner: String,
}

const ENTER: &str = "\
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return count
end
return 0";

const LEAVE: &str = "\
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if count <= 0 then redis.call('DEL', KEYS[1]) end
return count";

/// Only from the count that it had.
const LEAVE_ONCE: &str = "\
local count = redis.call('HGET', KEYS[1], ARGV[1])
if not count then return -1 end
if count ~= ARGV[2] then return tonumber(count) end
count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if count <= 0 then redis.call('DEL', KEYS[1]) end
return count";

impl Reentrant {
    async fn enter(&self) -> Option<i64> {
        let millis = self.lease.time.as_millis().to_string();
        let (keys, args) = ([&*self.lease.key], [&*self.owner, &*millis]);
        let count = self.redis.script(&Script::new(ENTER), &keys, &args).await;
        count.ok().and_then(|reply| reply.integer())
    }

    async fn leave(&self, count: &str) -> Result<(), LockError> {
        let script = match self.version {
            Version::AsWritten => Script::new(LEAVE),
            Version::Mended => Script::new(LEAVE_ONCE),
        };
        let mut asked_before = false;
        loop {
            let (keys, args) = ([&*self.lease.key], [&*self.owner, count]);
            match self.redis.script(&script, &keys, &args).await {
                Ok(Value::Integer(-1)) if !asked_before => return Err(LockError::PlaceLost),
                Ok(_) => return Ok(()),
                Err(_) => asked_before = true,
            }
            pause(&self.env).await;
        }
    }
}

#[async_trait(?Send)]
impl Lock for Reentrant {
    /// What is done first under the lock takes it a second time.
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let time = self.lease.time;
        loop {
            self.owner = self.env.guid();
            let deadline = self.env.monotonic() + time - drift(time);
            if self.enter().await == Some(1) && self.enter().await == Some(2) {
                self.leave("2").await?;
                if self.env.monotonic() < deadline {
                    return Ok(Held::at(self.lease.key.clone()).until(deadline));
                }
            }
            pause(&self.env).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.leave("1").await
    }

    async fn lost(&self, held: &Held) -> LockError {
        lapses(&self.env, held).await
    }
}
