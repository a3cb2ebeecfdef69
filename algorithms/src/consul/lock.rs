//! Consul's own lock: a key that a session holds, and a monitor of the key.
//!
//! # Source
//!
//! hashicorp/consul, `api/lock.go`, with `MonitorRetries` 0.
//!
//! # Steps
//!
//! 1. A session with a time to live, which `RenewPeriodic` renews each half of it in the background.
//! 2. Read the key. If a session holds it, read it again when it has changed (a blocking query of 15 s), until none
//!    does.
//! 3. Put the key with `?acquire=`. If that was done, we hold the lock.
//! 4. If it was not, read the key: if a session holds it, go to 2. Otherwise its lock-delay is not over: wait 5 s,
//!    and go to 2.
//! 5. While we hold it, a monitor reads the key by consistent blocking queries. An error, or another session, means
//!    that the lock is lost.
//! 6. An error before step 5: destroy the session, and return the error.
//! 7. Unlock: put the key with `?release=`, and destroy the session in the background.
//!
//! # Guarantees
//!
//! - Of all sessions that live, the one that holds the key holds the lock (`exclusive-ownership`).
//! - After the end of a session, the key cannot be acquired for its lock-delay: a holder that is told late, or whose
//!   writes are late, has that long.
//!
//! # Hazards
//!
//! - What the renewal comes to is told to no other task, and the monitor's query waits up to five minutes and a
//!   sixteenth: a holder that is cut off believes for minutes after another has the lock (scenario
//!   `consul/partition`).
//! - A holder that stands still for longer than twice the time to live and the lock-delay believes on, and there is no
//!   token (scenario `consul/pause`).
//! - All waiters wake on each release, and any of them gets the lock: not `fifo` (scenario `consul/herd`).
//! - One error of the monitor gives the lock up (scenario `consul/leader-crash`).

use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use super::session::Session;
use super::{ConsulLock, OverConsul, REQUESTS, RETRY_TIME, SESSION_OF_KEY, WAIT_TIME, seen};
use crate::clients::consul::{Consul, KvPair, PutIf, QueryOptions, SessionBehavior, SessionId};
use crate::clients::{Env, StopChannel};
use crate::{Build, Claim, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-lock",
    summary: "Consul's own lock: a key that a session holds, and a monitor that reads it.",
    source: "hashicorp/consul, api/lock.go",
    flaw: None,
    claims: CLAIMS,
    ownership: SESSION_OF_KEY,
    requests: REQUESTS,
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        Box::new(ApiLock::new(consul, env, lock, 0))
    })),
};

/// What a lock of a session promises.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
    Claim::TimelyLoss,
];

/// Says that the key is used by a lock.
pub(super) const LOCK_FLAG_VALUE: u64 = 0x2ddc_cbc0_58a5_0c18;
/// How long a monitor waits after an error that it may put up with.
const MONITOR_RETRY_TIME: Duration = Duration::from_secs(2);

/// The lock of a client.
pub(super) struct ApiLock {
    consul: Consul,
    env: Env,
    lock: ConsulLock,
    monitor_retries: u32,
    held: Option<(Session, StopChannel)>,
}

impl ApiLock {
    pub(super) fn new(consul: Consul, env: Env, lock: ConsulLock, monitor_retries: u32) -> Self {
        Self {
            consul,
            env,
            lock,
            monitor_retries,
            held: None,
        }
    }
}

/// The pair that a lock writes.
pub(super) fn lock_entry(key: &Rc<str>, session: SessionId) -> KvPair {
    KvPair {
        key: Rc::clone(key),
        flags: LOCK_FLAG_VALUE,
        session: Some(session),
        ..KvPair::default()
    }
}

/// Steps 2 to 4.
pub(super) async fn acquire_key(
    consul: &Consul,
    env: &Env,
    key: &Rc<str>,
    session: SessionId,
) -> Result<(), LockError> {
    let mut options = QueryOptions {
        wait_time: Some(WAIT_TIME),
        ..QueryOptions::default()
    };
    loop {
        let (pair, index) = consul.get(key, options).await.map_err(seen)?; // Step 2.
        if let Some(pair) = pair {
            if pair.flags != LOCK_FLAG_VALUE {
                return Err(LockError::Refused);
            }
            if pair.session.is_some_and(|holder| holder != session) {
                options.wait_index = index;
                continue;
            }
        }
        let entry = lock_entry(key, session);
        if consul.put(PutIf::Acquire, entry).await.map_err(seen)? {
            return Ok(()); // Step 3.
        }
        options.wait_index = 0;
        let (pair, index) = consul.get(key, options).await.map_err(seen)?; // Step 4.
        match pair.is_some_and(|pair| pair.session.is_some()) {
            true => options.wait_index = index,
            false => env.sleep(RETRY_TIME).await,
        }
    }
}

/// Step 5.
pub(super) async fn monitor_lock(
    consul: &Consul,
    env: &Env,
    key: &Rc<str>,
    session: SessionId,
    monitor_retries: u32,
) {
    let (mut options, mut retries) = (QueryOptions::consistent(), monitor_retries);
    loop {
        match consul.get(key, options).await {
            Ok((Some(pair), index)) if pair.session == Some(session) => {
                (options.wait_index, retries) = (index, monitor_retries);
            }
            Ok(_) => return,
            Err(_) if retries > 0 => {
                env.sleep(MONITOR_RETRY_TIME).await;
                (options.wait_index, retries) = (0, retries - 1);
            }
            Err(_) => return,
        }
    }
}

#[async_trait(?Send)]
impl Lock for ApiLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.held = None;
        let (consul, env, key) = (&self.consul, &self.env, &self.lock.key);
        let behavior = SessionBehavior::Release;
        let session = Session::renewed(consul, env, &self.lock, behavior).await?; // Step 1.
        acquire_key(consul, env, key, session.id).await?;
        let leader = StopChannel::default();
        let (id, retries, lost) = (session.id, self.monitor_retries, leader.clone());
        let (consul, env, key) = (consul.clone(), env.clone(), Rc::clone(key));
        self.env.spawn(async move {
            monitor_lock(&consul, &env, &key, id, retries).await;
            lost.close();
        });
        self.held = Some((session, leader));
        Ok(Held::at(Rc::clone(&self.lock.key)))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let (session, _) = self.held.take().ok_or(LockError::NotHeld)?;
        let entry = lock_entry(&self.lock.key, session.id);
        let released = self.consul.put(PutIf::Release, entry).await; // Step 7.
        released.map(drop).map_err(seen)
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.held {
            Some((_, leader)) => leader.closed().await,
            None => std::future::pending().await,
        }
        LockError::PlaceLost
    }
}
