//! A sound lock that renews its lease every third of it, as another project would write it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::clients::redis::{Redis, Script, Value};
use picklock_algorithms::{Env, Held, Lease, Lock, LockError, Recipe};

const RENEW: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0";

const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

pub fn recipe() -> Recipe {
    Recipe::over_redis("renewing", |redis, env, lease| {
        Box::new(Renewing {
            redis,
            env,
            lease,
            token: String::new(),
            until: Rc::default(),
            gone: Rc::default(),
            held: Rc::default(),
        })
    })
}

struct Renewing {
    redis: Redis,
    env: Env,
    lease: Lease,
    token: String,
    /// Until when the lease lasts by the holder's own clock.
    until: Rc<Cell<Duration>>,
    /// Whether the service has answered that the key is another's.
    gone: Rc<Cell<bool>>,
    held: Rc<Cell<bool>>,
}

impl Renewing {
    fn margin(&self) -> Duration {
        self.lease.time - (self.lease.time / 100 + Duration::from_millis(2))
    }

    fn renew(&self) {
        let (redis, env, lease, token) = (
            self.redis.clone(),
            self.env.clone(),
            self.lease.clone(),
            self.token.clone(),
        );
        let (until, gone, held, margin) = (
            self.until.clone(),
            self.gone.clone(),
            self.held.clone(),
            self.margin(),
        );
        self.env.spawn(async move {
            loop {
                env.sleep(lease.time / 3).await;
                if !held.get() {
                    return;
                }
                let asked = env.monotonic();
                let time = lease.time.as_millis().to_string();
                match redis
                    .script(&Script::new(RENEW), &[&*lease.key], &[&token, &time])
                    .await
                {
                    Ok(Value::Integer(1)) => until.set(asked + margin),
                    Ok(_) => return gone.set(true),
                    Err(_) => {}
                }
            }
        });
    }
}

#[async_trait(?Send)]
impl Lock for Renewing {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.token = self.env.guid();
        loop {
            let asked = self.env.monotonic();
            match self
                .redis
                .set_if_missing(&self.lease.key, &self.token, self.lease.time)
                .await
            {
                Ok(true) if self.env.monotonic() < asked + self.margin() => {
                    self.until = Rc::new(Cell::new(asked + self.margin()));
                    self.gone = Rc::default();
                    self.held = Rc::new(Cell::new(true));
                    self.renew();
                    return Ok(Held::at(self.lease.key.clone()));
                }
                Ok(true) => return Err(LockError::TimedOut),
                Ok(false) => {}
                Err(error) if error.definite() => {}
                Err(error) => return Err(error.into()),
            }
            self.env
                .sleep(Duration::from_millis(20 + self.env.random() % 20))
                .await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.held.set(false);
        loop {
            match self
                .redis
                .script(&Script::new(RELEASE), &[&*self.lease.key], &[&self.token])
                .await
            {
                Ok(Value::Integer(1)) => return Ok(()),
                Ok(_) => return Err(LockError::PlaceLost),
                Err(_) if self.env.monotonic() >= self.until.get() => {
                    return Err(LockError::TimedOut);
                }
                Err(_) => self.env.sleep(Duration::from_millis(100)).await,
            }
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        loop {
            if self.gone.get() {
                return LockError::PlaceLost;
            }
            if self.env.monotonic() >= self.until.get() {
                return LockError::LeaseLapsed;
            }
            self.env.sleep(Duration::from_millis(50)).await;
        }
    }
}
