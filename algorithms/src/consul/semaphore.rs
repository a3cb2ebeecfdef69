//! Consul's own semaphore: a key for each contender, and one that lists the holders.
//!
//! # Source
//!
//! hashicorp/consul, `api/semaphore.go`.
//!
//! # Steps
//!
//! 1. A session whose keys are deleted with it, which is renewed in the background.
//! 2. Put the key `prefix/session` with `?acquire=`: our contender entry.
//! 3. Read all keys of the prefix. Strike out of the holders in `prefix/.lock` those that have no contender entry.
//! 4. If there are as many holders as permits, read again when something below the prefix has changed (a blocking query
//!    of 15 s).
//! 5. Otherwise put `prefix/.lock` with our session among the holders, with `?cas=`. If that was not done, go to 3.
//! 6. While we hold a permit, a monitor reads the prefix by consistent blocking queries. An error, or a list without
//!    us, means that the permit is lost.
//! 7. Release: take our session out of `prefix/.lock` with `?cas=` until that is done, delete our contender entry, and
//!    destroy the session in the background.
//!
//! # Guarantees
//!
//! - No more holders than permits.
//!
//! # Hazards
//!
//! - Those of [`lock`](super::lock): a holder that is cut off hears nothing for minutes (scenario
//!   `consul/semaphore-partition`), and there is no token. The lock-delay protects the contender entry, which no
//!   other contender wants: a permit is free as soon as its holder's session has ended.
//! - The put of the list does not look whether the session lives: a contender that stood still, or whose put is late,
//!   is told that it has a permit that it never owned (scenarios `consul/semaphore-dead-contender`,
//!   `consul/semaphore-late-put`, `consul/semaphore-hung-server`).
//! - All waiters wake on each change below the prefix.

use std::rc::Rc;

use async_trait::async_trait;

use super::session::Session;
use super::{ConsulLock, OverConsul, WAIT_TIME, seen};
use crate::clients::consul::{Consul, KvPair, PutIf, QueryOptions, SessionBehavior, SessionId};
use crate::clients::{Env, RequestKind, StopChannel};
use crate::{Build, Held, Lock, LockError, LockKind, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-semaphore",
    summary: "Consul's own semaphore: a key for each contender, and one that lists the holders.",
    source: "hashicorp/consul, api/semaphore.go",
    ownership: OwnershipRule::of_held_keys(LockKind::Semaphore, |key, lock| {
        let holders = key(&lock_key(lock)).map(|pair| holders_in(&pair.value));
        let lives = |session: &Rc<str>| {
            let entry = key(&format!("{lock}/{session}"));
            entry.is_some_and(|entry| entry.session.is_some())
        };
        holders
            .unwrap_or_default()
            .into_iter()
            .filter(lives)
            .collect()
    }),
    requests: &[
        RequestKind::KvGet,
        RequestKind::KvList,
        RequestKind::KvCas,
        RequestKind::KvAcquire,
        RequestKind::KvDelete,
        RequestKind::SessionCreate,
        RequestKind::SessionRenew,
        RequestKind::SessionDestroy,
    ],
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        Box::new(Semaphore::new(consul, env, lock, true))
    })),
    ..super::lock::RECIPE
};

/// Says that a key is used by a semaphore.
const SEMAPHORE_FLAG_VALUE: u64 = 0xe0f6_9a2b_aa41_4de0;

fn lock_key(prefix: &str) -> String {
    format!("{prefix}/.lock")
}

/// The sessions that the value of the lock's key lists: `{"Limit":2,"Holders":{"00010001":true}}`.
fn holders_in(value: &str) -> Vec<Rc<str>> {
    let holders = value.split_once("\"Holders\":");
    let quoted = holders.map_or("", |(_, holders)| holders).split('"');
    quoted.skip(1).step_by(2).map(Rc::from).collect()
}

fn list_of(limit: u32, holders: &[Rc<str>]) -> Rc<str> {
    let holders: Vec<String> = holders
        .iter()
        .map(|holder| format!("\"{holder}\":true"))
        .collect();
    format!(
        "{{\"Limit\":{limit},\"Holders\":{{{}}}}}",
        holders.join(",")
    )
    .into()
}

pub(super) struct Semaphore {
    consul: Consul,
    env: Env,
    lock: ConsulLock,
    /// What all of its keys begin with.
    prefix: Rc<str>,
    prunes: bool,
    held: Option<(Session, StopChannel)>,
}

/// The key that lists the holders, and those of them that live.
struct Listed {
    modify_index: u64,
    holders: Vec<Rc<str>>,
}

