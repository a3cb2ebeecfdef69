//! BullMQ's worker: the lock of a job, which the worker renews until the job has ended, also while it closes.
//!
//! # Source
//!
//! BullMQ 6.2.0, `Worker`, `LockManager`, `extendLocks-1.lua`, and `takeLock-1.lua` of Bull, by whose name this is
//! asked; `stalledInterval` is 1 s here, 30 s by default. The lease is `lockDuration`, 30 s by default.
//!
//! # Steps
//!
//! 1. Take: `SET job:lock token NX PX lockDuration`, a new token each time. Another worker has it: a job is taken
//!    again when its lock is missing, and the next look comes after `stalledInterval`.
//! 2. Each half of `lockDuration`, a script: if the value is ours, `SET` it again with `lockDuration`. The job is not
//!    told when it is not.
//! 3. The job has ended: delete the lock if it has our token; otherwise "Missing lock for job".
//! 4. `close()`: no job is taken any more; wait until the jobs have ended; then stop step 2.
//!
//! # Guarantees
//!
//! - A job may take longer than `lockDuration`, also the last one of a worker that closes.
//!
//! # Hazards
//!
//! - The job is not told that its lock is gone (scenario `redis/pause`).
//! - [`bull_queue_timers_first`](super::bull_queue_timers_first) stops step 2 before it waits (scenario
//!   `redis/worker-closes`).

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{Leased, never};
use super::renewed::Renewed;
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, StopCall};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "bullmq-worker",
    summary: "BullMQ's worker: the lock of a job with a token, renewed until the job has ended, also when it closes.",
    source: "BullMQ 6.2.0, Worker and LockManager",
    requests: &[RequestKind::Set, RequestKind::Script],
    build: Build::Redis(&|redis, env, lease| {
        Box::new(Worker::new(redis, env, lease, Close::WaitsFirst))
    }),
    ..super::compare_and_delete::RECIPE
};

/// Step 2.
const EXTEND_LOCK: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0";

/// From one look for a job without a lock to the next.
const STALLED_INTERVAL: Duration = Duration::from_secs(1);

/// What `close()` does first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    /// It waits until the jobs have ended.
    WaitsFirst,
    /// It clears the timers, and the renewal with them.
    ClearsTimersFirst,
}

pub(super) struct Worker {
    leased: Leased,
    close: Close,
    extend_lock: Script,
    delete_if_ours: Script,
    token: String,
    renewed: Rc<RefCell<Renewed>>,
}

impl Worker {
    pub fn new(redis: Redis, env: Env, lease: Lease, close: Close) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            close,
            extend_lock: Script::new(EXTEND_LOCK),
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: String::new(),
            renewed: Rc::default(),
        }
    }

    /// Step 2.
    fn renew(&self) -> Renewed {
        let Leased { redis, env, lease } = &self.leased;
        let (redis, key, token) = (redis.clone(), Rc::clone(&lease.key), self.token.clone());
        let (extend, duration) = (self.extend_lock.clone(), lease.time.as_millis().to_string());
        Renewed::begin(env, lease.time / 2, async move || {
            let _extended = redis
                .script(&extend, &[&*key], &[&*token, &*duration])
                .await;
            true
        })
    }
}

#[async_trait(?Send)]
impl Lock for Worker {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.token = self.leased.env.guid();
        while !self.leased.set_if_missing(&self.token).await? {
            self.leased.env.sleep(STALLED_INTERVAL).await;
        }
        *self.renewed.borrow_mut() = self.renew();
        Ok(self.leased.held(None))
    }

    /// Step 3.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.renewed.borrow().stop();
        let (redis, keys) = (&self.leased.redis, [&*held.path_or_key]);
        match redis
            .script(&self.delete_if_ours, &keys, &[&*self.token])
            .await?
        {
            Value::Integer(1) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    /// Step 4. What waits for the jobs is the process.
    fn stop_call(&self) -> Option<StopCall> {
        let (close, renewed) = (self.close, Rc::clone(&self.renewed));
        Some(Rc::new(move || {
            if close == Close::ClearsTimersFirst {
                renewed.borrow().stop();
            }
        }))
    }
}
