//! A lock of plain reads and writes of a key, without a session.
//!
//! # Source
//!
//! A frequent mistake: documentation of Consul's KV store, "sessions are advisory", and a put without `?acquire=` or
//! `?cas=` pays no heed to anything.
//!
//! # Steps
//!
//! 1. Read the key. If it has a value, read it again when it has changed, until it has none.
//! 2. Put the key with a name of our own: we hold the lock.
//! 3. Release: put the key without a value.
//!
//! # Guarantees
//!
//! - None, if two contenders come together.
//!
//! # Hazards
//!
//! - Two contenders read that the lock is free, and both put their names (scenario `consul/mutex`).
//! - The name of a dead holder stays for ever (scenario `consul/holder-crash`).

use std::rc::Rc;

use async_trait::async_trait;

use super::{ConsulLock, OverConsul, WAIT_TIME, seen};
use crate::clients::RequestKind;
use crate::clients::consul::{Consul, KvPair, PutIf, QueryOptions};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Held, Lock, LockError, LockKind, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-kv-lock",
    summary: "A lock of plain reads and writes of a key, without a session.",
    source: "a frequent mistake; documentation of Consul's KV store",
    flaw: Some("a plain put overwrites the name of another holder, and no session frees the lock"),
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::of_held_keys(LockKind::Mutex, |key, lock| {
        let pair = key(lock).filter(|pair| !pair.value.is_empty());
        pair.into_iter().map(|pair| pair.value).collect()
    }),
    requests: &[RequestKind::KvGet, RequestKind::KvPut],
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        let name = env.guid().into();
        Box::new(KvLock { consul, lock, name })
    })),
    ..super::lock::RECIPE
};

struct KvLock {
    consul: Consul,
    lock: ConsulLock,
    name: Rc<str>,
}

impl KvLock {
    async fn put(&self, value: Rc<str>) -> Result<(), LockError> {
        let pair = KvPair {
            key: Rc::clone(&self.lock.key),
            value,
            ..KvPair::default()
        };
        let put = self.consul.put(PutIf::Always, pair).await;
        put.map(drop).map_err(seen)
    }
}

#[async_trait(?Send)]
impl Lock for KvLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let mut options = QueryOptions {
            wait_time: Some(WAIT_TIME),
            ..QueryOptions::default()
        };
        loop {
            let (pair, index) = self
                .consul
                .get(&self.lock.key, options)
                .await
                .map_err(seen)?;
            if pair.is_none_or(|pair| pair.value.is_empty()) {
                break;
            }
            options.wait_index = index; // Step 1.
        }
        self.put(Rc::clone(&self.name)).await?; // Step 2.
        Ok(Held::at(Rc::clone(&self.lock.key)))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        self.put("".into()).await // Step 3.
    }

    async fn lost(&self, _held: &Held) -> LockError {
        std::future::pending().await
    }
}
