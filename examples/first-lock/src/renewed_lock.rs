//! A lock over Redis whose lease a task renews in the background, until there is nothing of ours to renew.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use picklock::algorithms::clients::redis::{Redis, Script, Value};
use picklock::algorithms::{Env, Held, Lease, Lock, LockError, Recipe, async_trait};

/// The task renews the key if it holds our token, or whatever key is there. The second is a subtle bug: a task that has
/// outlived its hold finds the key of the next holder, and keeps it for ever when that one dies.
pub fn recipe(name: &'static str, renews_own_only: bool) -> Recipe {
    Recipe::over_redis(name, move |redis, env, lease| {
        Box::new(RenewedLock {
            redis,
            env,
            lease,
            renews_own_only,
            token: String::new(),
            lapsed: Rc::default(),
        })
    })
}

const RENEW_IF_OURS: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0";
const RENEW: &str = "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
const DELETE_IF_OURS: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0";
/// How long to wait before the next try, and how often to look whether the lease has lapsed.
const PAUSE: Duration = Duration::from_millis(50);

struct RenewedLock {
    redis: Redis,
    env: Env,
    lease: Lease,
    renews_own_only: bool,
    /// That of this hold.
    token: String,
    /// Whether the task has found that this hold is over.
    lapsed: Rc<Cell<bool>>,
}

impl RenewedLock {
    /// Sets the key with a token of this hold. An answer that is lost says nothing: whose the key is does.
    async fn try_acquire(&mut self) -> Result<bool, LockError> {
        self.token = self.env.guid();
        let Lease { key, time } = &self.lease;
        match self.redis.set_if_missing(key, &self.token, *time).await {
            Ok(set) => Ok(set),
            Err(error) if error.definite() => Err(error.into()),
            Err(_) => {
                let there = self.redis.get(key).await?;
                Ok(there.as_deref() == Some(self.token.as_bytes()))
            }
        }
    }

    /// Renews the lease, three times in its length, until that is not ours any more or was not renewed in time.
    fn renew(&mut self, asked: Duration) {
        self.lapsed = Rc::default();
        let (redis, env) = (self.redis.clone(), self.env.clone());
        let (Lease { key, time }, token) = (self.lease.clone(), self.token.clone());
        let lapsed = Rc::clone(&self.lapsed);
        let script = Script::new(match self.renews_own_only {
            true => RENEW_IF_OURS,
            false => RENEW,
        });
        self.env.spawn(async move {
            let mut deadline = asked + time;
            loop {
                env.sleep(time / 3).await;
                let asked = env.monotonic();
                let millis = time.as_millis().to_string();
                let renewed = redis.script(&script, &[&key], &[&token, &millis]).await;
                match renewed {
                    Ok(Value::Integer(1)) => deadline = asked + time,
                    Ok(_) => break,
                    Err(_) if env.monotonic() >= deadline => break,
                    Err(_) => {}
                }
            }
            lapsed.set(true);
        });
    }
}

#[async_trait(?Send)]
impl Lock for RenewedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            let asked = self.env.monotonic();
            if self.try_acquire().await? {
                self.renew(asked);
                return Ok(Held::at(self.lease.key.clone()));
            }
            self.env.sleep(PAUSE).await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let script = Script::new(DELETE_IF_OURS);
        let key = &held.path_or_key;
        match self.redis.script(&script, &[key], &[&self.token]).await? {
            Value::Integer(1) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    /// Called while the lock is held, beside the section; when it has resolved, `release` is called all the same.
    async fn lost(&self, _held: &Held) -> LockError {
        while !self.lapsed.get() {
            self.env.sleep(PAUSE).await;
        }
        LockError::LeaseLapsed
    }
}
