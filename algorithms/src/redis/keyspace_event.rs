//! SET NX PX, whose waiters are woken by the events of its key.
//!
//! # Source
//!
//! redis.io, "Redis keyspace notifications"; the pattern of many an article: wait for `expired`, and set the key again.
//!
//! # Steps
//!
//! 1. `SET key token NX PX lease`. If it was set, we hold the lock until then by our own clock.
//! 2. If not: subscribe to `__keyevent@0__:del` and `__keyevent@0__:expired`, and go to 1 again, for the key may have
//!    gone before the server heard of the subscription.
//! 3. Wait for an event of the key, but no longer than a lease, and go to 1.
//! 4. Release: a script deletes the key if it holds our token.
//!
//! # Guarantees
//!
//! - As for [`compare_and_delete`](super::compare_and_delete), if the server sends such events
//!   (`notify-keyspace-events`).
//!
//! # Hazards
//!
//! - An event is a message: the server that removes the key sends it once, to the clients that are subscribed at this
//!   moment. One that is lost costs a waiter a lease. A key whose time is over while its server is down is gone without
//!   an event (scenario `redis/expired-event`).
//! - `expired` is sent when the key is removed, and not when its time is over.
//! - Servers send none unless they are told to.

use async_trait::async_trait;

use super::compare_and_delete::DELETE_IF_OURS;
use super::leased::Leased;
use crate::clients::RequestKind;
use crate::clients::redis::{Redis, Script, Subscription, Value};
use crate::{Build, Env, Held, Lease, Lock, LockError, Recipe, RecipeInput, select, timeout};

const REQUESTS: &[RequestKind] = &[
    RequestKind::Set,
    RequestKind::Script,
    RequestKind::Subscribe,
];

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redis-keyspace-event",
    summary: "SET NX PX, whose waiters wait for the key's events, for a lease at the most.",
    source: "redis.io, Redis keyspace notifications",
    requests: REQUESTS,
    inputs: &[RecipeInput::Channels],
    build: Build::Redis(&|redis, env, lease| Box::new(KeyspaceEvent::new(redis, env, lease))),
    ..super::compare_and_delete::RECIPE
};

/// The registry row of the lock whose waiters wait for events alone.
pub const RECIPE_ONLY: Recipe = Recipe {
    name: "redis-keyspace-event-only",
    summary: "SET NX PX, whose waiters wait for the key's events alone, and do not look again.",
    source: "the pattern of many an article: wait for expired, and set the key again",
    flaw: Some("a waiter takes it that each key that goes sends an event that arrives"),
    requests: REQUESTS,
    inputs: &[RecipeInput::Channels],
    build: Build::Redis(&|redis, env, lease| {
        let mut lock = KeyspaceEvent::new(redis, env, lease);
        lock.looks_again = false;
        Box::new(lock)
    }),
    ..super::compare_and_delete::RECIPE
};

struct KeyspaceEvent {
    leased: Leased,
    delete_if_ours: Script,
    token: String,
    /// Whether a waiter that hears nothing looks at the key when a lease is over.
    looks_again: bool,
}

impl KeyspaceEvent {
    fn new(redis: Redis, env: Env, lease: Lease) -> Self {
        Self {
            leased: Leased { redis, env, lease },
            delete_if_ours: Script::new(DELETE_IF_OURS),
            token: String::new(),
            looks_again: true,
        }
    }

    /// Waits until a message names our key.
    async fn event(&self, events: &Subscription) {
        while *events.next().await != *self.leased.lease.key.as_bytes() {}
    }

    /// Step 1.
    async fn try_acquire(&mut self) -> Result<Option<Held>, LockError> {
        self.token = self.leased.env.guid();
        let deadline = self.leased.deadline(self.leased.env.monotonic());
        let set = self.leased.set_if_missing(&self.token).await?;
        let mut unanswered = None;
        Ok(match set {
            true => self.leased.in_time(deadline, None, &mut unanswered),
            false => None,
        })
    }

    /// Step 3.
    async fn wait(&self, deleted: &Subscription, expired: &Subscription) {
        let gone = select(self.event(deleted), self.event(expired));
        if self.looks_again {
            timeout(&self.leased.env, self.leased.lease.time, gone).await;
        } else {
            gone.await;
        }
    }
}

#[async_trait(?Send)]
impl Lock for KeyspaceEvent {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if let Some(held) = self.try_acquire().await? {
            return Ok(held);
        }
        let redis = self.leased.redis.clone();
        let deleted = redis.subscribe("__keyevent@0__:del").await?;
        let expired = redis.subscribe("__keyevent@0__:expired").await?;
        loop {
            if let Some(held) = self.try_acquire().await? {
                return Ok(held);
            }
            self.wait(&deleted, &expired).await;
        }
    }

    /// Step 4.
    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        let keys = [&*held.path_or_key];
        let redis = &self.leased.redis;
        match redis
            .script(&self.delete_if_ours, &keys, &[&self.token])
            .await?
        {
            Value::Integer(1) => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        self.leased.lapsed(held).await
    }
}
