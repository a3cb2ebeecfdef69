//! Consul's lock with a sequencer, whose holder stops when its session may have ended.
//!
//! # Source
//!
//! Documentation of Consul, "Application leader election with sessions" and "Sequencer" (key, `LockIndex`, session);
//! hashicorp/consul issue 18271 for what has to be mended.
//!
//! # Steps
//!
//! Those of [`lock`](super::lock), and besides:
//!
//! 1. The lock is lost as soon as the time to live has passed since the last renewal was sent that was answered, be it
//!    that one is on its way.
//! 2. After step 3, a consistent read of the key answers its `LockIndex`: the token. A read that shows another session
//!    means that the lock is lost.
//!
//! # Guarantees
//!
//! - Those of [`lock`](super::lock), and a holder that runs stops before its session ends at the servers
//!   (`timely-loss`).
//! - The lock index rises with each owner (`fencing-monotonic`), as long as the key is not deleted or put without a
//!   session.
//!
//! # Hazards
//!
//! - A holder that stands still for longer than twice the time to live and the lock-delay believes on: a write has to
//!   bring the token along (scenario `consul/pause`).
//! - Not `fifo`.

use std::rc::Rc;

use async_trait::async_trait;

use super::lock::{acquire_key, lock_entry, monitor_lock};
use super::session::Session;
use super::{ConsulLock, OverConsul, seen};
use crate::clients::StopChannel;
use crate::clients::consul::{Consul, PutIf, QueryOptions};
use crate::clients::{Env, select};
use crate::{Build, Claim, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-lock-hardened",
    summary: "Consul's lock with its sequencer as a token, whose holder stops when its session may have ended.",
    source: "documentation of Consul, sessions and sequencers; hashicorp/consul issue 18271",
    claims: CLAIMS,
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        Box::new(HardenedLock {
            consul,
            env,
            lock,
            held: None,
        })
    })),
    ..super::lock::RECIPE
};

/// Those of Consul's own lock, and a token.
const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
    Claim::TimelyLoss,
];

/// How many errors of the monitor it puts up with: the time to live bounds them.
const MONITOR_RETRIES: u32 = u32::MAX;

struct HardenedLock {
    consul: Consul,
    env: Env,
    lock: ConsulLock,
    held: Option<(Session, StopChannel)>,
}

impl HardenedLock {
    /// Acquires the key; answers its lock index.
    async fn lock_index(&self, session: &Session) -> Result<u64, LockError> {
        let (consul, key) = (&self.consul, &self.lock.key);
        acquire_key(consul, &self.env, key, session.id).await?;
        let read = consul.get(key, QueryOptions::consistent()).await;
        // The key is held by then, whatever the read comes to.
        let (pair, _) = read.map_err(|_| LockError::TimedOut)?;
        let own = pair.filter(|pair| pair.session == Some(session.id));
        own.map_or(Err(LockError::SessionExpired), |pair| Ok(pair.lock_index))
    }
}

#[async_trait(?Send)]
impl Lock for HardenedLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.held = None;
        let lost = StopChannel::default();
        let session = Session::watched(&self.consul, &self.env, &self.lock, &lost).await?;
        let over = async {
            lost.closed().await;
            Err(LockError::SessionExpired)
        };
        let token = select(over, self.lock_index(&session)).await?;
        let (consul, env, key) = (
            self.consul.clone(),
            self.env.clone(),
            Rc::clone(&self.lock.key),
        );
        let (id, in_task) = (session.id, lost.clone());
        self.env.spawn(async move {
            monitor_lock(&consul, &env, &key, id, MONITOR_RETRIES).await;
            in_task.close();
        });
        self.held = Some((session, lost));
        Ok(Held::at(Rc::clone(&self.lock.key)).with_token(token))
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let (session, _) = self.held.take().ok_or(LockError::NotHeld)?;
        let entry = lock_entry(&self.lock.key, session.id);
        let released = self.consul.put(PutIf::Release, entry).await;
        match released.map_err(seen)? {
            true => Ok(()),
            false => Err(LockError::NotHeld),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        match &self.held {
            Some((_, lost)) => lost.closed().await,
            None => std::future::pending().await,
        }
        LockError::PlaceLost
    }
}
