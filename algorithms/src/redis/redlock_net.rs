//! RedLock.net: a key on a majority of servers, and a timer that sets its lease again.
//!
//! # Source
//!
//! RedLock.net 1.6.2, `RedisLock` (later `RedLock`), `Acquire`, `Extend`, `StartAutoExtendTimer`.
//!
//! # Steps
//!
//! 1. On all servers at the same time: `SET key token NX PX lease`. A majority, and something left of the lease less
//!    1 % and 2 ms: held. Otherwise step 4, and again after up to 400 ms.
//! 2. Every half of the lease a script on all servers: if the key is missing, set it; if it has our token, set the
//!    lease, and answer 1; otherwise answer -1.
//! 3. Ones from a majority, within the lease: still held. Otherwise the hold is over, and the timer stops.
//! 4. Release: stop the timer, and delete the key on all servers if it has our token.
//!
//! # Guarantees
//!
//! - Sections may be longer than the lease.
//!
//! # Hazards
//!
//! - The holder is told by the timer alone, so who stands still for longer than the lease believes on
//!   (scenario `redis/pause`).
//! - [`redlock_net_whole_seconds`](super::redlock_net_whole_seconds) sets another lease than it was asked for
//!   (scenario `redis/renewal-in-whole-seconds`).

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::Leased;
use super::quorum::{majority, released, run_at, run_everywhere, servers, set_everywhere};
use super::renewed::Renewed;
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, RedisResult, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redlock-net",
    summary: "RedLock.net: a majority of servers, and a timer that sets the lease again each half of it.",
    source: "RedLock.net 1.6.2",
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedLockNet::new(redis, env, lease, Unit::Milliseconds))
    }),
    ..super::compare_and_delete::RECIPE
};

/// Step 2.
const EXTEND: &str = "\
local there = redis.call('GET', KEYS[1])
if not there then
  return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) and 1 or 0
end
if there == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return -1";

/// Between two attempts passes a random part of this (`quorumRetryDelayMs`).
const RETRY_DELAY: Duration = Duration::from_millis(400);

/// In what a renewal counts the lease.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Milliseconds,
    /// Whole seconds, and what is less is cut off.
    Seconds,
}

/// The servers, as one acquisition and its renewals ask them.
struct Servers {
    leased: Leased,
    unit: Unit,
    extend: Script,
    delete_if_ours: Script,
}

pub(super) struct RedLockNet {
    servers: Rc<Servers>,
    token: Rc<str>,
    renewed: Renewed,
}

impl RedLockNet {
    pub fn new(redis: Redis, env: Env, lease: Lease, unit: Unit) -> Self {
        let extend = match unit {
            Unit::Milliseconds => Script::new(EXTEND),
            Unit::Seconds => Script::new(&EXTEND.replace("PX", "EX").replace("PEXPIRE", "EXPIRE")),
        };
        Self {
            servers: Rc::new(Servers {
                leased: Leased { redis, env, lease },
                unit,
                extend,
                delete_if_ours: Script::new(DELETE_IF_OURS),
            }),
            token: "".into(),
            renewed: Renewed::default(),
        }
    }
}

impl Servers {
    /// Whether so many servers are a majority, and the lease that was asked for then is not over.
    fn is_majority_in_time(&self, servers: usize, asked: Duration) -> bool {
        let Leased { redis, env, .. } = &self.leased;
        servers >= majority(redis) && env.monotonic() < self.leased.deadline(asked)
    }

    /// Step 1, once.
    async fn set(&self, token: &str) -> bool {
        let Leased { redis, env, lease } = &self.leased;
        let asked = env.monotonic();
        let set = set_everywhere(redis, lease, token).await;
        self.is_majority_in_time(set, asked)
    }

    /// Steps 2 and 3: whether the lock is still held.
    async fn extend(&self, token: &str) -> bool {
        let Leased { redis, env, lease } = &self.leased;
        let asked = env.monotonic();
        let time = match self.unit {
            Unit::Milliseconds => lease.time.as_millis(),
            Unit::Seconds => lease.time.as_secs().into(),
        };
        let args = [token, &time.to_string()];
        let extended = run_everywhere(redis, &self.extend, &lease.key, &args).await;
        self.is_majority_in_time(extended, asked)
    }

    /// Step 4: what each server answers.
    async fn delete(&self, token: &str) -> Vec<RedisResult<Value>> {
        let Leased { redis, lease, .. } = &self.leased;
        run_at(servers(redis), &self.delete_if_ours, &lease.key, &[token]).await
    }
}

#[async_trait(?Send)]
impl Lock for RedLockNet {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.token = self.servers.leased.env.guid().into();
            if self.servers.set(&self.token).await {
                break;
            }
            self.servers.delete(&self.token).await;
            let env = &self.servers.leased.env;
            let part = env.random() % u64::try_from(RETRY_DELAY.as_micros()).unwrap_or(u64::MAX);
            env.sleep(Duration::from_micros(part)).await;
        }
        let (servers, token) = (Rc::clone(&self.servers), Rc::clone(&self.token));
        let Leased { env, lease, .. } = &self.servers.leased;
        self.renewed = Renewed::begin(env, lease.time / 2, async move || {
            servers.extend(&token).await
        });
        Ok(self.servers.leased.held(None))
    }

    /// Step 4.
    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.renewed.stop();
        released(&self.servers.delete(&self.token).await)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        self.renewed.over().await;
        LockError::PlaceLost
    }
}
