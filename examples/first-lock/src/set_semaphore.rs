//! A semaphore over Redis: a set, of which each member is a permit that is out.

use std::time::Duration;

use picklock::algorithms::clients::redis::{Command, Redis, Script, Value};
use picklock::algorithms::{
    Env, Held, KeyHold, Lease, Lock, LockError, LockKind, OwnershipRule, Recipe, async_trait,
};

/// Each member of the set holds a permit.
const OWNERSHIP: OwnershipRule = OwnershipRule::of_keys(LockKind::Semaphore, |keys, key, holds| {
    if let Some(Value::Set(members)) = keys.read(key) {
        for member in members.iter() {
            if let Value::Bulk(member) = member {
                holds.push(KeyHold::exclusive(member.clone()));
            }
        }
    }
});

/// The set is counted in the script that adds a member, or in a command before it.
pub fn recipe(name: &'static str, counts_in_script: bool) -> Recipe {
    Recipe::semaphore_over_redis(name, OWNERSHIP, move |redis, env, lease, permits| {
        Box::new(SetSemaphore {
            redis,
            env,
            lease,
            permits,
            counts_in_script,
        })
    })
}

const ADD_IF_FREE: &str = "\
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return 0
end
return redis.call('SADD', KEYS[1], ARGV[1])";

struct SetSemaphore {
    redis: Redis,
    env: Env,
    lease: Lease,
    permits: u32,
    counts_in_script: bool,
}

impl SetSemaphore {
    fn command(&self, name: &str) -> Command {
        Command::new(name).arg(&*self.lease.key)
    }

    /// Our name in the set: each thread of each process has another.
    fn member(&self) -> String {
        format!("{}-{}", self.env.host(), self.env.thread())
    }

    async fn try_acquire(&self) -> Result<bool, LockError> {
        let (member, permits) = (self.member(), self.permits.to_string());
        let added = if self.counts_in_script {
            let (script, key) = (Script::new(ADD_IF_FREE), &*self.lease.key);
            let args = [&*member, &*permits];
            self.redis.script(&script, &[key], &args).await?
        } else {
            match self.redis.ask(self.command("SCARD")).await? {
                Value::Integer(out) if out < self.permits.into() => {}
                _ => return Ok(false),
            }
            self.redis.ask(self.command("SADD").arg(&*member)).await?
        };
        Ok(added == Value::Integer(1))
    }
}

#[async_trait(?Send)]
impl Lock for SetSemaphore {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        while !self.try_acquire().await? {
            self.env.sleep(Duration::from_millis(50)).await;
        }
        Ok(Held::at(self.lease.key.clone()))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let member = self.member();
        self.redis.ask(self.command("SREM").arg(&*member)).await?;
        Ok(())
    }

    /// Nothing tells this recipe that a permit is gone.
    async fn lost(&self, _held: &Held) -> LockError {
        std::future::pending().await
    }
}
