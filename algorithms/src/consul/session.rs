//! The session of a hold: renewed in the background, and destroyed when it is not needed.

use std::time::Duration;

use super::{ConsulLock, seen};
use crate::LockError;
use crate::clients::consul::{
    Consul, ConsulError, SessionBehavior, SessionEntry, SessionId, renew_periodic,
};
use crate::clients::{Env, StopChannel, timeout};

/// How long the renewal waits after one that failed.
const RETRY: Duration = Duration::from_secs(1);

/// A session. To drop it is to destroy it in the background.
pub(super) struct Session {
    pub(super) id: SessionId,
    done: StopChannel,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.done.close();
    }
}

async fn create(
    consul: &Consul,
    lock: &ConsulLock,
    behavior: SessionBehavior,
) -> Result<Session, LockError> {
    let entry = SessionEntry {
        ttl: lock.ttl,
        lock_delay: lock.lock_delay,
        behavior,
    };
    let id = consul.create_session(entry).await.map_err(seen)?;
    let done = StopChannel::default();
    Ok(Session { id, done })
}

impl Session {
    /// A session that `RenewPeriodic` keeps: its end tells no other task.
    pub(super) async fn renewed(
        consul: &Consul,
        env: &Env,
        lock: &ConsulLock,
        behavior: SessionBehavior,
    ) -> Result<Self, LockError> {
        let session = create(consul, lock, behavior).await?;
        let (id, done) = (session.id, session.done.clone());
        let (consul, in_task, ttl) = (consul.clone(), env.clone(), lock.ttl);
        env.spawn(async move {
            renew_periodic(&consul, &in_task, id, ttl, &done).await;
        });
        Ok(session)
    }

    /// A session that is not renewed.
    pub(super) async fn unrenewed(
        consul: &Consul,
        env: &Env,
        lock: &ConsulLock,
        behavior: SessionBehavior,
    ) -> Result<Self, LockError> {
        let session = create(consul, lock, behavior).await?;
        let (id, done, consul) = (session.id, session.done.clone(), consul.clone());
        env.spawn(async move {
            done.closed().await;
            // What cannot be destroyed ends by itself.
            let _ = consul.destroy_session(id).await;
        });
        Ok(session)
    }

    /// A session whose channel is closed as soon as it may have ended: its time to live has passed since the last
    /// renewal that was answered was sent.
    pub(super) async fn watched(
        consul: &Consul,
        env: &Env,
        lock: &ConsulLock,
        lost: &StopChannel,
    ) -> Result<Self, LockError> {
        let sent = env.monotonic();
        let session = create(consul, lock, SessionBehavior::Release).await?;
        let (id, done) = (session.id, session.done.clone());
        let (consul, in_task, ttl, lost) = (consul.clone(), env.clone(), lock.ttl, lost.clone());
        env.spawn(async move {
            renew_in_time(&consul, &in_task, (id, sent + ttl), ttl, &done).await;
            lost.close();
            // What cannot be destroyed ends by itself.
            let _ = consul.destroy_session(id).await;
        });
        Ok(session)
    }
}

/// Renews a session until it is done with, or may have ended.
async fn renew_in_time(
    consul: &Consul,
    env: &Env,
    (id, mut lives_until): (SessionId, Duration),
    ttl: Duration,
    done: &StopChannel,
) {
    let mut wait = ttl / 3;
    loop {
        let left = lives_until.saturating_sub(env.monotonic());
        if left.is_zero() || timeout(env, wait.min(left), done.closed()).await.is_some() {
            return;
        }
        let sent = env.monotonic();
        let left = lives_until.saturating_sub(sent);
        let renewed: Option<Result<Option<Duration>, ConsulError>> =
            timeout(env, left, consul.renew_session(id)).await;
        match renewed {
            Some(Ok(Some(_))) => (lives_until, wait) = (sent + ttl, ttl / 3),
            Some(Err(_)) => wait = RETRY,
            Some(Ok(None)) | None => return,
        }
    }
}
