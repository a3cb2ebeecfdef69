//! redis-py's `Lock`: SET NX PX with a token, which the object keeps for each thread.
//!
//! # Source
//!
//! redis-py 5, `redis/lock.py`: `Lock.acquire`, `do_acquire`, `release`, `do_release`, and `thread_local=True`.
//!
//! # Steps
//!
//! 1. Make a unique token, for this acquisition alone.
//! 2. `SET key token NX PX timeout`. If it was set, keep the token for this thread (`self.local.token`): we hold the
//!    lock. If not, sleep, and try again with the same token.
//! 3. Release: without a token of this thread there is nothing to release. Forget it, and delete the key by a script if
//!    it holds that token.
//!
//! # Guarantees
//!
//! - Threads that share the object do not release each other's hold (scenario `redis/shared-lock-object`).
//!
//! # Hazards
//!
//! - The holder is not told that the timeout is over, and goes on believing, as with each lock that looks at no clock
//!   (scenario `redis/late-release`).
//! - With `thread_local=False` the token is one for all threads: the next thread to acquire overwrites it, and a thread
//!   that had lost the lock releases that hold ([`redis_py_lock_one_token`](super::redis_py_lock_one_token)).

use std::cell::RefCell;
use std::rc::Rc;

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::{Leased, never};
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe};

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[RequestKind::Set, RequestKind::Script];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-py-lock",
    summary: "redis-py's Lock: SET NX PX, and a token that the object keeps for each thread.",
    source: "redis-py 5, redis/lock.py",
    requests: REQUESTS,
    shareable: true,
    build: Build::Redis(&|redis, env, lease| {
        Box::new(RedisPyLock::new(redis, env, lease, Local::OfThread))
    }),
    ..super::compare_and_delete::RECIPE
};

/// Whose the token is that the object keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Local {
    /// Each thread's: `threading.local()`.
    OfThread,
    /// The object's, for all threads: `SimpleNamespace()`.
    OfObject,
}

pub(super) struct RedisPyLock {
    pub leased: Leased,
    lua_release: Script,
    local: Local,
    /// What is kept under `self.local.token`.
    pub token: Rc<RefCell<Option<String>>>,
    /// Whether a release forgets the token when it has been answered, and not before it is sent.
    pub forgets_when_answered: bool,
}

impl RedisPyLock {
    pub fn new(redis: Redis, env: Env, lease: Lease, local: Local) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            lua_release: Script::new(DELETE_IF_OURS),
            local,
            token: Rc::default(),
            forgets_when_answered: false,
        }
    }
}

#[async_trait(?Send)]
impl Lock for RedisPyLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let token = self.leased.env.guid(); // Step 1.
        while !self.leased.set_if_missing(&token).await? {
            self.leased.pause().await; // Step 2.
        }
        *self.token.borrow_mut() = Some(token);
        Ok(self.leased.held(None))
    }

    /// Step 3.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let expected_token = self.token.borrow().clone().ok_or(LockError::NotHeld)?;
        if !self.forgets_when_answered {
            self.token.take();
        }
        let redis = &self.leased.redis;
        let answer = redis
            .script(&self.lua_release, &[&held.path_or_key], &[&expected_token])
            .await?;
        if self.forgets_when_answered {
            self.token.take();
        }
        match answer {
            Value::Integer(1) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        never().await
    }

    fn for_task(&self, env: &Env) -> Option<Box<dyn Lock>> {
        let Leased { redis, lease, .. } = &self.leased;
        let lock = Self::new(redis.clone(), env.clone(), lease.clone(), self.local);
        Some(Box::new(match self.local {
            Local::OfThread => lock,
            Local::OfObject => Self {
                token: Rc::clone(&self.token),
                forgets_when_answered: self.forgets_when_answered,
                ..lock
            },
        }))
    }
}
