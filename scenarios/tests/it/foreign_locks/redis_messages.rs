//! Locks on Redis whose waiters are woken by messages.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::clients::redis::{Command, Redis, Script, Value};
use picklock_algorithms::redis::leased::drift;
use picklock_algorithms::{Env, Held, Lease, Lock, LockError, Recipe, RecipeInput, timeout};

use crate::foreign_locks::common::{ForeignLock, Version};

pub const LOCKS: [ForeignLock; 2] = [
    ForeignLock {
        name: "woken-is-granted",
        source: "Spring Integration, RedisLockRegistry with pub/sub, #9401",
        flaw: "A waiter that hears of a release has the lock.",
        breaks: "mutual-exclusion",
        takes: "nothing: two who wait",
        held_out: true,
        world: WORLD,
        recipe: |version| Recipe {
            inputs: &[RecipeInput::Channels],
            ..Recipe::over_redis("woken-is-granted", move |redis, env, lease| {
                Box::new(Woken::new(redis, env, lease, Kind::Granted, version))
            })
        },
    },
    ForeignLock {
        name: "subscribes-once",
        source: "Redisson, LockPubSub; redis-py pubsub threads that end on their first error",
        flaw: "The task that listens ends with its first error, and with it all that wakes who waits.",
        breaks: "progress",
        takes: "a server that is not there for a client's first request",
        held_out: false,
        world: WORLD,
        recipe: |version| Recipe {
            inputs: &[RecipeInput::Channels],
            ..Recipe::over_redis("subscribes-once", move |redis, env, lease| {
                Box::new(Woken::new(redis, env, lease, Kind::ListensOnce, version))
            })
        },
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

/// What is wrong with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Granted,
    ListensOnce,
}

const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', KEYS[2], 'free')
  return 1
end
return 0";

/// What a task tells the waiters.
#[derive(Default)]
struct Bell {
    rung: Cell<u64>,
    waiting: RefCell<Option<Waker>>,
}

impl Bell {
    fn ring(&self) {
        self.rung.set(self.rung.get() + 1);
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    async fn rings_after(&self, heard: u64) {
        poll_fn(|context| {
            if self.rung.get() > heard {
                return Poll::Ready(());
            }
            self.waiting.replace(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

struct Woken {
    redis: Redis,
    env: Env,
    lease: Lease,
    kind: Kind,
    version: Version,
    token: String,
    channel: String,
    bell: Rc<Bell>,
}

impl Woken {
    fn new(redis: Redis, env: Env, lease: Lease, kind: Kind, version: Version) -> Self {
        let channel = format!("{}:free", lease.key);
        let bell = Rc::new(Bell::default());
        let gives_up = kind == Kind::ListensOnce && version == Version::AsWritten;
        let task = {
            let (redis, env, channel) = (redis.clone(), env.clone(), channel.clone());
            let (bell, tick) = (Rc::clone(&bell), lease.time / 2);
            async move {
                let messages = loop {
                    match redis.subscribe(&channel).await {
                        Ok(messages) => break messages,
                        Err(_) if gives_up => return,
                        Err(_) => env.sleep(Duration::from_millis(100)).await,
                    }
                };
                loop {
                    // The key of a holder that has died goes without a word.
                    timeout(&env, tick, messages.next()).await;
                    bell.ring();
                }
            }
        };
        env.spawn(task);
        Self {
            redis,
            env,
            lease,
            kind,
            version,
            token: String::new(),
            channel,
            bell,
        }
    }

    async fn pause(&self) {
        let more = Duration::from_micros(self.env.random() % 20_000);
        self.env.sleep(Duration::from_millis(20) + more).await;
    }
}

#[async_trait(?Send)]
impl Lock for Woken {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let time = self.lease.time;
        loop {
            let heard = self.bell.rung.get();
            self.token = self.env.guid();
            let asked = self.env.monotonic();
            let deadline = asked + time - drift(time);
            let set = self
                .redis
                .set_if_missing(&self.lease.key, &self.token, time)
                .await;
            if set == Ok(true) && self.env.monotonic() < deadline {
                return Ok(Held::at(self.lease.key.clone()).until(deadline));
            }
            match set {
                Ok(_) => self.bell.rings_after(heard).await,
                Err(_) => self.pause().await,
            }
            if self.kind == Kind::Granted && self.version == Version::AsWritten && set == Ok(false)
            {
                let deadline = self.env.monotonic() + time - drift(time);
                let set = Command::new("SET").arg(&*self.lease.key).arg(&self.token);
                let millis = time.as_millis().to_string();
                self.redis.ask(set.args(["NX", "PX", &millis])).await?;
                return Ok(Held::at(self.lease.key.clone()).until(deadline));
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let release = Script::new(RELEASE);
        let mut asked_before = false;
        loop {
            let keys = [&*held.path_or_key, &*self.channel];
            match self.redis.script(&release, &keys, &[&*self.token]).await {
                Ok(Value::Integer(1)) => return Ok(()),
                Ok(_) if asked_before => return Ok(()),
                Ok(_) => return Err(LockError::PlaceLost),
                Err(_) => asked_before = true,
            }
            self.pause().await;
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        let until = held.valid_until.unwrap_or_default();
        self.env
            .sleep(until.saturating_sub(self.env.monotonic()))
            .await;
        LockError::LeaseLapsed
    }
}
