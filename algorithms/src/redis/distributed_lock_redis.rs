//! DistributedLock.Redis: a key on a majority of servers, and renewals that a majority decides as soon as it has
//! answered.
//!
//! # Source
//!
//! DistributedLock.Redis 2.0.2 (.NET), `RedLockAcquire`, `RedLockExtend`, `RedLockRelease`. The lease is 30 s; other
//! times are parts of it.
//!
//! # Steps
//!
//! 1. On all servers at the same time: `SET key token NX PX lease`. A majority within a tenth of the lease: held.
//!    Otherwise step 4, and again 10 ms to 800 ms later.
//! 2. Every three tenths of the lease, at the same time, a script on each server: if the value is our token, set the
//!    lease, and answer 1; otherwise 0. Wait until any that was not counted is done: 1 counts as yes, all
//!    else as no. More than half yes: renewed. Half no: lost, and the holder is told. After a tenth of the lease:
//!    unknown, and the holder goes on.
//! 3. Lost as well, if at a turn the last renewal is more than a lease ago.
//! 4. Release: delete the key on all servers if it has our token.
//!
//! # Guarantees
//!
//! - A holder whose renewal a majority refuses is told that the lock is lost.
//!
//! # Hazards
//!
//! - A holder that no server hears is told at its first turn after the lease (scenario `redis/pause`).
//! - [`distributed_lock_redis_counted_twice`](super::distributed_lock_redis_counted_twice) counts one answer till it is
//!   a majority (scenario `redis/yes-counted-twice`).

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::Leased;
use super::quorum::{released, run_at, servers};
use super::renewed::Renewed;
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, join, select_any, timeout};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "distributed-lock-redis",
    summary: "DistributedLock.Redis: a majority of servers, and renewals decided by the first majority of answers.",
    source: "DistributedLock.Redis 2.0.2",
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(DistributedLock::new(redis, env, lease, Counted::Once))
    }),
    ..super::compare_and_delete::RECIPE
};

/// Step 2.
const EXTEND: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0";

/// Between two attempts pass 10 ms, and a random part of this.
const BUSY_WAIT_SPAN: Duration = Duration::from_millis(790);

/// How often an answer to a renewal counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Once,
    /// As long as it is waited for: it is done at once when it is waited for again.
    UntilDecided,
}

struct Servers {
    leased: Leased,
    counted: Counted,
    extend: Script,
    delete_if_ours: Script,
}

pub(super) struct DistributedLock {
    servers: Rc<Servers>,
    token: Rc<str>,
    renewed: Renewed,
}

impl DistributedLock {
    pub fn new(redis: Redis, env: Env, lease: Lease, counted: Counted) -> Self {
        Self {
            servers: Rc::new(Servers {
                leased: Leased { redis, env, lease },
                counted,
                extend: Script::new(EXTEND),
                delete_if_ours: Script::new(DELETE_IF_OURS),
            }),
            token: "".into(),
            renewed: Renewed::default(),
        }
    }

    /// Steps 2 and 3.
    fn renew(&self, acquired: Duration) -> Renewed {
        let (servers, token) = (Rc::clone(&self.servers), Rc::clone(&self.token));
        let Leased { env, lease, .. } = &self.servers.leased;
        let last = Cell::new(acquired);
        Renewed::begin(env, lease.time * 3 / 10, async move || {
            let Leased { env, lease, .. } = &servers.leased;
            let asked = env.monotonic();
            let said = servers.extend(&token).await;
            if said == Some(true) {
                last.set(asked);
            }
            said != Some(false) && env.monotonic() < last.get() + lease.time
        })
    }
}

impl Servers {
    /// Whether more than half of the servers say yes when all are asked at the same time, as soon as that is decided.
    /// `None` if it is not within a tenth of the lease. What no caller waits for any more goes on.
    async fn majority<F: Future<Output = bool> + 'static>(
        &self,
        counted: Counted,
        ask: impl Fn(Redis) -> F,
    ) -> Option<bool> {
        let Leased { redis, env, lease } = &self.leased;
        let asked = servers(redis).map(|server| Box::pin(ask(server)));
        let (mut asked, limit): (Vec<_>, _) = (asked.collect(), lease.time / 10);
        let decided = timeout(env, limit, first_majority(&mut asked, counted)).await;
        env.spawn(async move {
            join(asked).await;
        });
        decided
    }

    /// Step 1, once.
    async fn set(&self, token: &Rc<str>) -> bool {
        let set = |server: Redis| {
            let (Lease { key, time }, token) = (self.leased.lease.clone(), Rc::clone(token));
            async move { server.set_if_missing(&key, &token, time).await == Ok(true) }
        };
        self.majority(Counted::Once, set).await == Some(true)
    }

    /// Step 2: whether the lease is renewed, if that is known.
    async fn extend(&self, token: &Rc<str>) -> Option<bool> {
        let extend = |server: Redis| {
            let (script, token) = (self.extend.clone(), Rc::clone(token));
            let Lease { key, time } = self.leased.lease.clone();
            async move {
                let args = [&*token, &time.as_millis().to_string()];
                server.script(&script, &[&*key], &args).await == Ok(Value::Integer(1))
            }
        };
        self.majority(self.counted, extend).await
    }

    /// Step 4.
    async fn release(&self, token: &str) -> Result<(), LockError> {
        let Leased { redis, lease, .. } = &self.leased;
        let deleted = run_at(servers(redis), &self.delete_if_ours, &lease.key, &[token]).await;
        released(&deleted)
    }
}

/// Whether more than half say yes, as soon as more than half do, or half do not.
async fn first_majority<F: Future<Output = bool> + Unpin>(
    asked: &mut Vec<F>,
    counted: Counted,
) -> bool {
    let (all, mut yes, mut no) = (asked.len(), 0, 0);
    loop {
        let says_yes = select_any(asked).await;
        loop {
            *if says_yes { &mut yes } else { &mut no } += 1;
            if yes * 2 > all || no * 2 >= all {
                return yes * 2 > all;
            }
            if counted == Counted::Once {
                break;
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for DistributedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            let Leased { env, .. } = &self.servers.leased;
            let asked = env.monotonic();
            self.token = env.guid().into();
            if self.servers.set(&self.token).await {
                self.renewed = self.renew(asked);
                return Ok(self.servers.leased.held(None));
            }
            let _gone = self.servers.release(&self.token).await;
            let span = u64::try_from(BUSY_WAIT_SPAN.as_micros()).unwrap_or(u64::MAX);
            let more = Duration::from_micros(env.random() % span);
            env.sleep(Duration::from_millis(10) + more).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.renewed.stop();
        self.servers.release(&self.token).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.renewed.over().await;
        LockError::PlaceLost
    }
}