/// Step 3.
fn listed(prefix: &str, pairs: &[KvPair], prunes: bool) -> Listed {
    let key = lock_key(prefix);
    let list = pairs.iter().find(|pair| *pair.key == *key);
    let mut holders = list.map(|list| holders_in(&list.value)).unwrap_or_default();
    if prunes {
        let sessions = pairs.iter().filter_map(|pair| pair.session);
        let alive: Vec<String> = sessions.map(|session| session.to_string()).collect();
        holders.retain(|holder| alive.iter().any(|session| **session == **holder));
    }
    Listed {
        modify_index: list.map_or(0, |list| list.modify_index),
        holders,
    }
}

impl Semaphore {
    pub(super) fn new(consul: Consul, env: Env, lock: ConsulLock, prunes: bool) -> Self {
        Self {
            prefix: format!("{}/", lock.key).into(),
            consul,
            env,
            lock,
            prunes,
            held: None,
        }
    }

    fn entry_key(&self, session: SessionId) -> Rc<str> {
        format!("{}{session}", self.prefix).into()
    }

    /// Puts the list of holders, if it is as it was read.
    async fn put_list(&self, modify_index: u64, holders: &[Rc<str>]) -> Result<bool, LockError> {
        let pair = KvPair {
            key: lock_key(&self.lock.key).into(),
            value: list_of(self.lock.permits, holders),
            flags: SEMAPHORE_FLAG_VALUE,
            modify_index,
            ..KvPair::default()
        };
        self.consul.put(PutIf::Cas, pair).await.map_err(seen)
    }

    /// Steps 2 to 5.
    async fn take_permit(&self, session: SessionId) -> Result<(), LockError> {
        let entry = KvPair {
            key: self.entry_key(session),
            flags: SEMAPHORE_FLAG_VALUE,
            session: Some(session),
            ..KvPair::default()
        };
        if !self.consul.put(PutIf::Acquire, entry).await.map_err(seen)? {
            return Err(LockError::Refused); // Step 2.
        }
        let mut options = QueryOptions {
            wait_time: Some(WAIT_TIME),
            ..QueryOptions::default()
        };
        loop {
            let (pairs, index) = self
                .consul
                .list(&self.prefix, options)
                .await
                .map_err(seen)?;
            let mut list = listed(&self.lock.key, &pairs, self.prunes);
            if list.holders.len() >= self.lock.permits as usize {
                options.wait_index = index; // Step 4.
                continue;
            }
            list.holders.push(session.to_string().into());
            if self.put_list(list.modify_index, &list.holders).await? {
                return Ok(()); // Step 5.
            }
        }
    }
}

/// Step 6.
async fn monitor(consul: &Consul, prefix: &Rc<str>, lock: &str, session: SessionId) {
    let (mut options, name) = (QueryOptions::consistent(), session.to_string());
    while let Ok((pairs, index)) = consul.list(prefix, options).await {
        let list = listed(lock, &pairs, true);
        if !list.holders.iter().any(|holder| **holder == *name) {
            return;
        }
        options.wait_index = index;
    }
}

#[async_trait(?Send)]
impl Lock for Semaphore {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.held = None;
        let (consul, env) = (&self.consul, &self.env);
        let behavior = SessionBehavior::Delete;
        let session = Session::renewed(consul, env, &self.lock, behavior).await?; // Step 1.
        self.take_permit(session.id).await?;
        let (lost, in_task) = (StopChannel::default(), StopChannel::clone);
        let (consul, prefix) = (consul.clone(), Rc::clone(&self.prefix));
        let (key, id, ended) = (Rc::clone(&self.lock.key), session.id, in_task(&lost));
        env.spawn(async move {
            monitor(&consul, &prefix, &key, id).await;
            ended.close();
        });
        let held = Held::at(self.entry_key(session.id));
        self.held = Some((session, lost));
        Ok(held)
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let (session, _) = self.held.take().ok_or(LockError::NotHeld)?;
        let (key, name) = (lock_key(&self.lock.key).into(), session.id.to_string());
        loop {
            let read = self.consul.get(&key, QueryOptions::default()).await;
            let (pair, _) = read.map_err(seen)?;
            let pair = pair.unwrap_or_default();
            let mut holders = holders_in(&pair.value);
            let before = holders.len();
            holders.retain(|holder| **holder != *name);
            if holders.len() == before || self.put_list(pair.modify_index, &holders).await? {
                break;
            }
        }
        let entry = self.entry_key(session.id);
        self.consul.delete(&entry).await.map_err(seen) // Step 7.
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.held {
            Some((_, lost)) => lost.closed().await,
            None => std::future::pending().await,
        }
        LockError::PlaceLost
    }
}
